/** The rule that decided. */
export interface MatchedRule {
  readonly directive: 'allow' | 'disallow';
  /**
   * The pattern as written, at most its first 2,000 bytes, so that a verdict is bounded. `file.groups` has the whole
   * pattern. Invalid UTF-8 shows as U+FFFD.
   */
  readonly pattern: string;
  /** 1-based. */
  readonly line: number;
}

/** The group that applied, merged from all groups of one agent. */
export interface MatchedGroup {
  /** The agent as the file names it, or `*`. */
  readonly agent: string;
  /** 1-based line numbers of the user-agent lines of the group: the first 100. */
  readonly lines: readonly number[];
  /** The number of further lines. */
  readonly omitted?: number;
}

/**
 * The verdict of a file on one target for one agent. Every verdict has `rule` and `group`, possibly `undefined`, so
 * that `verdict.rule?.line` needs no narrowing.
 */
export type Verdict =
  | {
      /** The target is `/robots.txt` itself. RFC 9309 §2.2.2: "The /robots.txt URI is implicitly allowed." */
      readonly allowed: true;
      readonly reason: 'robots-txt';
      readonly rule?: never;
      readonly group?: never;
    }
  | RuleVerdict;

/** A verdict from the groups and rules of a file. */
export type RuleVerdict =
  | {
      readonly allowed: boolean;
      readonly reason: 'rule';
      readonly rule: MatchedRule;
      readonly group: MatchedGroup;
    }
  | {
      /** No rule of the group matches. */
      readonly allowed: true;
      readonly reason: 'no-rule';
      readonly rule?: never;
      readonly group: MatchedGroup;
    }
  | {
      /** No group names the agent, and there is no group for `*`. */
      readonly allowed: true;
      readonly reason: 'no-group';
      readonly rule?: never;
      readonly group?: never;
    };

/** A verdict with the rule that came closest to deciding. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly runnerUp?: {
    readonly rule: MatchedRule;
    /**
     * Why it lost. `shorter`: its pattern has fewer bytes. `tie`: as many, and allow beats disallow, or the first
     * line beats later ones. `later`: the dialect takes the first match in file order.
     */
    readonly lost: 'shorter' | 'tie' | 'later';
  };
  /** What the group of `*` says, when it would decide otherwise: a group that names the agent replaces it. */
  readonly star?: RuleVerdict;
  /** A group that goes on behind a record that does not end it, so that it has agents which its author did not mean. */
  readonly runsOn?: {
    /** The first user-agent line of the group. */
    readonly from: number;
    /** The record between its user-agent lines, and its line. */
    readonly directive: string;
    readonly line: number;
  };
  /** No rule matches, but one is close: but for its case, for a slash at the end, or for what is before it. */
  readonly nearMiss?: {
    readonly rule: MatchedRule;
    readonly differs: 'case' | 'slash' | 'start';
  };
}
