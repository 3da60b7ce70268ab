import type { Decision } from '../decision/index.ts';
import type { RobotsSource } from '../lifecycle/index.ts';
import type { MatchedGroup, MatchedRule, Verdict } from '../rules/index.ts';
import { MAX_LINE_LENGTH, type Target } from './input/targets.ts';

/** A decision from a file on disk: without an origin, a network or a time. */
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
}

/** The source of rules that no origin served, and what is odd about them. */
export interface FileSource extends Pick<RobotsSource, 'truncated' | 'suspect'> {
  /** Path, or `-` for standard input. */
  readonly file: string;
  readonly source: 'file';
}

export type ReportedDecision = Decision | FileDecision;

/** The result for one target. */
export type Answer =
  | { readonly target: Target; readonly decision: ReportedDecision }
  | { readonly target: Target; readonly error: InputError };

/** A target that is no URL. */
export interface InputError {
  readonly code: string;
  /** What was expected and what came, in one line. */
  readonly message: string;
}

/** A line that is no URL because of its length. */
export const tooLongError: InputError = {
  code: 'ERR_ROBOTS_INVALID_URL',
  message: `Expected a URL of at most ${MAX_LINE_LENGTH} characters, got a longer line`,
};

/** Answers targets one by one: a running client, or a file. */
export interface Decider {
  /**
   * Returns a promise only when the origin has to be fetched first. Rejects only when the run is interrupted, or by a
   * defect.
   */
  decide(target: Target): Answer | Promise<Answer>;
  close(): Promise<void>;
}

/** Whether robots.txt was unreachable, so that a later question may have another answer. */
export function isUndecided(decision: ReportedDecision): boolean {
  return decision.reason === 'unreachable';
}
