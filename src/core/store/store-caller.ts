import { type Clock, invokeListener, yieldToEventLoop } from '../base/index.ts';
import { storeChannels, type StoreEvent, type StoreOperation } from './store.ts';

/** The value of a call, or that it failed. An event has the reason. */
export type CallResult<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false };

/** The settings of a client that concern calls of its store. */
export interface StoreCallSettings {
  /** Milliseconds of real time for a call that a question waits for. */
  readonly storeDeadlineMs: number;
  readonly onStoreEvent: (event: StoreEvent) => void;
  /** The client, for messages about its store. */
  readonly client: object;
  readonly clock: Clock;
}

export interface StoreCall<Value> {
  readonly operation: StoreOperation;
  readonly origin: string;
  readonly send: () => Value | PromiseLike<Value>;
  /** Describes the expected value when this one is invalid: a store may return anything. */
  readonly expectedValue?: (value: Value) => string | undefined;
  /** No question waits for the call, or it is a request that is paced anyway: it has ten times the deadline. */
  readonly patient?: boolean;
  /** Make the call even while the store is suspended. */
  readonly regardless?: boolean;
}

interface Failures {
  inARow: number;
  /** Epoch milliseconds. */
  lastAt: number;
}

/** Longer than any DNS name: nothing is stored for such an origin. */
const MAX_ORIGIN_LENGTH = 300;
const MAX_FAILURES = 3;
const SUSPENDED_MS = 3_000;
const PATIENT_FACTOR = 10;
const MAX_PATIENT_MS = 10_000;

const FAILED = { ok: false } as const;
const TIMED_OUT: unique symbol = Symbol('timed out');

/** Calls a store. Calls end in time, whatever the store does, and never throw. */
export class StoreCaller {
  readonly #settings: StoreCallSettings;
  /** The deadline of calls that no question waits for. A busy process would exceed a short one without a fault of the store. */
  readonly patientMs: number;
  /** A read-only or full store serves reads all the same. */
  readonly #reads: Failures = { inARow: 0, lastAt: 0 };
  readonly #writes: Failures = { inARow: 0, lastAt: 0 };

  constructor(settings: StoreCallSettings) {
    this.#settings = settings;
    const { storeDeadlineMs: ms } = settings;
    this.patientMs = Math.max(ms, Math.min(ms * PATIENT_FACTOR, MAX_PATIENT_MS));
  }

  async call<Value>(call: StoreCall<Value>): Promise<CallResult<Value>> {
    const { operation, origin, expectedValue, patient = false } = call;
    const failures = operation === 'get' ? this.#reads : this.#writes;
    if (origin.length > MAX_ORIGIN_LENGTH) return FAILED;
    if (this.#isSuspended(failures) && call.regardless !== true) return FAILED;
    const startedAt = performance.now();
    const about = () => ({ operation, origin, waitedMs: Math.round(performance.now() - startedAt) });
    try {
      const value = await inTime(call.send(), patient ? this.patientMs : this.#settings.storeDeadlineMs);
      if (value === TIMED_OUT) return this.#failed(failures, { type: 'timeout', ...about() });
      const expected = expectedValue?.(value);
      if (expected !== undefined) throw new TypeError(`Expected \`${operation}\` to return ${expected}`);
      this.#succeeded(failures);
      return { ok: true, value };
    } catch (error) {
      return this.#failed(failures, { type: 'failed', ...about(), error });
    }
  }

  /** Reports an event. */
  report(event: StoreEvent): void {
    const { onStoreEvent, client } = this.#settings;
    if (storeChannels.store.hasSubscribers) storeChannels.store.publish({ ...event, client });
    invokeListener('onStoreEvent', onStoreEvent, event);
  }

  #isSuspended({ inARow, lastAt }: Failures): boolean {
    // If the clock was set back, the store must not be left alone for as long.
    const agoMs = this.#settings.clock.now() - lastAt;
    return inARow >= MAX_FAILURES && agoMs >= 0 && agoMs < SUSPENDED_MS;
  }

  #failed(failures: Failures, event: StoreEvent): { readonly ok: false } {
    failures.inARow++;
    failures.lastAt = this.#settings.clock.now();
    this.report(event);
    if (failures.inARow === MAX_FAILURES) this.report({ type: 'suspended' });
    return FAILED;
  }

  #succeeded(failures: Failures): void {
    const wasSuspended = failures.inARow >= MAX_FAILURES;
    failures.inARow = 0;
    if (wasSuspended) this.report({ type: 'resumed' });
  }
}

/** Waits for `work` for at most `ms` milliseconds of real time. Rejects as `work` does. */
export async function inTime<Value>(
  work: Value | PromiseLike<Value>,
  ms: number,
): Promise<Value | typeof TIMED_OUT> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof TIMED_OUT>((resolve) => {
    // Timers of a busy process run before the replies that have arrived meanwhile, so yield once for them.
    timer = setTimeout(() => void yieldToEventLoop().then(() => resolve(TIMED_OUT)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
