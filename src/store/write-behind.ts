import type { OriginRecord } from '../lifecycle/index.ts';

export interface HeldLease {
  /** Fences what is written under it, if the store's leases have tokens. */
  readonly token?: string | undefined;
  /** Writes a record under it and gives it back in one step, where the store can. Rejects as the store does. */
  readonly setAndRelease?: ((value: string, ttlMs: number) => Promise<void>) | undefined;
  /** Ends in time, and never rejects. */
  release(): Promise<void>;
}

/** What is to become of an origin's entry. */
export type Write =
  | {
      readonly kind: 'set';
      readonly record: OriginRecord;
      /** The lease under which it was learnt. */
      readonly lease?: HeldLease | undefined;
    }
  /** Whatever was recorded by `at`, in epoch ms, is to be forgotten. */
  | { readonly kind: 'delete'; readonly at: number };

export interface WriteBehindOptions {
  /** Makes one write, for the first time or again; tells whether it was made. */
  readonly send: (origin: string, write: Write, isFirst: boolean) => Promise<boolean>;
  /** How many may be sent now. */
  readonly allowance: () => number;
  readonly onDropped: (origin: string, write: Write) => void;
}

interface Queued {
  readonly write: Write;
  /** Tells those who wait that it was tried. */
  readonly settle: () => void;
  /** How many writes had been made when this one last failed. */
  failedAfter: number;
  /** How often it failed while others were made. */
  refusals: number;
}

const MAX_QUEUED = 1_000;
const MAX_QUEUED_OCTETS = 16 * 1_048_576;
const MAX_AT_ONCE = 32;
/** A write that keeps failing while others are made is not held up by the store's trouble: it is the trouble. */
const MAX_REFUSALS = 3;

/**
 * Writes that nobody waits for. Of one origin one is under way at a time, and only the latest counts. What fails is
 * kept, within bounds, and sent again on the next occasion: there is no timer, {@link nudge} comes with questions.
 */
export class WriteBehind {
  private readonly options: WriteBehindOptions;
  /** In the order of the next try. */
  private readonly queue = new Map<string, Queued>();
  private readonly underWay = new Map<string, Queued>();
  private queuedOctets = 0;
  private made = 0;
  private flushed: (() => void) | undefined;

  constructor(options: WriteBehindOptions) {
    this.options = options;
  }

  /** What is still to be written about `origin`. */
  pending(origin: string): Write | undefined {
    return (this.queue.get(origin) ?? this.underWay.get(origin))?.write;
  }

  /** Resolves when the write, or a later one of the same origin, was tried or has to wait for better times. */
  put(origin: string, write: Write): Promise<void> {
    return new Promise((settle) => {
      const replaced = this.queue.get(origin);
      if (replaced !== undefined) this.dequeue(origin, replaced);
      this.enqueue(origin, {
        write,
        settle: () => {
          settle();
          replaced?.settle();
        },
        failedAfter: Infinity,
        refusals: 0,
      });
      this.nudge();
      if (this.underWay.size === 0) this.settleQueued();
    });
  }

  /** Sends what is waiting, as far as the store is asked at all. */
  nudge(): void {
    let room = this.flushed === undefined ? this.options.allowance() : Infinity;
    for (const [origin, queued] of this.queue) {
      if (room <= 0 || this.underWay.size >= MAX_AT_ONCE) return;
      if (this.underWay.has(origin)) continue;
      room--;
      void this.send(origin, queued);
    }
  }

  /** Tries whatever is waiting a last time; resolves when all was tried. What fails now is dropped. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.flushed = resolve;
      this.nudge();
      this.endFlush();
    });
  }

  /** Drops whatever has not been written. */
  abandon(): void {
    for (const [origin, queued] of [...this.underWay, ...this.queue]) this.drop(origin, queued);
    this.underWay.clear();
    this.queue.clear();
    this.queuedOctets = 0;
    this.endFlush();
  }

  private async send(origin: string, queued: Queued): Promise<void> {
    this.dequeue(origin, queued);
    this.underWay.set(origin, queued);
    const isMade = await this.options.send(origin, queued.write, queued.failedAfter === Infinity);
    // It may have been given up meanwhile.
    if (this.underWay.get(origin) !== queued) return;
    this.underWay.delete(origin);
    if (isMade) {
      this.made++;
      queued.settle();
    } else this.failed(origin, queued);
    if (isMade || this.flushed !== undefined) this.nudge();
    this.endFlush();
  }

  private failed(origin: string, queued: Queued): void {
    queued.settle();
    this.settleQueued();
    // A later one of the same origin takes its place.
    if (this.queue.has(origin)) return;
    if (this.made > queued.failedAfter) queued.refusals++;
    queued.failedAfter = this.made;
    if (this.flushed !== undefined || queued.refusals >= MAX_REFUSALS) this.drop(origin, queued);
    else this.enqueue(origin, queued);
  }

  private enqueue(origin: string, queued: Queued): void {
    this.queue.set(origin, queued);
    this.queuedOctets += octetsOf(queued.write);
    const isFull = (): boolean => this.queue.size > MAX_QUEUED || this.queuedOctets > MAX_QUEUED_OCTETS;
    // One alone may be as large as it likes.
    while (this.queue.size > 1 && isFull()) this.dropOldest();
  }

  private dequeue(origin: string, queued: Queued): void {
    this.queue.delete(origin);
    this.queuedOctets -= octetsOf(queued.write);
  }

  /** Records first: a record that is missing costs a request, one that was to be forgotten may be wrong. */
  private dropOldest(): void {
    const entries = [...this.queue];
    const oldest = entries.find(([, { write }]) => write.kind === 'set') ?? entries[0];
    if (oldest === undefined) return;
    this.dequeue(...oldest);
    this.drop(...oldest);
  }

  private drop(origin: string, queued: Queued): void {
    queued.settle();
    this.options.onDropped(origin, queued.write);
  }

  private settleQueued(): void {
    for (const queued of this.queue.values()) queued.settle();
  }

  private endFlush(): void {
    if (this.queue.size === 0 && this.underWay.size === 0) this.flushed?.();
  }
}

function octetsOf(write: Write): number {
  return write.kind === 'set' ? (write.record.copy?.body.length ?? 0) : 0;
}
