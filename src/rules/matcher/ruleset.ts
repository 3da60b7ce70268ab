import type { DialectTraits } from '../dialect.ts';
import type { Selection } from './select.ts';
import type { MatchedGroup, MatchedRule } from '../verdict.ts';

/*
 * The compiled rules of one agent in one file. One Int32Array holds them, because a crawler keeps many thousands of
 * files; README.md draws the layout. It begins with the rules, three words each:
 *
 *   0  literal rules: octets 1 to 4 of the pattern; wild rules: their byte mask
 *   1  offset of the pattern in the file, and its length, of a literal rule before the final `*` or `$`; or, if
 *      DETAILED, the index of its details
 *   2  line of the file, whether a literal rule ends with one `*` or `$`, octets of word 0 that count, flags
 *
 * A rule has details when its pattern is not its own normal form (REWRITTEN), or when a number needs more bits: six
 * words after the rules and the sieves.
 */
export const RULE_WORDS = 3;
export const DETAIL_WORDS = 6;

export const ALLOW = 1;
export const ANCHORED = 2;
export const REWRITTEN = 4;
export const FOLDS = 8;
export const WILD = 16;
export const DETAILED = 32;
export const FLAG_BITS = 6;

/** Word 1: the offset is above the length. Word 2: the line is above the rest. */
export const LOW_BITS = 12;
const LOW = (1 << LOW_BITS) - 1;
/** Offsets from here on need details. Lines are fewer than octets. */
export const HIGH_LIMIT: number = 1 << (32 - LOW_BITS);
/** Longer patterns have details: a description does not show all of them. */
export const MAX_PLAIN_OCTETS = 2_000;
/**
 * Word 2: behind the flags, how many octets of word 0 count, 0 and 2 to 5 with the slash; from this bit on, how many octets
 * follow the literal part of a literal rule: none, or one `*` or `$`.
 */
export const TAIL_SHIFT: number = FLAG_BITS + 3;

/** The number of octets that a rule and a target are compared by first: octet 0, and the four of word 0. */
export const HEAD_OCTETS = 5;

/** No rule fits the target. */
export const NO_RULE = -1;

/** A rule in the file. */
export interface WrittenRule {
  readonly allow: boolean;
  /** Offset of its pattern in the file. */
  readonly offset: number;
  /** Length of its pattern as written, in octets, including the anchor. */
  readonly writtenLength: number;
  /** 1-based. */
  readonly line: number;
}

/** A rule that fits a target. */
export interface FittingRule extends WrittenRule {
  /** The number of octets that count for precedence. The larger number is more specific. */
  readonly priority: number;
}

// V8 compiles constants of a module into its code, but reads imported and exported ones each time.
const WORDS = RULE_WORDS;
const TO_THE_END = ANCHORED;
const IN_EXTRA = REWRITTEN;
const HAS_DETAILS = DETAILED;
const HIGH_AT = LOW_BITS;
const TAIL_AT = TAIL_SHIFT;
const HEAD = HEAD_OCTETS;

export abstract class Ruleset {
  readonly scope: Selection['scope'];
  readonly crawlDelayMs: number;
  /** The groups that apply, as one; absent when there is none. */
  readonly group: MatchedGroup | undefined;
  /** The number of rules, literal and wild. */
  readonly count: number;
  /** The number of rules that are tried one after the other. They come first. */
  protected readonly listed: number;
  readonly words: Int32Array;
  readonly extra: Uint8Array;
  protected readonly bytes: Uint8Array;
  private readonly traits: DialectTraits;

  constructor(
    { scope, crawlDelayMs }: Selection,
    group: MatchedGroup | undefined,
    bytes: Uint8Array,
    traits: DialectTraits,
    words: Int32Array,
    extra: Uint8Array,
    count: number,
    listed: number,
  ) {
    this.scope = scope;
    this.crawlDelayMs = crawlDelayMs;
    this.group = group;
    this.count = count;
    this.listed = listed;
    this.words = words;
    this.bytes = bytes;
    this.extra = extra;
    this.traits = traits;
  }

  /**
   * Returns the number of the rule that decides `octets[start, end)`, a target in normal form, or {@link NO_RULE}.
   * Allocates nothing.
   *
   * @param byteMask The byte mask of the target; extra bits are harmless.
   */
  abstract decide(octets: Uint8Array, start: number, end: number, byteMask: number): number;

  isAllow(rule: number): boolean {
    return (this.words[rule * WORDS + 2]! & ALLOW) !== 0;
  }

  /**
   * The description of `rule`, which fits the target that starts at `start` of `text`, a target that is its own normal
   * form. The target then begins with the pattern. `undefined` when it does not, because the rule is wild or rewritten.
   */
  describeIn(rule: number, text: string, start: number): MatchedRule | undefined {
    const facts = this.words[rule * WORDS + 2]!;
    if ((facts & (WILD | DETAILED)) !== 0) return undefined;
    const begin = text.slice(start, start + this.sizeOf(rule * WORDS));
    return {
      directive: this.isAllow(rule) ? 'allow' : 'disallow',
      pattern: ((facts >> TAIL_AT) & 1) === 0 ? begin : begin + ((facts & TO_THE_END) === 0 ? '*' : '$'),
      line: facts >>> HIGH_AT,
    };
  }

  /** Number `detail` of the details of the rule at `word`, or `short` when it has none. */
  private detail(word: number, detail: number, short: number): number {
    const { words } = this;
    return (words[word + 2]! & HAS_DETAILS) === 0 ? short : words[words[word + 1]! + detail]!;
  }

  /** The array that holds the normal form of the rule at `word`. */
  protected octetsOf(word: number): Uint8Array {
    return (this.words[word + 2]! & IN_EXTRA) === 0 ? this.bytes : this.extra;
  }

  /** Where its normal form starts there. */
  protected startOf(word: number): number {
    return this.detail(word, 0, this.words[word + 1]! >>> HIGH_AT);
  }

  /** The length of its normal form; of a literal rule before the final `*` and `$`. */
  protected sizeOf(word: number): number {
    return this.detail(word, 1, this.words[word + 1]! & LOW);
  }

  private offsetOf(word: number): number {
    return this.detail(word, 4, this.words[word + 1]! >>> HIGH_AT);
  }

  /** "The most specific match … is the match that has the most octets" (RFC 9309 §2.2.2). */
  private priorityOf(word: number): number {
    return this.detail(word, 2, this.writtenOf(word));
  }

  private writtenOf(word: number): number {
    return (this.words[word + 1]! & LOW) + ((this.words[word + 2]! >> TAIL_AT) & 1);
  }

  /** The type of `rule`, and the position of its pattern in the file. */
  ruleAt(rule: number): WrittenRule {
    const word = rule * WORDS;
    return {
      allow: this.isAllow(rule),
      offset: this.offsetOf(word),
      writtenLength: this.detail(word, 3, this.writtenOf(word)),
      line: this.detail(word, 5, this.words[word + 2]! >>> HIGH_AT),
    };
  }

  /** Whether `rule` takes precedence over `other` where both fit. */
  protected beats(rule: number, other: number): boolean {
    const word = rule * WORDS;
    const others = other * WORDS;
    if (this.traits.decides === 'longest') {
      const more = this.priorityOf(word) - this.priorityOf(others);
      if (more !== 0) return more > 0;
      // "If an "allow" rule and a "disallow" rule are equivalent, then the "allow" rule SHOULD be used."
      if (this.isAllow(rule) !== this.isAllow(other)) return this.isAllow(rule);
    }
    return this.offsetOf(word) < this.offsetOf(others);
  }

  /** Whether a literal rule fits. The caller has compared the first {@link HEAD_OCTETS} octets already. */
  protected literalFits(
    word: number,
    facts: number,
    octets: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    const size = this.sizeOf(word);
    const room = end - start;
    if (size > room || ((facts & TO_THE_END) !== 0 && size !== room)) return false;
    const pattern = this.octetsOf(word);
    const from = this.startOf(word);
    // Most patterns share a prefix, so comparing from the end finds a difference sooner.
    for (let at = size - 1; at >= HEAD; at--) if (pattern[from + at] !== octets[start + at]) return false;
    return true;
  }
}
