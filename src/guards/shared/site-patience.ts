/** Beyond it, the site that was waited for first is forgotten. */
const MAX_SITES = 10_000;
/** After this time without a wait a site is waited for anew. */
const QUIET_MS = 30 * 60 * 1_000;

/** Since when sites have been waited for without giving a page: a run with many pages of a broken site ends, too. */
export class SitePatience {
  /** The origins whose pauses are watched. */
  readonly watched: Set<string> = new Set();
  readonly #waits = new Map<string, { readonly since: number; until: number }>();

  /** Notes a wait for an origin. Returns when the first of its waits began. */
  waits(origin: string, now: number, until: number): number {
    const known = this.#known(origin, now);
    if (known !== undefined) {
      known.until = Math.max(known.until, until);
      // The clock may have been set back.
      return Math.min(known.since, now);
    }
    if (this.#waits.size >= MAX_SITES) {
      const [oldest = ''] = this.#waits.keys();
      this.#waits.delete(oldest);
    }
    this.#waits.set(origin, { since: now, until });
    return now;
  }

  /** Since when an origin has been waited for; `undefined` if it gave a page since. */
  since(origin: string, now: number): number | undefined {
    return this.#known(origin, now)?.since;
  }

  #known(origin: string, now: number): { readonly since: number; until: number } | undefined {
    const known = this.#waits.get(origin);
    return known !== undefined && now - known.until < QUIET_MS ? known : undefined;
  }

  /** Whether a wait for an origin lasts that long. */
  waitsUntil(origin: string, until: number): boolean {
    return (this.#waits.get(origin)?.until ?? -Infinity) >= until;
  }

  /** A site has given a page. */
  gavePage(origin: string): void {
    if (this.#waits.size > 0) this.#waits.delete(origin);
  }
}

const patience = new WeakMap<object, SitePatience>();

/** What all guards of a client know. */
export function patienceOf(engine: object): SitePatience {
  const known = patience.get(engine) ?? new SitePatience();
  patience.set(engine, known);
  return known;
}
