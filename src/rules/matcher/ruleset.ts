import type { DialectTraits } from '../dialect.ts';
import { DOLLAR } from '../octets.ts';
import { wildFits } from './search.ts';
import type { MatchedGroup, MatchedRule } from '../verdict.ts';

/*
 * The rules of one agent in one file, compiled. One Int32Array holds them, because a crawler keeps many
 * thousands of files; README.md draws it. First comes what tells most targets apart, without a look at the file,
 * which is far away in memory. Then the rules, three words each:
 *
 *   0  where its pattern stands in the file
 *   1  flags; above them the octets as written or, if REWRITTEN, the index of its entry
 *   2  octets before the first wildcard, in normal form
 *
 * A pattern that is not its own normal form (REWRITTEN) has an entry of four words, behind the rules: where the
 * normal form stands in `extra`, its octets, priority, octets as written.
 */
export const RULE_WORDS = 3;
export const ENTRY_WORDS = 4;

export const ALLOW = 1;
export const ANCHORED = 2;
export const REWRITTEN = 4;
export const FOLDS = 8;
export const WILD = 16;
export const FLAG_BITS = 5;

/** Nothing decides. */
export const NO_RULE = -1;

/** The memory that V8 uses for a described rule, in octets, its pattern apart. */
const EXPLAINED_RULE_BYTES = 110;

/** A rule that fits a target. */
export interface FittingRule {
  readonly allow: boolean;
  /** Where its pattern stands in the file. */
  readonly offset: number;
  /** Octets of its pattern as written, the anchor included. */
  readonly writtenLength: number;
  /** Octets that count: the more, the more specific. */
  readonly priority: number;
}

export interface RulesetParts {
  /** Whom the rules were written for: the agent by name, all agents, or nobody that fits. */
  readonly scope: 'named' | 'all' | 'none';
  /** Of the groups that apply; -1 when they name none. */
  readonly crawlDelayMs: number;
  /** Where the user-agent lines that name them start. */
  readonly agentLines: readonly number[];
  readonly bytes: Uint8Array;
  readonly traits: DialectTraits;
  readonly words: Int32Array;
  /** Where the rules start. */
  readonly ruleBase: number;
  readonly extra: Uint8Array;
  /** Rules, literal and wild. */
  readonly count: number;
}

export abstract class Ruleset {
  readonly scope: 'named' | 'all' | 'none';
  readonly crawlDelayMs: number;
  /** Where the user-agent lines that name them start. */
  readonly agentLines: readonly number[];
  readonly count: number;
  /** Filled by the file when somebody asks why. */
  group: MatchedGroup | undefined = undefined;
  /** Described rules by their numbers, as far as there is room. The file fills it. */
  explained: Map<number, MatchedRule> | undefined = undefined;
  /** Estimated memory of {@link explained}, in octets. */
  explainedBytes = 0;
  readonly words: Int32Array;
  readonly extra: Uint8Array;
  protected readonly bytes: Uint8Array;
  protected readonly ruleBase: number;
  private readonly entryBase: number;
  private readonly traits: DialectTraits;

  constructor(parts: RulesetParts) {
    this.scope = parts.scope;
    this.crawlDelayMs = parts.crawlDelayMs;
    this.agentLines = parts.agentLines;
    this.count = parts.count;
    this.words = parts.words;
    this.bytes = parts.bytes;
    this.extra = parts.extra;
    this.ruleBase = parts.ruleBase;
    this.entryBase = parts.ruleBase + parts.count * RULE_WORDS;
    this.traits = parts.traits;
  }

  /**
   * Number of the rule that decides `octets[start, end)`, a target in normal form; {@link NO_RULE} if none does.
   * Allocates nothing.
   *
   * @param byteMask At least the byte mask of the target.
   */
  abstract decide(octets: Uint8Array, start: number, end: number, byteMask: number): number;

  isAllow(rule: number): boolean {
    return (this.words[this.wordOf(rule) + 1]! & ALLOW) !== 0;
  }

  protected isWild(rule: number): boolean {
    return (this.words[this.wordOf(rule) + 1]! & WILD) !== 0;
  }

  /** Keeps the description of `rule`, within an eighth of the size of the file. */
  keepExplained(rule: number, matched: MatchedRule): void {
    const bytes = this.explainedBytes + EXPLAINED_RULE_BYTES + matched.pattern.length;
    if (bytes > 1_024 + (this.bytes.length >> 3)) return;
    this.explainedBytes = bytes;
    (this.explained ??= new Map()).set(rule, matched);
  }

  /** Where the pattern of `rule` starts in the file. */
  offsetOf(rule: number): number {
    return this.words[this.wordOf(rule)]!;
  }

  /** "The most specific match … is the match that has the most octets" (RFC 9309 §2.2.2). */
  priorityOf(rule: number): number {
    const facts = this.words[this.wordOf(rule) + 1]!;
    return (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.entryOf(facts) + 2]!;
  }

  /** What describes `rule`. */
  ruleAt(rule: number): Omit<FittingRule, 'priority'> {
    const facts = this.words[this.wordOf(rule) + 1]!;
    return {
      allow: (facts & ALLOW) !== 0,
      offset: this.offsetOf(rule),
      writtenLength: (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.entryOf(facts) + 3]!,
    };
  }

  /** Whether `rule` wins over `other`, both fitting. */
  protected beats(rule: number, other: number): boolean {
    if (this.traits.decides === 'longest') {
      const more = this.priorityOf(rule) - this.priorityOf(other);
      if (more !== 0) return more > 0;
      // "If an "allow" rule and a "disallow" rule are equivalent, then the "allow" rule SHOULD be used."
      if (this.isAllow(rule) !== this.isAllow(other)) return this.isAllow(rule);
    }
    return this.offsetOf(rule) < this.offsetOf(other);
  }

  /**
   * Whether a literal rule fits. The first `known` octets are the same, as far as the pattern has so many.
   */
  protected literalFits(
    rule: number,
    octets: Uint8Array,
    start: number,
    end: number,
    known: number,
  ): boolean {
    const word = this.wordOf(rule);
    const size = this.words[word + 2]!;
    if (size > end - start) return false;
    const facts = this.words[word + 1]!;
    if ((facts & ANCHORED) !== 0 && size !== end - start) return false;
    let pattern = this.bytes;
    let from = this.words[word]!;
    if ((facts & REWRITTEN) !== 0) {
      pattern = this.extra;
      from = this.words[this.entryOf(facts)]!;
    }
    // Nearly all patterns start alike: they differ sooner from their end.
    for (let at = size - 1; at >= known; at--) if (pattern[from + at] !== octets[start + at]) return false;
    return true;
  }

  /** Whether a wild rule fits the target that is searched. */
  protected wildFits(rule: number): boolean {
    const word = this.wordOf(rule);
    const facts = this.words[word + 1]!;
    let pieces = this.bytes;
    let at = this.words[word]!;
    let last = at + (facts >>> FLAG_BITS);
    if ((facts & REWRITTEN) !== 0) {
      const entry = this.entryOf(facts);
      pieces = this.extra;
      at = this.words[entry]!;
      last = at + this.words[entry + 1]!;
      // A final `$` is the anchor even where a `*` before it makes it void.
    } else if (pieces[last - 1] === DOLLAR) last--;
    return wildFits(pieces, at, last, (facts & ANCHORED) !== 0, (facts & FOLDS) !== 0);
  }

  protected wordOf(rule: number): number {
    return this.ruleBase + rule * RULE_WORDS;
  }

  protected entryOf(facts: number): number {
    return this.entryBase + (facts >>> FLAG_BITS) * ENTRY_WORDS;
  }
}
