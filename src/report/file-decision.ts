import type { DecisionUsage } from '../decision/index.ts';
import type { RobotsSource } from '../lifecycle/index.ts';
import type { MatchedGroup, MatchedRule, Verdict } from '../rules/index.ts';

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
