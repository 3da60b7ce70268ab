import type { Decision } from '../decision/index.ts';
import type { RobotsSource } from '../lifecycle/index.ts';
import type { MatchedGroup, MatchedRule, Verdict } from '../rules/index.ts';
import { MAX_LINE_LENGTH, type Target } from './input/targets.ts';

/** What a file on disk says: a decision without an origin, a network or a time. */
export interface FileRuling {
  /** As it was given: a URL, or a path. */
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

/** Where rules come from that no origin served, and what is odd about them. */
export interface FileSource extends Pick<RobotsSource, 'truncated' | 'suspect'> {
  /** Path, or `-` for standard input. */
  readonly file: string;
  readonly source: 'file';
}

export type Ruling = Decision | FileRuling;

/** What came of one target. */
export type Answer =
  | { readonly target: Target; readonly ruling: Ruling }
  | { readonly target: Target; readonly error: InputError };

/** A target that could not be answered, because it is no URL. */
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
   * Gives a promise where the origin has to be asked first. It rejects only when the run is interrupted, or when
   * something is broken.
   */
  decide(target: Target): Answer | Promise<Answer>;
  close(): Promise<void>;
}

/** Whether nothing decided, so that asking later may give another answer. */
export function isUndecided(ruling: Ruling): boolean {
  return ruling.reason === 'unreachable';
}
