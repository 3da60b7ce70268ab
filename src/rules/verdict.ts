/** The rule that decided. */
export interface MatchedRule {
  readonly directive: 'allow' | 'disallow';
  /** As written in the file; invalid UTF-8 shows as U+FFFD. */
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

/** What a file says about one target and one agent. */
export type Verdict = { readonly allowed: true; readonly reason: 'robots-txt' } | RuleVerdict;

/** What its groups and rules say. */
export type RuleVerdict =
  | {
      readonly allowed: boolean;
      readonly reason: 'rule';
      readonly rule: MatchedRule;
      readonly group: MatchedGroup;
    }
  | { readonly allowed: true; readonly reason: 'no-rule'; readonly group: MatchedGroup }
  | { readonly allowed: true; readonly reason: 'no-group' };

/** A verdict with the rule that came closest to deciding. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly runnerUp?: {
    readonly rule: MatchedRule;
    /**
     * Why it lost. `shorter`: its pattern has fewer octets. `tie`: as many, and allow beats disallow, or the first
     * line beats later ones. `later`: the dialect takes the first match in file order.
     */
    readonly lost: 'shorter' | 'tie' | 'later';
  };
}
