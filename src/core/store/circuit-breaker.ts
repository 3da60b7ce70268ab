/** Permission for one call. Its end is reported with {@link Breaker.succeeded} or {@link Breaker.failed}. */
export interface Permit {
  readonly round: number;
}

type State =
  | { readonly name: 'closed'; readonly failures: number }
  | { readonly name: 'open'; readonly since: number }
  | { readonly name: 'half-open'; readonly probe: Permit };

const FAILURES_TO_OPEN = 3;
/** The time for which an open breaker lets no call through. */
const OPEN_MS = 3_000;

/**
 * A circuit breaker: closed until several calls in a row fail, then open for some seconds, then half open, when the
 * result of a single call decides. It has no timer: the next ordinary call is the probe.
 */
export class Breaker {
  #state: State = { name: 'closed', failures: 0 };
  /**
   * Concurrent calls that fail together count as one failure: a failure adds to the count only if its call began
   * after the last counted one.
   */
  #round = 0;
  readonly #onChange: (isOpen: boolean) => void;

  constructor(onChange: (isOpen: boolean) => void) {
    this.#onChange = onChange;
  }

  /** The number of calls that {@link enter} would permit at `now`. */
  allowance(now: number): number {
    const state = this.#state;
    if (state.name === 'closed') return Infinity;
    if (state.name === 'half-open') return 0;
    // If the clock was set back, the breaker must not stay open for as long.
    return now >= state.since && now - state.since < OPEN_MS ? 0 : 1;
  }

  /** Permits a call at `now`, or not. */
  enter(now: number): Permit | undefined {
    if (this.allowance(now) === 0) return undefined;
    const permit: Permit = { round: this.#round };
    if (this.#state.name === 'open') this.#state = { name: 'half-open', probe: permit };
    return permit;
  }

  succeeded(permit: Permit): void {
    const state = this.#state;
    if (state.name === 'closed') {
      if (state.failures > 0) this.#state = { name: 'closed', failures: 0 };
    } else if (state.name === 'half-open' && state.probe === permit) {
      this.#state = { name: 'closed', failures: 0 };
      this.#onChange(false);
    }
  }

  failed(permit: Permit, now: number): void {
    const state = this.#state;
    if (state.name === 'half-open') {
      if (state.probe === permit) this.#open(now, false);
    } else if (state.name === 'closed' && permit.round === this.#round) {
      this.#round++;
      if (state.failures + 1 >= FAILURES_TO_OPEN) this.#open(now, true);
      else this.#state = { name: 'closed', failures: state.failures + 1 };
    }
  }

  #open(now: number, isNews: boolean): void {
    this.#round++;
    this.#state = { name: 'open', since: now };
    if (isNews) this.#onChange(true);
  }
}
