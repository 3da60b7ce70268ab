import { type LmdbDatabase, transact } from './database.ts';

/** `now`: somebody waits for it. `soon`: it may wait for others to share a transaction with. */
export type Haste = 'now' | 'soon';

/** One write, made inside a transaction. */
export interface BatchedWrite<Result> {
  readonly haste: Haste;
  readonly work: () => Result;
  /**
   * Whether it is tried once more, without the others, when the transaction could not be committed: a small write does
   * not fail because a large one beside it found the disk full.
   */
  readonly isSmall: boolean;
}

interface Waiting {
  readonly work: () => void;
  readonly isSmall: boolean;
  settle(): void;
  reject(reason: unknown): void;
}

/** How long a write waits for others at most. What a killed process had not written by then is lost. Milliseconds. */
const GATHER_MS = 20;

/** Writes in one transaction: other processes wait for its end, so it takes a few milliseconds at most. */
const MAX_WRITES = 256;

/**
 * Gathers writes into transactions: the cost of one is that of waking another thread, and of the disk, whatever it
 * holds. Writes are made in the order in which they were asked for.
 */
export class WriteBatches {
  private readonly database: LmdbDatabase;
  private readonly afterWrites: () => void;
  private waiting: Waiting[] = [];
  /** Somebody waits for one of them. */
  private isUrgent = false;
  /** One transaction at a time is asked for: until it begins it takes along whatever comes. */
  private isWriting = false;
  private timer: NodeJS.Timeout | undefined;
  private gatherMs = GATHER_MS;

  /** @param afterWrites is called at the end of each transaction, inside it. */
  constructor(database: LmdbDatabase, afterWrites: () => void) {
    this.database = database;
    this.afterWrites = afterWrites;
  }

  /** Resolves when the write is committed; rejects when it cannot be, or with what `work` throws. */
  add<Result>({ haste, work, isSmall }: BatchedWrite<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      let settle = (): void => undefined;
      this.waiting.push({
        work: () => {
          const result = work();
          settle = () => resolve(result);
        },
        isSmall,
        settle: () => settle(),
        reject,
      });
      if (haste === 'now') this.isUrgent = true;
      this.schedule();
    });
  }

  /** From now on nothing waits for others: what is waiting is written, and what comes after it at once. */
  hurry(): void {
    this.gatherMs = 0;
    this.isUrgent = true;
    this.schedule();
  }

  private schedule(): void {
    if (this.isWriting || this.waiting.length === 0) return;
    if (this.isUrgent || this.gatherMs === 0 || this.waiting.length >= MAX_WRITES) void this.write();
    else this.timer ??= setTimeout(() => void this.write(), this.gatherMs);
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isWriting = true;
    let taken: Waiting[] | undefined;
    try {
      await transact(this.database, () => {
        taken = this.take();
        const made = taken.filter(tryWork);
        this.afterWrites();
        taken = made;
      });
      for (const each of taken ?? []) each.settle();
    } catch (reason) {
      this.failed(taken ?? this.take(), reason);
    }
    this.isWriting = false;
    this.schedule();
  }

  private take(): Waiting[] {
    const taken = this.waiting.splice(0, MAX_WRITES);
    this.isUrgent &&= this.waiting.length > 0;
    return taken;
  }

  private failed(taken: readonly Waiting[], reason: unknown): void {
    const again: Waiting[] = [];
    for (const each of taken) {
      // Alone it would fail again.
      if (each.isSmall && taken.length > 1) again.push({ ...each, isSmall: false });
      else each.reject(reason);
    }
    this.waiting.unshift(...again);
    this.isUrgent ||= again.length > 0;
  }
}

/** What throws has written nothing, and the others go on. */
function tryWork(each: Waiting): boolean {
  try {
    each.work();
    return true;
  } catch (error) {
    each.reject(error);
    return false;
  }
}
