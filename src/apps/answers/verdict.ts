import type { Decision, DecisionUsage, RobotsSource } from '../../core/decision/index.ts';
import type { MatchedGroup, MatchedRule, Verdict } from '../../core/rules/index.ts';

/** A decision from a file on disk. It involves no origin and no network, and does not expire. */
export interface FileDecision {
  /** The URL or path as given. */
  readonly url: string;
  readonly agent: string;
  readonly profile: string;
  readonly state: 'rules';
  readonly allowed: boolean;
  readonly reason: Verdict['reason'];
  readonly rule?: MatchedRule;
  readonly group?: MatchedGroup;
  readonly crawlDelayMs?: number;
  readonly robots: FileSource;
  /** The file's statements about the use of the page, when the question named a purpose. */
  readonly usage?: DecisionUsage;
}

/** The file that rules were read from, with warnings about it. */
export interface FileSource extends Pick<RobotsSource, 'truncated' | 'suspect'> {
  /** Path, or `-` for standard input. */
  readonly file: string;
  readonly source: 'file';
}

export type ReportedDecision = Decision | FileDecision;

/** Tones of an answer. Each layout has a colour for each. */
export type Tone = 'good' | 'bad' | 'unsure';

/** A kind of verdict in words. The meaning must not depend on a colour, so there is a sign. */
export interface VerdictKind {
  readonly tone: Tone;
  readonly sign: string;
  /** In capitals, at the beginning of a line. */
  readonly label: string;
  /** As a heading. */
  readonly title: string;
  /** What the agent may do with the URL. */
  readonly may: string;
}

export type VerdictName = 'allowed' | 'disallowed' | 'unwanted' | 'undecided';

export const verdictKinds: Readonly<Record<VerdictName, VerdictKind>> = {
  allowed: { tone: 'good', sign: '✓', label: 'ALLOWED', title: 'Allowed', may: 'may fetch' },
  disallowed: { tone: 'bad', sign: '✕', label: 'DISALLOWED', title: 'Disallowed', may: 'may not fetch' },
  /** Allowed, but not wanted for the purpose. */
  unwanted: {
    tone: 'bad',
    sign: '!',
    label: 'NOT WANTED',
    title: 'Allowed, but not wanted',
    may: 'may fetch',
  },
  undecided: {
    tone: 'unsure',
    sign: '?',
    label: 'UNDECIDED',
    title: 'Undecided',
    may: 'should wait before it fetches',
  },
};

type Judged = Pick<ReportedDecision, 'allowed' | 'reason'> & {
  readonly usage?: { readonly preference?: DecisionUsage['preference'] } | undefined;
};

export function verdictName(decision: Judged): VerdictName {
  if (isUndecided(decision)) return 'undecided';
  if (isUnwanted(decision)) return 'unwanted';
  return decision.allowed ? 'allowed' : 'disallowed';
}

/**
 * Whether the page may be fetched, but the site disallows its use for the purpose of the question. Never for
 * `/robots.txt`, which is fetched for the rules in it.
 */
export function isUnwanted({ allowed, reason, usage }: Judged): boolean {
  return allowed && reason !== 'robots-txt' && usage?.preference === 'disallow';
}

/** Whether robots.txt was unreachable, so that the decision may change when it becomes reachable. */
export function isUndecided({ reason }: Pick<ReportedDecision, 'reason'>): boolean {
  return reason === 'unreachable';
}
