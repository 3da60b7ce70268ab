import type { Decision, DecisionUsage, RobotsSource } from '../../core/decision/index.ts';
import type { MatchedGroup, MatchedRule, Verdict } from '../../core/rules/index.ts';
import { MAX_LINE_LENGTH, type Target } from './input/targets.ts';

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

/** The result for one target. */
export type TargetResult<Decided extends ReportedDecision = ReportedDecision> =
  | { readonly target: Target; readonly decision: Decided }
  | { readonly target: Target; readonly error: InputError };

/** The error of a target that is not a valid URL. */
export interface InputError {
  readonly code: string;
  /** One line that states what was expected and what came. */
  readonly message: string;
}

/** The error of a line that is too long to be a URL. */
export const tooLongError: InputError = {
  code: 'ERR_ROBOTS_INVALID_URL',
  message: `Expected a URL of at most ${MAX_LINE_LENGTH} characters, got a longer line`,
};

/** Answers targets one by one, with a client or with a file. */
export interface Decider {
  /**
   * Returns a promise only when robots.txt must be fetched first. The promise rejects only when the run is
   * interrupted, or because of a bug.
   */
  decide(target: Target): TargetResult | Promise<TargetResult>;
  close(): Promise<void>;
}

/**
 * Whether the page may be fetched, but the site disallows its use for the purpose of the question. Never for
 * `/robots.txt`, which is fetched for the rules in it.
 */
export function isUnwanted({ allowed, reason, usage }: ReportedDecision): boolean {
  return allowed && reason !== 'robots-txt' && usage?.preference === 'disallow';
}

/** Whether robots.txt was unreachable, so that the decision may change when it becomes reachable. */
export function isUndecided(decision: ReportedDecision): boolean {
  return decision.reason === 'unreachable';
}
