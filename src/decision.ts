import type { MatchedGroup, MatchedRule } from './rules/index.ts';

/** What is in force for an origin at the moment of the question. `unknown`: nothing was asked of it yet. */
export type OriginState = 'rules' | 'last-good' | 'allow-all' | 'disallow-all' | 'unknown';

/** The robots.txt answer that a decision stands on. All times are epoch milliseconds. */
export interface RobotsSource {
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** URL of the last hop. */
  readonly finalUrl: string;
  /** Redirects followed. */
  readonly hops: number;
  /** Status of the last hop; absent when no response arrived. */
  readonly status?: number;
  /** Error code of the last attempt when it failed (`ENOTFOUND`, `ERR_ROBOTS_DEADLINE`, …). */
  readonly error?: string;
  readonly fetchedAt?: number;
  readonly staleAt?: number;
  readonly source: 'memory' | 'store' | 'network' | 'override';
}

interface DecisionBase {
  /** The URL asked about, as the URL parser serialises it. */
  readonly url: string;
  readonly origin: string;
  /** The token used, in the case it was given. */
  readonly agent: string;
  /** Name of the profile that was applied. */
  readonly profile: string;
  readonly state: OriginState;
  readonly robots: RobotsSource;
  /** `Crawl-delay` of the matched group. Reported, never enforced here. */
  readonly crawlDelayMs?: number;
  readonly rule?: MatchedRule;
  readonly group?: MatchedGroup;
  readonly retryAt?: number;
  readonly because?: string;
}

/**
 * The answer to "may this agent fetch this URL, and why?". Closed: every reason is reached on purpose, and no
 * failure falls through to `allowed: true`.
 */
export type Decision =
  | (DecisionBase & { readonly reason: 'robots-txt'; readonly allowed: true })
  | (DecisionBase & {
      readonly reason: 'rule';
      readonly allowed: boolean;
      readonly state: 'rules' | 'last-good';
      readonly rule: MatchedRule;
      readonly group: MatchedGroup;
    })
  | (DecisionBase & {
      readonly reason: 'no-rule';
      readonly allowed: true;
      readonly state: 'rules' | 'last-good';
      readonly group: MatchedGroup;
    })
  | (DecisionBase & {
      readonly reason: 'no-group';
      readonly allowed: true;
      readonly state: 'rules' | 'last-good';
    })
  | (DecisionBase & {
      readonly reason: 'unavailable' | 'unreachable-expired';
      readonly allowed: true;
      readonly state: 'allow-all';
    })
  | (DecisionBase & {
      readonly reason: 'unreachable';
      readonly allowed: false;
      readonly state: 'disallow-all';
      /** Epoch ms from which the next question starts another attempt. */
      readonly retryAt?: number;
    })
  | (DecisionBase & {
      readonly reason: 'restricted';
      readonly allowed: false;
      readonly state: 'disallow-all';
    })
  | (DecisionBase & {
      readonly reason: 'override';
      readonly allowed: boolean;
      /** Why the caller overrode this origin. */
      readonly because?: string;
    });
