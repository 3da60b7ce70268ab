/** The rules room: what a robots.txt file says. Pure: no Node, no network, no clock. */
export type { Dialect } from './dialect.ts';

/** The rule that decided. */
export interface MatchedRule {
  readonly directive: 'allow' | 'disallow';
  /** As written in the file. */
  readonly pattern: string;
  /** 1-based. */
  readonly line: number;
}

/** The group, merged from all groups of one agent, that applied. */
export interface MatchedGroup {
  /** The agent as the file names it, or `*`. */
  readonly agent: string;
  /** 1-based lines of the user-agent lines that made it apply. */
  readonly lines: readonly number[];
}
