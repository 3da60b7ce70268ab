import type { OriginRecord } from '../lifecycle/index.ts';
import type { HeldLease } from './leases.ts';

/** A pending write for an origin. */
export type Write =
  | {
      readonly kind: 'set';
      readonly record: OriginRecord;
      /** The lease of the fetch that made the record. */
      readonly lease?: HeldLease | undefined;
    }
  /** Delete a record made at or before `at` (epoch milliseconds). */
  | { readonly kind: 'delete'; readonly at: number };

export interface WriteBehindOptions {
  /** Sends a write, or retries it (`isFirst` is false). Resolves with whether it succeeded. */
  readonly send: (origin: string, write: Write, isFirst: boolean) => Promise<boolean>;
  /** The number of writes that may be sent now. */
  readonly allowance: () => number;
  readonly onDropped: (origin: string, write: Write) => void;
}

interface Queued {
  readonly write: Write;
  /** Resolves the waiting callers. */
  readonly settle: () => void;
  /** The count of sent writes at the last failure. `Infinity`: not tried yet. */
  sentAtLastFailure: number;
  /** Failures since each of which another write succeeded. */
  failuresWhileOthersSucceeded: number;
}

const MAX_QUEUED = 1_000;
const MAX_QUEUED_BYTES = 16 * 1_048_576;
const MAX_IN_FLIGHT = 32;
/** A write that keeps failing while others succeed is itself the problem. */
const MAX_FAILURES_WHILE_OTHERS_SUCCEED = 3;

/**
 * A queue of writes in the background. At most one write per origin is in flight, and a later one replaces a queued
 * one. Failed writes are kept, within bounds, and sent again later. There is no timer: questions call {@link drain}.
 */
export class WriteBehind {
  readonly #options: WriteBehindOptions;
  /** In the order of their next try. */
  readonly #queue = new Map<string, Queued>();
  readonly #inFlight = new Map<string, Queued>();
  #queuedBytes = 0;
  #sentCount = 0;
  #flushed: (() => void) | undefined;

  constructor(options: WriteBehindOptions) {
    this.#options = options;
  }

  /** The write of `origin` that is queued or in flight. */
  pending(origin: string): Write | undefined {
    return (this.#queue.get(origin) ?? this.#inFlight.get(origin))?.write;
  }

  /** Resolves when the write, or a later one of the origin, was tried, or is queued because the store is suspended. */
  enqueue(origin: string, write: Write): Promise<void> {
    return new Promise((settle) => {
      const replaced = this.#queue.get(origin);
      if (replaced !== undefined) this.#removeFromQueue(origin, replaced);
      this.#addToQueue(origin, {
        write,
        settle: () => {
          settle();
          replaced?.settle();
        },
        sentAtLastFailure: Infinity,
        failuresWhileOthersSucceeded: 0,
      });
      this.drain();
      if (this.#inFlight.size === 0) this.#settleQueued();
    });
  }

  /** Sends as many queued writes as the breaker permits. */
  drain(): void {
    let allowed = this.#flushed === undefined ? this.#options.allowance() : Infinity;
    for (const [origin, queued] of this.#queue) {
      if (allowed <= 0 || this.#inFlight.size >= MAX_IN_FLIGHT) return;
      if (this.#inFlight.has(origin)) continue;
      allowed--;
      void this.#send(origin, queued);
    }
  }

  /** Tries all queued writes once more. Resolves when all were tried; failed ones are dropped. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#flushed = resolve;
      this.drain();
      this.#endFlush();
    });
  }

  /** Drops all queued writes. */
  abandon(): void {
    for (const [origin, queued] of [...this.#inFlight, ...this.#queue]) this.#drop(origin, queued);
    this.#inFlight.clear();
    this.#queue.clear();
    this.#queuedBytes = 0;
    this.#endFlush();
  }

  async #send(origin: string, queued: Queued): Promise<void> {
    this.#removeFromQueue(origin, queued);
    this.#inFlight.set(origin, queued);
    const isSent = await this.#options.send(origin, queued.write, queued.sentAtLastFailure === Infinity);
    // `abandon` may have dropped the write.
    if (this.#inFlight.get(origin) !== queued) return;
    this.#inFlight.delete(origin);
    if (isSent) {
      this.#sentCount++;
      queued.settle();
    } else this.#failed(origin, queued);
    if (isSent || this.#flushed !== undefined) this.drain();
    this.#endFlush();
  }

  #failed(origin: string, queued: Queued): void {
    queued.settle();
    this.#settleQueued();
    // A later write of the origin replaces this one.
    if (this.#queue.has(origin)) return;
    if (this.#sentCount > queued.sentAtLastFailure) queued.failuresWhileOthersSucceeded++;
    queued.sentAtLastFailure = this.#sentCount;
    if (
      this.#flushed !== undefined ||
      queued.failuresWhileOthersSucceeded >= MAX_FAILURES_WHILE_OTHERS_SUCCEED
    )
      this.#drop(origin, queued);
    else this.#addToQueue(origin, queued);
  }

  #addToQueue(origin: string, queued: Queued): void {
    this.#queue.set(origin, queued);
    this.#queuedBytes += bytesOf(queued.write);
    const isFull = (): boolean => this.#queue.size > MAX_QUEUED || this.#queuedBytes > MAX_QUEUED_BYTES;
    // A single write may exceed the bound.
    while (this.#queue.size > 1 && isFull()) this.#dropOldest();
  }

  #removeFromQueue(origin: string, queued: Queued): void {
    this.#queue.delete(origin);
    this.#queuedBytes -= bytesOf(queued.write);
  }

  /**
   * Drops records before deletions: a missing record costs one request, a record that was not deleted may be wrong.
   */
  #dropOldest(): void {
    const entries = [...this.#queue];
    const oldest = entries.find(([, { write }]) => write.kind === 'set') ?? entries[0];
    if (oldest === undefined) return;
    this.#removeFromQueue(...oldest);
    this.#drop(...oldest);
  }

  #drop(origin: string, queued: Queued): void {
    queued.settle();
    this.#options.onDropped(origin, queued.write);
  }

  #settleQueued(): void {
    for (const queued of this.#queue.values()) queued.settle();
  }

  #endFlush(): void {
    if (this.#queue.size === 0 && this.#inFlight.size === 0) this.#flushed?.();
  }
}

function bytesOf(write: Write): number {
  return write.kind === 'set' ? (write.record.copy?.body.length ?? 0) : 0;
}
