/** Leave to make one call; its end is told by {@link Breaker.succeeded} or {@link Breaker.failed}. */
export interface Permit {
  readonly round: number;
}

type State =
  | { readonly name: 'closed'; readonly failures: number }
  | { readonly name: 'open'; readonly since: number }
  | { readonly name: 'half-open'; readonly probe: Permit };

const FAILURES_TO_OPEN = 3;
/** How long nothing is tried after that. */
const OPEN_MS = 3_000;

/**
 * Lets calls through until several in a row fail, then none for some seconds, then a single one whose end decides.
 * There is no timer in it: the next call that is due to be made is the one that tries.
 */
export class Breaker {
  private state: State = { name: 'closed', failures: 0 };
  /**
   * Of calls made together all fail together. They are one failure: only a call that began after the last one was
   * noted adds to it.
   */
  private round = 0;
  private readonly onChange: (isOpen: boolean) => void;

  constructor(onChange: (isOpen: boolean) => void) {
    this.onChange = onChange;
  }

  /** How many calls {@link enter} would let in at `now`. */
  allowance(now: number): number {
    const { state } = this;
    if (state.name === 'closed') return Infinity;
    if (state.name === 'half-open') return 0;
    // A clock that was set back would keep it open for as long.
    return now >= state.since && now - state.since < OPEN_MS ? 0 : 1;
  }

  /** Leave for a call at `now`, if one may be made. */
  enter(now: number): Permit | undefined {
    if (this.allowance(now) === 0) return undefined;
    const permit: Permit = { round: this.round };
    if (this.state.name === 'open') this.state = { name: 'half-open', probe: permit };
    return permit;
  }

  succeeded(permit: Permit): void {
    const { state } = this;
    if (state.name === 'closed') {
      if (state.failures > 0) this.state = { name: 'closed', failures: 0 };
    } else if (state.name === 'half-open' && state.probe === permit) {
      this.state = { name: 'closed', failures: 0 };
      this.onChange(false);
    }
  }

  failed(permit: Permit, now: number): void {
    const { state } = this;
    if (state.name === 'half-open') {
      if (state.probe === permit) this.open(now, false);
    } else if (state.name === 'closed' && permit.round === this.round) {
      this.round++;
      if (state.failures + 1 >= FAILURES_TO_OPEN) this.open(now, true);
      else this.state = { name: 'closed', failures: state.failures + 1 };
    }
  }

  private open(now: number, isNews: boolean): void {
    this.round++;
    this.state = { name: 'open', since: now };
    if (isNews) this.onChange(true);
  }
}
