/**
 * `now`: a caller waits for the commit. `ahead`: a caller waits for the write, but not for the commit. `soon`: the write
 * may wait for others, to share their transaction.
 */
export type Urgency = 'now' | 'ahead' | 'soon';

/** One write, which runs inside a transaction. */
export interface BatchedWrite<Result> {
  readonly urgency: Urgency;
  readonly work: () => Result;
  /**
   * Whether the write is retried alone when its transaction could not be committed. So a small write does not fail
   * because a large one in the same transaction found the disk full.
   */
  readonly isSmall: boolean;
}

/** A write met an error after which its transaction cannot be committed. */
export class BrokenTransaction extends Error {
  constructor(cause: unknown) {
    super('The transaction cannot be committed', { cause });
  }
}

interface Waiting {
  readonly work: () => void;
  readonly isSmall: boolean;
  /** Whether its caller continues before the commit. */
  readonly isAhead: boolean;
  settle(): void;
  reject(reason: unknown): void;
}

/** The longest time a write waits for others, in ms. A killed process loses the waiting writes. */
const GATHER_MS = 20;

/** The most writes in one transaction. A transaction must take a few ms only, because other processes wait for its end. */
const MAX_WRITES = 256;

/**
 * Groups writes into transactions. Each transaction has a fixed cost, such as a disk sync. Writes
 * run in the order in which they were added.
 */
export class WriteBatches {
  readonly #transact: (work: () => void) => Promise<void>;
  readonly #afterWrites: () => void;
  #waiting: Waiting[] = [];
  /** Small writes whose shared transaction failed. Each gets a transaction of its own. */
  readonly #retries: Waiting[] = [];
  /** Whether a caller waits for one of the waiting writes. */
  #isUrgent = false;
  /** The transaction that is requested. Only one is requested at a time: until it begins, further writes join it. */
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #gatherMs = GATHER_MS;

  /**
   * @param transact Runs `work` in one transaction. Rejects when it cannot be committed.
   * @param afterWrites Called at the end of each transaction, inside it.
   */
  constructor(transact: (work: () => void) => Promise<void>, afterWrites: () => void) {
    this.#transact = transact;
    this.#afterWrites = afterWrites;
  }

  /**
   * Resolves when the write is committed, or, `ahead`, when it is made. Rejects with the error that `work` throws, or when
   * the commit fails, except for `ahead`, which has resolved already.
   */
  add<Result>({ urgency, work, isSmall }: BatchedWrite<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      let settle = (): void => undefined;
      this.#waiting.push({
        work: () => {
          const result = work();
          settle = () => resolve(result);
        },
        isSmall,
        isAhead: urgency === 'ahead',
        settle: () => settle(),
        reject,
      });
      if (urgency !== 'soon') this.#isUrgent = true;
      this.#schedule();
    });
  }

  /** Commits waiting writes without further delay. From now on no write waits for others. */
  writeNow(): void {
    this.#gatherMs = 0;
    this.#isUrgent = true;
    this.#schedule();
  }

  /** Resolves when no transaction is under way. */
  async ended(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  #schedule(): void {
    if (this.#writing !== undefined) return;
    if (this.#retries.length > 0) return this.#begin();
    if (this.#waiting.length === 0) return;
    if (this.#isUrgent || this.#gatherMs === 0 || this.#waiting.length >= MAX_WRITES) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#gatherMs);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#write();
  }

  async #write(): Promise<void> {
    let taken: Waiting[] | undefined;
    try {
      await this.#transact(() => {
        taken = this.#take();
        const made = taken.filter(tryWork);
        this.#afterWrites();
        for (const each of made) if (each.isAhead) each.settle();
        taken = made.filter(({ isAhead }) => !isAhead);
      });
      for (const each of taken ?? []) each.settle();
    } catch (reason) {
      // A transaction that did not begin has waited for another program, and a write alone would wait as long.
      if (taken === undefined) for (const each of this.#take()) each.reject(reason);
      else this.#failed(taken, reason);
    }
    this.#writing = undefined;
    this.#schedule();
  }

  #take(): Waiting[] {
    const retry = this.#retries.shift();
    if (retry !== undefined) return [retry];
    const taken = this.#waiting.splice(0, MAX_WRITES);
    this.#isUrgent &&= this.#waiting.length > 0;
    return taken;
  }

  #failed(taken: readonly Waiting[], reason: unknown): void {
    for (const each of taken) {
      // A write that was alone in its transaction would fail again.
      if (each.isSmall && taken.length > 1) this.#retries.push(each);
      else each.reject(reason);
    }
  }
}

/**
 * Runs one write. If it throws, it has written nothing, and the other writes of the transaction continue, unless the
 * transaction is broken.
 */
function tryWork(each: Waiting): boolean {
  try {
    each.work();
    return true;
  } catch (error) {
    if (error instanceof BrokenTransaction) throw error;
    each.reject(error);
    return false;
  }
}
