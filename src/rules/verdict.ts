/** The rule that decided. */
export interface MatchedRule {
  readonly directive: 'allow' | 'disallow';
  /**
   * As written in the file, its first 2,000 octets: an answer about one URL is no longer than that, whatever the file
   * holds. `file.groups` has it whole. Invalid UTF-8 shows as U+FFFD.
   */
  readonly pattern: string;
  /** 1-based. */
  readonly line: number;
}

/** The group, merged from all groups of one agent, that applied. */
export interface MatchedGroup {
  /** The agent as the file names it, or `*`. */
  readonly agent: string;
  /** 1-based lines of the user-agent lines that made it apply: the first 100. */
  readonly lines: readonly number[];
  /** How many more there are. */
  readonly omitted?: number;
}

/**
 * What a file says about one target and one agent. Every verdict has `rule` and `group`, possibly `undefined`, so that
 * `verdict.rule?.line` needs no narrowing.
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

/** What the groups and rules of a file say. */
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
     * Why it lost. `shorter`: its pattern has fewer octets. `tie`: as many, and allow beats disallow, or the first
     * line beats later ones. `later`: the dialect takes the first match in file order.
     */
    readonly lost: 'shorter' | 'tie' | 'later';
  };
}
