import type { DialectTraits } from './dialect.ts';
import { DOLLAR, STAR } from './octets.ts';
import type { Symbols } from './path.ts';
import { endsWith, endsWithFolding, find, findFolding } from './search.ts';
import type { MatchedGroup } from './verdict.ts';

/*
 * The rules of one agent in one file, compiled. One Int32Array holds them, because a crawler keeps many
 * thousands of files. A rule takes four words:
 *
 *   0  where its pattern stands in the file
 *   1  flags; above them the octets as written or, if REWRITTEN, the index of its entry
 *   2  literal rules: octets of the pattern; wild rules: which octets it needs (occurrence bits)
 *   3  what tells most targets apart without a look at the file, which is far away in memory: octets 1 to 4 of
 *      a literal pattern (`headOf`), or in a table its hash
 *
 * A pattern that is not its own normal form (REWRITTEN) has an entry of four words: where the normal form stands
 * in `extra`, its octets, priority, octets as written.
 */
export const RULE_WORDS = 4;
export const ENTRY_WORDS = 4;

export const ALLOW = 1;
export const ANCHORED = 2;
export const REWRITTEN = 4;
export const FOLDS = 8;
export const WILD = 16;
export const FLAG_BITS = 5;

/** Nothing decides. */
export const NO_RULE = -1;

export interface ProgramParts {
  /** Whom the rules were written for: the agent by name, all agents, or nobody that fits. */
  readonly scope: 'named' | 'all' | 'none';
  /** Of the groups that apply; -1 when they name none. */
  readonly crawlDelayMs: number;
  readonly bytes: Uint8Array;
  readonly traits: DialectTraits;
  readonly words: Int32Array;
  readonly entryBase: number;
  readonly extra: Uint8Array;
  /** Rules, literal and wild. */
  readonly count: number;
  readonly hasWild: boolean;
}

export abstract class Program {
  readonly scope: 'named' | 'all' | 'none';
  readonly crawlDelayMs: number;
  readonly count: number;
  /** Whether targets are to be read with their occurrence bits. */
  readonly hasWild: boolean;
  /** Filled by the file when somebody asks why. */
  group: MatchedGroup | undefined = undefined;
  protected readonly words: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly extra: Uint8Array;
  private readonly entryBase: number;
  private readonly traits: DialectTraits;

  constructor(parts: ProgramParts) {
    this.scope = parts.scope;
    this.crawlDelayMs = parts.crawlDelayMs;
    this.count = parts.count;
    this.hasWild = parts.hasWild;
    this.words = parts.words;
    this.bytes = parts.bytes;
    this.extra = parts.extra;
    this.entryBase = parts.entryBase;
    this.traits = parts.traits;
  }

  /** Number of the rule that decides `target`, {@link NO_RULE} if none does. Allocates nothing. */
  abstract decide(target: Symbols): number;

  isAllow(rule: number): boolean {
    return (this.words[rule * RULE_WORDS + 1]! & ALLOW) !== 0;
  }

  /** Where the pattern of `rule` starts in the file. */
  offsetOf(rule: number): number {
    return this.words[rule * RULE_WORDS]!;
  }

  /** "The most specific match … is the match that has the most octets" (RFC 9309 §2.2.2). */
  priorityOf(rule: number): number {
    const facts = this.words[rule * RULE_WORDS + 1]!;
    return (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.entryOf(facts) + 2]!;
  }

  /** Octets of the pattern as written, the anchor included. */
  writtenLengthOf(rule: number): number {
    const facts = this.words[rule * RULE_WORDS + 1]!;
    return (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.entryOf(facts) + 3]!;
  }

  /** Whether one rule, by itself, fits. */
  protected fits(rule: number, target: Symbols): boolean {
    const wild = (this.words[rule * RULE_WORDS + 1]! & WILD) !== 0;
    return wild ? this.wildFits(rule, target) : this.literalFits(rule, target);
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

  protected get decidesByOrder(): boolean {
    return this.traits.decides === 'first';
  }

  protected literalFits(rule: number, target: Symbols): boolean {
    const word = rule * RULE_WORDS;
    const length = this.words[word + 2]!;
    const octets = target.octets;
    if (length > target.length) return false;
    const facts = this.words[word + 1]!;
    if ((facts & ANCHORED) !== 0 && length !== target.length) return false;
    let text = this.bytes;
    let start = this.words[word]!;
    if ((facts & REWRITTEN) !== 0) {
      text = this.extra;
      start = this.words[this.entryOf(facts)]!;
    }
    // Nearly all patterns start alike: they differ sooner from their end.
    for (let at = length - 1; at >= 0; at--) if (text[start + at] !== octets[at]) return false;
    return true;
  }

  /** {@link literalFits} for a text that is its own normal form. */
  protected literalFitsText(
    rule: number,
    octets: number,
    text: string,
    from: number,
    length: number,
  ): boolean {
    const word = rule * RULE_WORDS;
    const facts = this.words[word + 1]!;
    if ((facts & ANCHORED) !== 0 && octets !== length) return false;
    const rewritten = (facts & REWRITTEN) !== 0;
    const pattern = rewritten ? this.extra : this.bytes;
    const start = rewritten ? this.words[this.entryOf(facts)]! : this.words[word]!;
    for (let at = octets - 1; at >= 0; at--)
      if (pattern[start + at] !== text.charCodeAt(from + at)) return false;
    return true;
  }

  /** Whether the literal prefix of a wild rule, which is `length` octets long, fits. */
  protected prefixFits(rule: number, length: number, target: Symbols): boolean {
    const facts = this.words[rule * RULE_WORDS + 1]!;
    const rewritten = (facts & REWRITTEN) !== 0;
    const text = rewritten ? this.extra : this.bytes;
    const start = rewritten ? this.words[this.entryOf(facts)]! : this.words[rule * RULE_WORDS]!;
    for (let at = 0; at < length; at++) if (text[start + at] !== target.octets[at]) return false;
    return true;
  }

  /**
   * Whether a wild rule fits. Leftmost search, piece by piece, never going back: a later piece has the most room
   * when every earlier one stands leftmost.
   */
  protected wildFits(rule: number, target: Symbols): boolean {
    const word = rule * RULE_WORDS;
    if ((this.words[word + 2]! & ~target.occurrence) !== 0) return false;
    const facts = this.words[word + 1]!;
    let pieces = this.bytes;
    let start = this.words[word]!;
    let end = start + (facts >>> FLAG_BITS);
    if ((facts & REWRITTEN) !== 0) {
      const entry = this.entryOf(facts);
      pieces = this.extra;
      start = this.words[entry]!;
      end = start + this.words[entry + 1]!;
      // A final `$` is the anchor even where a `*` before it makes it void.
    } else if (pieces[end - 1] === DOLLAR) end--;

    const octets = target.octets;
    const length = target.length;
    let position = 0;
    let at = start;
    for (let octet: number; (octet = pieces[at]!) !== STAR; at++, position++) {
      if (position >= length || octets[position] !== octet) return false;
    }
    for (;;) {
      while (at < end && pieces[at] === STAR) at++;
      if (at === end) return true;
      let pieceEnd = at + 1;
      while (pieceEnd < end && pieces[pieceEnd] !== STAR) pieceEnd++;
      if (pieceEnd === end && (facts & ANCHORED) !== 0) {
        return (facts & FOLDS) === 0
          ? endsWith(octets, position, length, pieces, at, end)
          : endsWithFolding(target, position, pieces, at, end);
      }
      if ((facts & FOLDS) === 0) {
        const hit = find(octets, position, length, pieces, at, pieceEnd);
        if (hit < 0) return false;
        position = hit + pieceEnd - at;
      } else {
        position = findFolding(target, position, pieces, at, pieceEnd);
        if (position < 0) return false;
      }
      at = pieceEnd;
    }
  }

  private entryOf(facts: number): number {
    return this.entryBase + (facts >>> FLAG_BITS) * ENTRY_WORDS;
  }
}

/** How much of {@link headOf} counts for a pattern of so many octets. */
const HEAD_MASK = Int32Array.of(0, 0, 0xff, 0xffff, 0xff_ffff, -1);

/** Octets 1 to 4 of a normal form; number 0 is a slash anyway. */
export function headOf(octets: Uint8Array, start: number, length: number): number {
  let head = 0;
  for (let at = Math.min(length, 5) - 1; at > 0; at--) head = (head << 8) | octets[start + at]!;
  return head;
}

/** Few rules: they stand best first, so the first that fits is the one. */
export class ShortProgram extends Program {
  /** All rules that fit, best first. */
  matches(target: Symbols): number[] {
    const all: number[] = [];
    for (let rule = 0; rule < this.count; rule++) if (this.fits(rule, target)) all.push(rule);
    return all;
  }

  /**
   * {@link decide} for a target that is its own normal form, when no rule is wild: it is read no further than a
   * rule asks.
   */
  decideText(text: string, start: number, end: number): number {
    const words = this.words;
    const length = end - start;
    let head = 0;
    for (let at = length < 5 ? length - 1 : 4; at > 0; at--) head = (head << 8) | text.charCodeAt(start + at);
    for (let rule = 0, word = 0; rule < this.count; rule++, word += RULE_WORDS) {
      const octets = words[word + 2]!;
      if (((words[word + 3]! ^ head) & HEAD_MASK[octets > 5 ? 5 : octets]!) !== 0) continue;
      if (octets <= length && this.literalFitsText(rule, octets, text, start, length)) return rule;
    }
    return NO_RULE;
  }

  decide(target: Symbols): number {
    const words = this.words;
    const head = headOf(target.octets, 0, target.length);
    for (let rule = 0, word = 0; rule < this.count; rule++, word += RULE_WORDS) {
      if ((words[word + 1]! & WILD) !== 0) {
        if (this.wildFits(rule, target)) return rule;
      } else {
        const length = words[word + 2]!;
        if (((words[word + 3]! ^ head) & HEAD_MASK[length > 5 ? 5 : length]!) !== 0) continue;
        if (this.literalFits(rule, target)) return rule;
      }
    }
    return NO_RULE;
  }
}
