import type { OriginState, RobotsSource } from '../lifecycle/index.ts';
import type { MatchedGroup, MatchedRule } from '../rules/index.ts';

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
