import type { Dialect } from '../rules/index.ts';

/** The meaning of the last response's status. A 2xx with a usable body means `rules`. */
export type StatusClass = 'rules' | 'unavailable' | 'restricted' | 'unreachable';

/** The treatment of an origin while its robots.txt is unreachable. */
export type UnreachableTreatment = 'last-good' | 'allow-all' | 'disallow-all';

/** One phase of an outage. Phases are counted from the first failure. */
export interface UnreachablePhase {
  /** End of the phase in ms since the first failure; `null` for no end. */
  readonly untilMs: number | null;
  /** Treatment when a good copy exists. */
  readonly withCopy: UnreachableTreatment;
  /** Treatment when no copy exists. */
  readonly withoutCopy: Exclude<UnreachableTreatment, 'last-good'>;
  /** Replaces both when the rest of the site is known to be reachable. */
  readonly whenSiteReachable?: Exclude<UnreachableTreatment, 'last-good'>;
}

/**
 * A policy for fetching and caching. Plain data: print it, spread it, store it. Every duration is in milliseconds.
 */
export interface Profile {
  readonly name: string;
  readonly dialect: Dialect;
  /**
   * Meaning of each status. An exact code (`"429"`) beats its class (`"4xx"`). A status without an entry is
   * `unreachable`. Redirects that the client follows are not looked up here.
   */
  readonly status: Readonly<Record<string, StatusClass>>;
  readonly maxRedirects: number;
  readonly tooManyRedirects: 'unavailable' | 'unreachable';
  /** The treatment of a redirect to a URL that the rules of its own origin disallow, if those rules are cached. */
  readonly disallowedRedirect: 'followed' | 'unavailable';
  /**
   * The treatment of a response that looks like a challenge or a firewall's block page (`suspect: 'challenge'` or
   * `'blocked'`): by its status, as any other response, or as unreachable.
   */
  readonly challenge: 'as-status' | 'unreachable';
  /** Phases in order of time. The last one has `untilMs: null`. */
  readonly whileUnreachable: readonly UnreachablePhase[];
  readonly lifetime: {
    /** The lifetime of a response without freshness information. */
    readonly defaultMs: number;
    readonly minMs: number;
    readonly maxMs: number;
  };
  /** Whether to revalidate with `If-None-Match` and `If-Modified-Since`. */
  readonly conditionalRequests: boolean;
  /** Pause before robots.txt is requested again after a failure: `initialMs`, doubled for each further one, up to `maxMs`. */
  readonly robotsRetry: { readonly initialMs: number; readonly maxMs: number };
  /** Bounds of the pause from `Retry-After`. */
  readonly retryAfter: { readonly minMs: number; readonly maxMs: number };
  /** The time for which a good copy serves after the file became unavailable. 0: not at all. */
  readonly keepCopyOnUnavailableMs: number;
}

export type ProfileName = 'rfc9309' | 'google' | 'google-legacy' | 'koster-1996' | 'robotstxt-1994';

/** Newest first. */
export const profileNames: readonly ProfileName[] = [
  'rfc9309',
  'google',
  'google-legacy',
  'koster-1996',
  'robotstxt-1994',
];

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const rfc9309: Profile = {
  name: 'rfc9309',
  dialect: 'rfc9309',
  status: {
    '2xx': 'rules',
    // RFC 9309 §2.3.1.3: "in the context of HTTP, such status codes are in the 400-499 range."
    '4xx': 'unavailable',
    // NOTE(rfc9309): §2.3.1.3 counts 429 among the codes that open the site. Here 429 is unreachable: a server that
    // asks for fewer requests has not allowed all of them.
    '429': 'unreachable',
    '5xx': 'unreachable',
  },
  // RFC 9309 §2.3.1.2: "If there are more than five consecutive redirects, crawlers MAY assume that the
  // robots.txt file is unavailable."
  maxRedirects: 5,
  tooManyRedirects: 'unavailable',
  disallowedRedirect: 'followed',
  challenge: 'as-status',
  whileUnreachable: [
    // RFC 9309 §2.3.1.4: "the robots.txt file is undefined and the crawler MUST assume complete disallow."
    // NOTE(rfc9309): a good copy continues to serve. §2.4 allows it: "Crawlers SHOULD NOT use the cached version for
    // more than 24 hours, unless the robots.txt file is unreachable."
    { untilMs: 30 * DAY_MS, withCopy: 'last-good', withoutCopy: 'disallow-all' },
    // RFC 9309 §2.3.1.4: "If the robots.txt file is undefined for a reasonably long period of time (for example,
    // 30 days), crawlers MAY assume that the robots.txt file is unavailable as defined in Section 2.3.1.3 or
    // continue to use a cached copy."
    { untilMs: null, withCopy: 'last-good', withoutCopy: 'allow-all' },
  ],
  // RFC 9309 §2.4: "Crawlers MAY use standard cache control as defined in [RFC9111]. Crawlers SHOULD NOT use the
  // cached version for more than 24 hours".
  // NOTE(rfc9309): the lower bound overrides `no-store`, so that robots.txt is not fetched before every page.
  lifetime: { defaultMs: DAY_MS, minMs: 10 * MINUTE_MS, maxMs: DAY_MS },
  conditionalRequests: true,
  robotsRetry: { initialMs: 30 * SECOND_MS, maxMs: HOUR_MS },
  retryAfter: { minMs: SECOND_MS, maxMs: DAY_MS },
  keepCopyOnUnavailableMs: 0,
};

/** Google's current page on robots.txt. */
const google: Profile = {
  ...rfc9309,
  name: 'google',
  dialect: 'google',
  // Google: "treat all 4xx errors, except 429, as if a valid robots.txt file didn't exist."
  status: { '2xx': 'rules', '4xx': 'unavailable', '429': 'unreachable', '5xx': 'unreachable' },
  // Google: "follows at least five redirect hops […] and then stops and treats it as a 404 […]. This also applies
  // to any disallowed URLs in the redirect chain".
  disallowedRedirect: 'unavailable',
  whileUnreachable: [
    // Google: "For the first 12 hours, Google stops crawling the site but keeps trying".
    { untilMs: 12 * HOUR_MS, withCopy: 'disallow-all', withoutCopy: 'disallow-all' },
    // Google: "for the next 30 days Google will use the last good version […]. If there's no cached version
    // available Google assumes there's no crawl restrictions." The 30 days are counted from the first failure.
    // NOTE(rfc9309): §2.3.1.4 would disallow everything for all of the 30 days.
    { untilMs: 30 * DAY_MS, withCopy: 'last-good', withoutCopy: 'allow-all' },
    // Google: "If the site is generally available to Google, Google will behave as if there is no robots.txt file
    // […]. If the site has general availability problems, Google will stop crawling the site".
    { untilMs: null, withCopy: 'disallow-all', withoutCopy: 'disallow-all', whenSiteReachable: 'allow-all' },
  ],
  // Google: "with an HTTP non-conditional GET request".
  conditionalRequests: false,
};

/** An older edition of Google's page: 429 counts as any other 4xx, and a copy serves only after 30 days. */
const googleLegacy: Profile = {
  ...rfc9309,
  name: 'google-legacy',
  dialect: 'google',
  status: { '2xx': 'rules', '4xx': 'unavailable', '5xx': 'unreachable' },
  disallowedRedirect: 'unavailable',
  whileUnreachable: [
    { untilMs: 30 * DAY_MS, withCopy: 'disallow-all', withoutCopy: 'disallow-all' },
    { untilMs: null, withCopy: 'last-good', withoutCopy: 'allow-all' },
  ],
  conditionalRequests: false,
};

/** The Internet draft of 1996: 401 and 403 disallow the site, and an outage disallows it without end. */
const koster1996: Profile = {
  ...rfc9309,
  name: 'koster-1996',
  dialect: 'koster-1996',
  status: {
    ...rfc9309.status,
    // Draft of 1996 §3.1: "On server response indicating access restrictions (HTTP Status Code 401 or 403) a robot
    // should regard access to the site completely restricted."
    // NOTE(rfc9309): §2.3.1.3 opens the site on these two.
    '401': 'restricted',
    '403': 'restricted',
  },
  // Draft of 1996 §3.1: "follow the redirects until a resource can be found." The draft gives no limit. A chain that
  // exceeds ours has found no resource, so it is unreachable.
  maxRedirects: 20,
  tooManyRedirects: 'unreachable',
  // Draft of 1996 §3.1: "a robot should defer visits to the site until such time as the resource can be retrieved."
  whileUnreachable: [{ untilMs: null, withCopy: 'disallow-all', withoutCopy: 'disallow-all' }],
  // Draft of 1996 §3.4: "If no cache-control directives are present robots should default to an expiry of 7 days."
  // NOTE(rfc9309): §2.4 asks for 24 hours at most.
  lifetime: { defaultMs: 7 * DAY_MS, minMs: SECOND_MS, maxMs: 7 * DAY_MS },
};

/** The convention of 1994 says nothing about time and statuses. The draft that followed it fills the gap. */
const robotstxt1994: Profile = { ...koster1996, name: 'robotstxt-1994', dialect: 'robotstxt-1994' };

/** The presets, deeply frozen. Spread one to make a variant: `{ ...profiles.rfc9309, maxRedirects: 10 }`. */
export const profiles: Readonly<Record<ProfileName, Profile>> = frozen({
  rfc9309,
  google,
  'google-legacy': googleLegacy,
  'koster-1996': koster1996,
  'robotstxt-1994': robotstxt1994,
});

function frozen<T extends object>(value: T): Readonly<T> {
  const parts: unknown[] = Object.values(value);
  for (const part of parts) if (typeof part === 'object' && part !== null) frozen(part);
  return Object.freeze(value);
}
