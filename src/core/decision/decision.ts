import type { OriginState } from '../lifecycle/index.ts';
import type { RobotsSource } from './robots-source.ts';
import type { MatchedGroup, MatchedRule, Preference, Usage, UsageSource } from '../rules/index.ts';

interface DecisionBase {
  /** The URL asked about, as the URL parser serialises it. */
  readonly url: string;
  /** The origin whose robots.txt applies: scheme, host and port of `url`. */
  readonly origin: string;
  /** The token used, in the case it was given. */
  readonly agent: string;
  /** Name of the profile that was applied. */
  readonly profile: string;
  /** The state of the origin at the time of the question. */
  readonly state: OriginState;
  /** The response for robots.txt that the decision rests on, and where it came from. */
  readonly robots: RobotsSource;
  /** `Crawl-delay` of the matched group. Reported, never enforced here. */
  readonly crawlDelayMs?: number;
  /** The rule that decided, with its line in the file, which is 1-based. */
  readonly rule?: MatchedRule;
  /** The group that applies to `agent`: its own, or that of `*`. */
  readonly group?: MatchedGroup;
  /** Epoch milliseconds from which another attempt is made. With reason `unreachable`, unless that is for good. */
  readonly retryAt?: number;
  /** The caller's reason for an override of this origin. A verdict always has one, a text may. */
  readonly because?: string;
  /** The site's statements about the use of the page, when the question named a purpose. It does not change `allowed`. */
  readonly usage?: DecisionUsage;
}

/**
 * Whether an agent may fetch a URL, and why. The union lists every reason: no failure is `allowed: true` by default.
 */
export type Decision =
  /** The target is `/robots.txt` itself, which may always be fetched (RFC 9309 §2.2.2). */
  | (DecisionBase & { readonly reason: 'robots-txt'; readonly allowed: true })
  /** A rule of the group matches the target. */
  | (DecisionBase & {
      readonly reason: 'rule';
      readonly allowed: boolean;
      readonly state: 'rules' | 'last-good';
      readonly rule: MatchedRule;
      readonly group: MatchedGroup;
    })
  /** The group that applies has no rule that matches. */
  | (DecisionBase & {
      readonly reason: 'no-rule';
      readonly allowed: true;
      readonly state: 'rules' | 'last-good';
      readonly group: MatchedGroup;
    })
  /** No group names the agent, and there is none for `*`. */
  | (DecisionBase & {
      readonly reason: 'no-group';
      readonly allowed: true;
      readonly state: 'rules' | 'last-good';
    })
  /**
   * `unavailable`: the origin has no robots.txt (4xx), or too many redirects. `unreachable-expired`: robots.txt has
   * failed for longer than the profile disallows the site for it. `unreachable-allowed`: it fails, and a profile of the
   * caller allows the site from the first failure on.
   */
  | (DecisionBase & {
      readonly reason: 'unavailable' | 'unreachable-expired' | 'unreachable-allowed';
      readonly allowed: true;
      readonly state: 'allow-all';
    })
  /** Robots.txt could not be fetched: 5xx, 429, a failure of the network, or a refused address. */
  | (DecisionBase & {
      readonly reason: 'unreachable';
      readonly allowed: false;
      readonly state: 'disallow-all';
      /**
       * Epoch ms from which the next question starts another attempt. For an `ftp:` origin without a transport, which is
       * never asked, a default lifetime ahead. Absent where it is for good: the address policy refuses the address, or the
       * site is dead (no such name, nothing listens, a bad certificate), was tried twice, and never responded before.
       */
      readonly retryAt?: number;
    })
  /** The origin responds with 401 or 403 for robots.txt, under a profile that reads this as a refusal. */
  | (DecisionBase & {
      readonly reason: 'restricted';
      readonly allowed: false;
      readonly state: 'disallow-all';
    })
  /** The caller has given a text for this origin by the option `overrides`. */
  | (DecisionBase & {
      readonly reason: 'override';
      readonly allowed: boolean;
      readonly state: 'rules';
    })
  /** The caller has given a verdict for this origin by the option `overrides`. */
  | (DecisionBase & {
      readonly reason: 'override';
      readonly allowed: boolean;
      readonly state: 'allow-all' | 'disallow-all';
      /** The caller's reason. */
      readonly because: string;
    });

/** Every reason, for the schemas of the service and of the tools for AI agents. test/types.test-d.ts compares it. */
export const REASONS = [
  'robots-txt',
  'rule',
  'no-rule',
  'no-group',
  'unavailable',
  'unreachable-expired',
  'unreachable-allowed',
  'unreachable',
  'restricted',
  'override',
] as const;

/** All purposes. `--help` of the command lists them, so this file must load little. */
export const PURPOSES = ['train-ai', 'ai-use', 'ai-input', 'search'] as const;

/** The purpose of fetching a page, in the words of AIPREF and of Cloudflare's `ai-input`. */
export type Purpose = (typeof PURPOSES)[number];

export function isPurpose(value: unknown): value is Purpose {
  return PURPOSES.some((purpose) => purpose === value);
}

/** A site's statements about the use of a page, and the result for the purpose that was asked about. */
export interface DecisionUsage extends Usage {
  readonly purpose: Purpose;
  /** Whether the site wants its page used so. `unknown`: it does not say. */
  readonly preference: Preference;
  /** The line or header field that says so; absent when `preference` is `unknown`. */
  readonly source?: UsageSource;
}

/** The URL that a caller requested, and the redirects that led to the URL of a decision. */
export interface RedirectChain {
  /** The URL that the caller requested. Without redirects, the URL of the decision. */
  readonly requested: string;
  /** The URLs between {@link requested} and that of the decision, in order. */
  readonly redirects: readonly string[];
}
