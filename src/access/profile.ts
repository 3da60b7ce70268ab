import type { Dialect } from '../rules/dialect.ts';

/** What a status of the last hop means. `rules` is what a usable 2xx gives. */
export type StatusMeaning = 'rules' | 'unavailable' | 'restricted' | 'unreachable';

/** How an origin is treated while its robots.txt cannot be reached. */
export type UnreachableTreatment = 'last-good' | 'allow-all' | 'disallow-all';

/** One stretch of an outage, counted from its first failure. */
export interface UnreachablePhase {
  /** Where the phase ends, in ms since the first failure; `null`: it never ends. */
  readonly untilMs: number | null;
  /** Treatment when a good copy is held. */
  readonly withCopy: UnreachableTreatment;
  /** Treatment when none is held. */
  readonly withoutCopy: Exclude<UnreachableTreatment, 'last-good'>;
  /** Overrides both when the rest of the site is known to be reachable. */
  readonly whenSiteReachable?: Exclude<UnreachableTreatment, 'last-good'>;
}

/** Plain data: print it, spread it, store it. Every duration is in milliseconds. */
export interface Profile {
  readonly name: string;
  readonly dialect: Dialect;
  /**
   * Meaning of a status: an exact code (`"429"`) beats its class (`"4xx"`). What no entry names is
   * `unreachable`. Redirects the client follows never come here.
   */
  readonly status: Readonly<Record<string, StatusMeaning>>;
  readonly maxRedirects: number;
  readonly tooManyRedirects: 'unavailable' | 'unreachable';
  /** A redirect hop whose URL its own origin's rules, as far as already known, disallow. */
  readonly disallowedRedirect: 'followed' | 'unavailable';
  /** In order; the last one has `untilMs: null`. */
  readonly whileUnreachable: readonly UnreachablePhase[];
  readonly lifetime: {
    /** When the answer says nothing. */
    readonly defaultMs: number;
    readonly minMs: number;
    readonly maxMs: number;
  };
  /** Whether to revalidate with `If-None-Match` and `If-Modified-Since`. */
  readonly conditionalRequests: boolean;
  /** Failures: first pause, doubled up to the last. */
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  /** Bounds of a server's `Retry-After`. */
  readonly retryAfter: { readonly minMs: number; readonly maxMs: number };
  /** How long a good copy still serves after the file became unavailable; 0: not at all. */
  readonly keepCopyOnUnavailableMs: number;
}
