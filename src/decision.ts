import type { Standing } from './access/index.ts';
import type { RobotsSource } from './cache/index.ts';
import type { MatchedGroup, MatchedRule, RuleVerdict } from './rules/index.ts';

/** What is in force for an origin at the moment of the question. `unknown`: nothing was asked of it yet. */
export type OriginState = 'rules' | 'last-good' | 'allow-all' | 'disallow-all' | 'unknown';

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

/** What a decision is about, before it is known what holds. */
export interface Subject {
  readonly url: string;
  readonly origin: string;
  readonly agent: string;
  readonly profile: string;
}

/**
 * A decision that rests on a parsed file. Written out, because copying objects into each other takes longer than
 * everything else about a warm question.
 */
export function decideByRules(
  { url, origin, agent, profile }: Subject,
  state: 'rules' | 'last-good',
  robots: RobotsSource,
  verdict: RuleVerdict,
  crawlDelayMs: number,
): Decision {
  if (verdict.reason === 'no-group') {
    return { url, origin, agent, profile, state, allowed: true, reason: 'no-group', robots };
  }
  const { group } = verdict;
  if (verdict.reason === 'no-rule') {
    const decision = {
      url,
      origin,
      agent,
      profile,
      state,
      allowed: true,
      reason: 'no-rule',
      group,
      robots,
    } as const;
    return crawlDelayMs < 0 ? decision : { ...decision, crawlDelayMs };
  }
  const { allowed, rule } = verdict;
  const decision = {
    url,
    origin,
    agent,
    profile,
    state,
    allowed,
    reason: 'rule',
    rule,
    group,
    robots,
  } as const;
  return crawlDelayMs < 0 ? decision : { ...decision, crawlDelayMs };
}

/** A decision that rests on what an answer, or its absence, means. */
export function decideByStanding(
  subject: Subject,
  standing: Exclude<Standing, { copy: unknown } | { state: 'unknown' }>,
  robots: RobotsSource,
): Decision {
  const { url, origin, agent, profile } = subject;
  if (standing.state === 'allow-all') {
    return {
      url,
      origin,
      agent,
      profile,
      robots,
      state: 'allow-all',
      allowed: true,
      reason: standing.reason,
    };
  }
  const base = { url, origin, agent, profile, robots, state: 'disallow-all', allowed: false } as const;
  if (standing.reason === 'restricted') return { ...base, reason: 'restricted' };
  return { ...base, reason: 'unreachable', retryAt: standing.retryAt };
}
