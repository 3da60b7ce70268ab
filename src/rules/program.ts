import type { DialectTraits } from './dialect.ts';
import type { MatchedGroup } from './file.ts';
import { DOLLAR, STAR } from './octets.ts';
import type { Symbols } from './path.ts';
import { endsWith, endsWithFolding, find, findFolding } from './search.ts';

/*
 * The rules of one agent in one file, compiled. One Int32Array holds everything, because a crawler keeps many
 * thousands of these:
 *
 *   literal rules   2 words each: where the pattern stands in the file; facts
 *   wild rules      3 words each: the same; occurrence bits
 *   rewritten       4 words each, for patterns that are not compared as they stand:
 *                   where the symbols stand in `extra`, their number, priority, octets as written
 *   wild nodes      3 words each: first rule, end rule, literal length: the wild rules behind one literal prefix
 *   lengths         the distinct literal lengths, longest first; of literal rules, then of wild nodes
 *   slots           two open-addressed tables of 16-bit (or, if `wide`, 32-bit) numbers: literal text → rule,
 *                   literal prefix → wild node
 *
 * A question hashes the target's prefixes once, octet by octet, and probes only the lengths that occur. So its
 * cost does not grow with the number of prefix rules, and wild rules are looked at only where their literal
 * prefix fits.
 */

export const ALLOW = 1;
export const ANCHORED = 2;
export const REWRITTEN = 4;
export const FOLDS = 8;
/** Facts: flags below, above them the octets as written or, if REWRITTEN, the index of the rewritten entry. */
export const FLAG_BITS = 4;

export const HASH_SEED = -0x7ee3623b;
export const HASH_FACTOR = 0x01000193;
/** FNV's low bits alone are not mixed well enough for tables. */
export const slotOf: (hash: number, mask: number) => number = (hash, mask) =>
  (hash ^ (hash >>> 15) ^ (hash >>> 7)) & mask;

/** Nothing decides. */
export const NO_RULE = -1;

export interface ProgramLayout {
  readonly literals: number;
  readonly wilds: number;
  readonly wildBase: number;
  readonly rewrittenBase: number;
  readonly nodeBase: number;
  readonly literalLengthBase: number;
  readonly literalLengths: number;
  readonly wildLengthBase: number;
  readonly wildLengths: number;
  readonly literalSlotBase: number;
  readonly literalSlotMask: number;
  readonly wildSlotBase: number;
  readonly wildSlotMask: number;
  readonly wide: boolean;
  /** The most by which a literal rule's priority exceeds its literal length. */
  readonly slack: number;
}

let hashes = new Int32Array(256);

export class Program {
  /** Filled by the file when somebody asks why. */
  group: MatchedGroup | undefined;
  /** Whom the rules were written for: the agent by name, all agents, or nobody that fits. */
  readonly scope: 'named' | 'all' | 'none';
  /** Of the groups that apply; -1 when they name none. */
  readonly crawlDelayMs: number;
  private readonly bytes: Uint8Array;
  private readonly traits: DialectTraits;
  private readonly words: Int32Array;
  private readonly extra: Uint8Array;
  private readonly layout: ProgramLayout;

  constructor(
    scope: 'named' | 'all' | 'none',
    crawlDelayMs: number,
    bytes: Uint8Array,
    traits: DialectTraits,
    words: Int32Array,
    extra: Uint8Array,
    layout: ProgramLayout,
  ) {
    this.scope = scope;
    this.crawlDelayMs = crawlDelayMs;
    this.bytes = bytes;
    this.traits = traits;
    this.words = words;
    this.extra = extra;
    this.layout = layout;
  }

  isAllow(rule: number): boolean {
    return (this.words[this.wordOf(rule) + 1]! & ALLOW) !== 0;
  }

  /** Where the pattern of `rule` starts in the file. */
  offsetOf(rule: number): number {
    return this.words[this.wordOf(rule)]!;
  }

  /** Number of the rule that decides `target`, {@link NO_RULE} if none does. Allocates nothing. */
  decide(target: Symbols): number {
    const layout = this.layout;
    const words = this.words;
    const longest = Math.max(
      layout.literalLengths > 0 ? words[layout.literalLengthBase]! : 0,
      layout.wildLengths > 0 ? words[layout.wildLengthBase]! : 0,
    );
    const limit = target.length < longest ? target.length : longest;
    hashPrefixes(target.octets, limit);
    const best = this.decideLiteral(target, limit);
    return layout.wildLengths === 0 ? best : this.decideWild(target, limit, best);
  }

  private decideLiteral(target: Symbols, limit: number): number {
    const layout = this.layout;
    const words = this.words;
    const first = this.traits.decides === 'first';
    let best = NO_RULE;
    const lengthEnd = layout.literalLengthBase + layout.literalLengths;
    for (let at = layout.literalLengthBase; at < lengthEnd; at++) {
      const length = words[at]!;
      if (length > limit) continue;
      if (best >= 0 && !first && this.priorityOf(best) > length + layout.slack) break;
      let slot = slotOf(hashes[length]!, layout.literalSlotMask);
      let entry: number;
      while ((entry = this.slotAt(layout.literalSlotBase, slot)) !== 0) {
        const rule = entry - 1;
        if (this.literalFits(rule, length, target) && (best < 0 || this.beats(rule, best))) best = rule;
        slot = (slot + 1) & layout.literalSlotMask;
      }
    }
    return best;
  }

  private decideWild(target: Symbols, limit: number, best: number): number {
    const layout = this.layout;
    const words = this.words;
    const lengthEnd = layout.wildLengthBase + layout.wildLengths;
    for (let at = layout.wildLengthBase; at < lengthEnd; at++) {
      const length = words[at]!;
      if (length > limit) continue;
      let slot = slotOf(hashes[length]!, layout.wildSlotMask);
      let entry: number;
      while ((entry = this.slotAt(layout.wildSlotBase, slot)) !== 0) {
        const node = layout.nodeBase + (entry - 1) * 3;
        if (words[node + 2] === length && this.prefixFits(words[node]!, length, target)) {
          best = this.decideNode(target, words[node]!, words[node + 1]!, length, best);
        }
        slot = (slot + 1) & layout.wildSlotMask;
      }
    }
    return best;
  }

  /** The wild rules of one node stand best first, so the first that fits is the one, and no worse is tried. */
  private decideNode(target: Symbols, rule: number, end: number, length: number, best: number): number {
    const occurrence = target.occurrence;
    for (; rule < end; rule++) {
      if (best >= 0 && !this.beats(rule, best)) return best;
      if ((this.words[this.wordOf(rule) + 2]! & ~occurrence) !== 0) continue;
      if (this.wildFits(rule, length, target)) return rule;
    }
    return best;
  }

  private wordOf(rule: number): number {
    const { literals, wildBase } = this.layout;
    return rule < literals ? rule * 2 : wildBase + (rule - literals) * 3;
  }

  /** "The most specific match … is the match that has the most octets" (RFC 9309 §2.2.2). */
  priorityOf(rule: number): number {
    const facts = this.words[this.wordOf(rule) + 1]!;
    return (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.rewritten(facts) + 2]!;
  }

  /** Octets of the pattern as written, the anchor included. */
  writtenLengthOf(rule: number): number {
    const facts = this.words[this.wordOf(rule) + 1]!;
    return (facts & REWRITTEN) === 0 ? facts >>> FLAG_BITS : this.words[this.rewritten(facts) + 3]!;
  }

  private rewritten(facts: number): number {
    return this.layout.rewrittenBase + (facts >>> FLAG_BITS) * 4;
  }

  /** Whether `rule` wins over `other`, both fitting. */
  private beats(rule: number, other: number): boolean {
    if (this.traits.decides === 'longest') {
      const more = this.priorityOf(rule) - this.priorityOf(other);
      if (more !== 0) return more > 0;
      // "If an "allow" rule and a "disallow" rule are equivalent, then the "allow" rule SHOULD be used."
      if (this.isAllow(rule) !== this.isAllow(other)) return this.isAllow(rule);
    }
    return this.offsetOf(rule) < this.offsetOf(other);
  }

  private literalFits(rule: number, length: number, target: Symbols): boolean {
    const word = rule * 2;
    const facts = this.words[word + 1]!;
    if ((facts & ANCHORED) !== 0 && length !== target.length) return false;
    if ((facts & REWRITTEN) !== 0) {
      const entry = this.rewritten(facts);
      return this.words[entry + 1] === length && same(this.extra, this.words[entry]!, target.octets, length);
    }
    const start = this.words[word]!;
    const written = facts >>> FLAG_BITS;
    const ends =
      written - (facts & ANCHORED) / ANCHORED === length ||
      (this.traits.wildcards && written > length && this.bytes[start + length] === STAR);
    return ends && same(this.bytes, start, target.octets, length);
  }

  private prefixFits(rule: number, length: number, target: Symbols): boolean {
    const word = this.wordOf(rule);
    const facts = this.words[word + 1]!;
    return (facts & REWRITTEN) === 0
      ? same(this.bytes, this.words[word]!, target.octets, length)
      : same(this.extra, this.words[this.rewritten(facts)]!, target.octets, length);
  }

  /**
   * Whether the part of a wild rule behind its literal prefix fits. Leftmost search, piece by piece, never
   * going back: a later piece has the most room when every earlier one stands leftmost.
   */
  private wildFits(rule: number, literalLength: number, target: Symbols): boolean {
    const word = this.wordOf(rule);
    const facts = this.words[word + 1]!;
    const anchored = (facts & ANCHORED) !== 0;
    const folds = (facts & FOLDS) !== 0;
    let pieces = this.bytes;
    let start = this.words[word]!;
    let end = start + (facts >>> FLAG_BITS);
    // A final `$` is the anchor even where a `*` before it makes it void.
    if (pieces[end - 1] === DOLLAR) end--;
    if ((facts & REWRITTEN) !== 0) {
      const entry = this.rewritten(facts);
      pieces = this.extra;
      start = this.words[entry]!;
      end = start + this.words[entry + 1]!;
    }
    const octets = target.octets;
    let position = literalLength;
    for (let at = start + literalLength; ; ) {
      while (at < end && pieces[at] === STAR) at++;
      if (at === end) return true;
      let pieceEnd = at;
      while (pieceEnd < end && pieces[pieceEnd] !== STAR) pieceEnd++;
      if (pieceEnd === end && anchored) {
        return folds
          ? endsWithFolding(target, position, pieces, at, end)
          : endsWith(octets, position, target.length, pieces, at, end);
      }
      if (folds) {
        position = findFolding(target, position, pieces, at, pieceEnd);
        if (position < 0) return false;
      } else {
        const hit = find(octets, position, target.length, pieces, at, pieceEnd);
        if (hit < 0) return false;
        position = hit + pieceEnd - at;
      }
      at = pieceEnd;
    }
  }

  private slotAt(base: number, slot: number): number {
    if (this.layout.wide) return this.words[base + slot]!;
    return (this.words[base + (slot >> 1)]! >>> ((slot & 1) << 4)) & 0xffff;
  }
}

function hashPrefixes(octets: Uint8Array, limit: number): void {
  if (hashes.length <= limit) hashes = new Int32Array(limit * 2);
  let hash = HASH_SEED;
  hashes[0] = hash;
  for (let at = 0; at < limit; ) {
    hash = Math.imul(hash ^ octets[at]!, HASH_FACTOR);
    hashes[++at] = hash;
  }
}

function same(text: Uint8Array, start: number, octets: Uint8Array, length: number): boolean {
  for (let at = 0; at < length; at++) if (text[start + at] !== octets[at]) return false;
  return true;
}
