import { invokeListener, type Clock, yieldToEventLoop } from '../base/index.ts';
import { Breaker } from './circuit-breaker.ts';
import {
  type StoreCalls,
  storeChannels,
  type StoreEvent,
  type StoreOperation,
  type RobotsStore,
} from './store.ts';

/** The value of a call, or that it failed. An event has the reason. */
export type CallResult<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false };

export interface StoreCallerOptions {
  /** Milliseconds of real time for a call that a question waits for. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly onEvent: (event: StoreEvent) => void;
}

export interface StoreCall<Value> {
  readonly operation: StoreOperation;
  readonly origin: string;
  readonly send: () => Value | PromiseLike<Value>;
  /** Called with a value that arrives after the deadline. */
  readonly late?: (value: Value) => void;
  /** Describes the expected value when this one is invalid: a store may return anything. */
  readonly expectedValue?: (value: Value) => string | undefined;
  /** No question waits for the call: it gets a longer deadline, and does not keep the process alive. */
  readonly background?: boolean;
  /** The call of a request that is paced anyway: it gets the longer deadline, too. A busy process must not lose its fleet. */
  readonly patient?: boolean;
  /** Make the call even if the breaker is open. */
  readonly regardless?: boolean;
}

/** The result of a call, or that it did not end in time. */
type Timed<Value> = { readonly ended: true; readonly value: Value } | { readonly ended: false };

/**
 * The wait is divided into steps. A late step counts as one, however late: a blocked process
 * cannot read a response, and that is not the store's fault.
 */
const STEPS = 10;

const BACKGROUND_FACTOR = 10;
const MAX_BACKGROUND_MS = 10_000;

/** The deadline of calls that no question waits for. A busy process would exceed a short one without a fault of the store. */
export function backgroundDeadlineMs(deadlineMs: number): number {
  return Math.max(deadlineMs, Math.min(deadlineMs * BACKGROUND_FACTOR, MAX_BACKGROUND_MS));
}

const FAILED = { ok: false } as const;

/** Calls a store. Calls end in time, whatever the store does, and never throw. */
export class StoreCaller {
  readonly #options: StoreCallerOptions;
  readonly #breakers: Readonly<Record<StoreCalls, Breaker>>;

  constructor(options: StoreCallerOptions) {
    this.#options = options;
    const breaker = (calls: StoreCalls): Breaker =>
      new Breaker((isOpen) => this.report({ type: isOpen ? 'suspended' : 'resumed', calls }));
    this.#breakers = { reads: breaker('reads'), writes: breaker('writes') };
  }

  async call<Value>(call: StoreCall<Value>): Promise<CallResult<Value>> {
    const { operation, origin } = call;
    const breaker = this.#breakers[operation === 'get' || operation === 'now' ? 'reads' : 'writes'];
    const permit = breaker.enter(this.#options.clock.now());
    if (permit === undefined && call.regardless !== true) return FAILED;
    const fail = (event: StoreEvent): CallResult<Value> => {
      if (permit !== undefined) breaker.failed(permit, this.#options.clock.now());
      this.report(event);
      return FAILED;
    };
    try {
      const sending = call.send();
      const timed: Timed<Value> = isThenable(sending)
        ? await this.#inTime(sending, call)
        : { ended: true, value: sending };
      if (!timed.ended) return fail({ type: 'timeout', operation, origin });
      const expected = call.expectedValue?.(timed.value);
      if (expected !== undefined) throw new TypeError(`Expected \`${operation}\` to return ${expected}`);
      if (permit !== undefined) breaker.succeeded(permit);
      return { ok: true, value: timed.value };
    } catch (error) {
      return fail({ type: 'failed', operation, origin, error });
    }
  }

  /** The number of writes that the breaker permits now. */
  writeAllowance(): number {
    return this.#breakers.writes.allowance(this.#options.clock.now());
  }

  /** Reports an event. */
  report(event: StoreEvent): void {
    storeChannels.store.publish(event);
    invokeListener('onStoreEvent', this.#options.onEvent, event);
  }

  #inTime<Value>(
    sending: PromiseLike<Value>,
    { late, background = false, patient = background }: StoreCall<Value>,
  ): Promise<Timed<Value>> {
    const { deadlineMs } = this.#options;
    const timed = inTime(sending, patient ? backgroundDeadlineMs(deadlineMs) : deadlineMs, !background);
    if (late === undefined) return timed;
    return timed.then((result) => {
      if (!result.ended) sending.then(late, () => undefined);
      return result;
    });
  }
}

function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Waits for `work` for at most `ms` milliseconds of real time, without the time in which this process was blocked.
 * Rejects as `work` does.
 *
 * @param keepsAlive Whether the wait keeps the process alive.
 */
export function inTime<Value>(
  work: PromiseLike<Value>,
  ms: number,
  keepsAlive: boolean,
): Promise<Timed<Value>> {
  return new Promise((resolve, reject) => {
    let stepsLeft = Math.min(STEPS, ms);
    const stepMs = ms / stepsLeft;
    let timer: ReturnType<typeof setTimeout>;
    const step = (): void => {
      timer = setTimeout(() => {
        stepsLeft--;
        if (stepsLeft > 0) step();
        // Timers run before the responses that have arrived meanwhile, so yield once more for them.
        else void yieldToEventLoop().then(() => resolve({ ended: false }));
      }, stepMs);
      // Timers of browsers and Workers are numbers, and keep nothing alive.
      if (!keepsAlive && typeof timer === 'object') timer.unref();
    };
    step();
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve({ ended: true, value });
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

interface StoreClockOptions {
  readonly store: RobotsStore;
  readonly clock: Clock;
}

/** The clocks are compared again after this time. */
const COMPARISON_TTL_MS = 10 * 60 * 1000;
/** The store is asked again after this time if it returned no time. */
const RETRY_MS = 10_000;
/** Smaller differences come from the network, and from clocks set by NTP. */
const MIN_DIFFERENCE_MS = 500;

/** How far the clock of a store is ahead of ours. */
export class StoreClock {
  readonly #options: StoreClockOptions;
  readonly #caller: StoreCaller;
  #knownMs = 0;
  /** The time of the next comparison, by our clock, and the latest time that our clock has shown. */
  #nextAt = -Infinity;
  #latest = -Infinity;
  /** The last reading of the store's time failed, and no other call has succeeded since. */
  #wasUnreachable = false;
  #comparing: Promise<void> | undefined;

  constructor(options: StoreClockOptions, caller: StoreCaller) {
    this.#options = options;
    this.#caller = caller;
  }

  /**
   * Milliseconds to add to our time to get the store's; 0 for a store without a clock, or while it does not respond.
   *
   * @param origin For events.
   * @param isReachable The store has just served a call. If its clock could not be read before, it is read again.
   * @returns a promise only while the clocks are compared.
   */
  aheadMs(origin: string, isReachable: boolean): number | Promise<number> {
    const { store, clock } = this.#options;
    if (store.now === undefined) return 0;
    const now = clock.now();
    const wasSetBack = now < this.#latest;
    this.#latest = now;
    if (wasSetBack || now >= this.#nextAt || (isReachable && this.#wasUnreachable)) {
      this.#comparing ??= this.#compare(origin, isReachable).finally(() => (this.#comparing = undefined));
    }
    return this.#comparing?.then(() => this.#knownMs) ?? this.#knownMs;
  }

  async #compare(origin: string, isReachable: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const before = clock.now();
    const called = await this.#caller.call<number | undefined>({
      operation: 'now',
      origin,
      send: () => store.now?.(),
      expectedValue: (value) => (Number.isFinite(value) ? undefined : 'epoch milliseconds'),
      // A write may be the first call that reaches the store again. Reads are still suspended then.
      regardless: true,
    });
    this.#wasUnreachable = !called.ok && !isReachable;
    this.#nextAt = before + (called.ok ? COMPARISON_TTL_MS : RETRY_MS);
    if (!called.ok || called.value === undefined) return;
    const aheadMs = Math.round(called.value - (before + clock.now()) / 2);
    if (Math.abs(aheadMs - this.#knownMs) >= MIN_DIFFERENCE_MS) this.#knownMs = aheadMs;
  }
}
