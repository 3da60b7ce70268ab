import type { DialectTraits } from '../dialect.ts';
import { DOLLAR } from '../octets.ts';
import { wildFits } from './search.ts';
import type { MatchedGroup, MatchedRule } from '../verdict.ts';

/*
 * The compiled rules of one agent in one file. One Int32Array holds them, because a crawler keeps many thousands of
 * files; README.md draws the layout. First come words that exclude most rules without reading the file, which would
 * cost a cache miss. Then the rules, three words each:
 *
 *   0  offset of the pattern in the file
 *   1  flags; in the bits above them the length as written or, if REWRITTEN, the index of the entry
 *   2  number of octets before the first wildcard, in normal form
 *
 * A pattern that is not its own normal form (REWRITTEN) has an entry of four words, after the rules: offset of the
 * normal form in `extra`, its length, priority, length as written.
 */
export const RULE_WORDS = 3;
export const ENTRY_WORDS = 4;

export const ALLOW = 1;
export const ANCHORED = 2;
export const REWRITTEN = 4;
export const FOLDS = 8;
export const WILD = 16;
export const FLAG_BITS = 5;

/** No rule fits the target. */
export const NO_RULE = -1;

/** The memory that V8 uses for a described rule without its pattern, in octets. */
const EXPLAINED_RULE_BYTES = 110;

/** A rule that fits a target. */
export interface FittingRule {
  readonly allow: boolean;
  /** Offset of its pattern in the file. */
  readonly offset: number;
  /** Length of its pattern as written, in octets, including the anchor. */
  readonly writtenLength: number;
  /** The number of octets that count for precedence. The larger number is more specific. */
  readonly priority: number;
}

export interface RulesetParts {
  /** `named`: groups that name the agent apply. `all`: the groups for `*`. `none`: no group applies. */
  readonly scope: 'named' | 'all' | 'none';
  /** The longest `Crawl-delay` of the groups that apply, in ms; -1 when there is none. */
  readonly crawlDelayMs: number;
  /** Offsets of the user-agent lines that made the groups apply. */
  readonly agentLines: readonly number[];
  readonly bytes: Uint8Array;
  readonly traits: DialectTraits;
  readonly words: Int32Array;
  /** Index of the first rule in `words`. */
  readonly ruleBase: number;
  readonly extra: Uint8Array;
  /** The number of rules, literal and wild. */
  readonly count: number;
}

export abstract class Ruleset {
  readonly scope: 'named' | 'all' | 'none';
  readonly crawlDelayMs: number;
  /** Offsets of the user-agent lines that made the groups apply. */
  readonly agentLines: readonly number[];
  readonly count: number;
  /** The description of the group. The file sets it when a verdict is first explained. */
  group: MatchedGroup | undefined = undefined;
  /** Descriptions by rule number, within the limit of {@link keepExplained}. */
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
   * Returns the number of the rule that decides `octets[start, end)`, a target in normal form, or {@link NO_RULE}.
   * Allocates nothing.
   *
   * @param byteMask The byte mask of the target; extra bits are harmless.
   */
  abstract decide(octets: Uint8Array, start: number, end: number, byteMask: number): number;

  isAllow(rule: number): boolean {
    return (this.words[this.wordOf(rule) + 1]! & ALLOW) !== 0;
  }

  protected isWild(rule: number): boolean {
    return (this.words[this.wordOf(rule) + 1]! & WILD) !== 0;
  }

  /** Keeps the description of `rule`, while all descriptions take no more than an eighth of the file and 1 KiB. */
  keepExplained(rule: number, matched: MatchedRule): void {
    const bytes = this.explainedBytes + EXPLAINED_RULE_BYTES + matched.pattern.length;
    if (bytes > 1_024 + (this.bytes.length >> 3)) return;
    this.explainedBytes = bytes;
    (this.explained ??= new Map()).set(rule, matched);
  }

  /** Offset of the pattern of `rule` in the file. */
  offsetOf(rule: number): number {
    return this.words[this.wordOf(rule)]!;
  }

  /** "The most specific match … is the match that has the most octets" (RFC 9309 §2.2.2). */
  priorityOf(rule: number): number {
    const facts = this.words[this.wordOf(rule) + 1]!;
    return (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.entryOf(facts) + 2]!;
  }

  /** The type of `rule` and the position of its pattern in the file. */
  ruleAt(rule: number): Omit<FittingRule, 'priority'> {
    const facts = this.words[this.wordOf(rule) + 1]!;
    return {
      allow: (facts & ALLOW) !== 0,
      offset: this.offsetOf(rule),
      writtenLength: (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.entryOf(facts) + 3]!,
    };
  }

  /** Whether `rule` takes precedence over `other` where both fit. */
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
   * Whether a literal rule fits. The caller has compared the first `known` octets already.
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
    // Most patterns share a prefix, so comparing from the end finds a difference sooner.
    for (let at = size - 1; at >= known; at--) if (pattern[from + at] !== octets[start + at]) return false;
    return true;
  }

  /** Whether a wild rule fits the target given to `startSearch`. */
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
      // A final `$` is always the anchor, also after a `*`, where it has no effect.
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
