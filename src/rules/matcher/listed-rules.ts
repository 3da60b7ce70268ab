import { Ruleset } from './ruleset.ts';
import { startSearch } from './search.ts';

/*
 * Listed rules are tried one after the other: all rules of a small file, the wild rules of a large one. They are
 * sorted best first, so the first rule that fits decides. Three words per rule exclude most rules without reading the
 * pattern:
 *
 *   0  octets 1 to 4 of the pattern (`headOf`); octet 0 is a slash in every pattern that can fit
 *   1  mask of the bits of word 0 to compare: a pattern shorter than 5 octets has fewer
 *   2  byte mask of the octets that a wild rule requires
 *
 * The sieves follow: 32 words for every 32 rules, one word per kind of beginning (`beginningOf`). Bit n of a word is
 * set when rule n may fit a target that begins in this way.
 */
export const FILTER_WORDS = 3;

/** The number of octets that {@link ListedRules} compares before it reads a pattern: octet 0 and {@link headOf}. */
const HEAD_OCTETS = 5;

/** The mask of {@link headOf}, by the number of octets before the first wildcard of the pattern. */
const HEAD_MASK = Int32Array.of(0, 0, 0xff, 0xffff, 0xff_ffff, -1);

export const headMaskOf: (length: number) => number = (length) => HEAD_MASK[Math.min(length, HEAD_OCTETS)]!;

/** Octets 1 to 4 of a normal form. */
export function headOf(octets: Uint8Array, start: number, length: number): number {
  if (length >= HEAD_OCTETS) {
    return (
      octets[start + 1]! | (octets[start + 2]! << 8) | (octets[start + 3]! << 16) | (octets[start + 4]! << 24)
    );
  }
  let head = 0;
  for (let at = length - 1; at > 0; at--) head = (head << 8) | octets[start + at]!;
  return head;
}

const SIEVE = 32;

/** The number of words in the sieves of `count` rules. */
export const sieveWords: (count: number) => number = (count) => Math.ceil(count / SIEVE) * SIEVE;

/** A hash of octets 1 and 2: one of 32 kinds of beginnings. */
const beginningOf = (first: number, second: number): number => (first * 5 + second * 11) & (SIEVE - 1);

/** Adds `rule` to the sieves at `base`. `head` and `mask` are words 0 and 1 of the rule. */
export function addToSieve(words: Int32Array, base: number, rule: number, head: number, mask: number): void {
  const sieve = base + (rule & -SIEVE);
  const bit = 1 << (rule & (SIEVE - 1));
  if ((mask & 0xff00) !== 0) words[sieve + beginningOf(head & 0xff, (head >> 8) & 0xff)]! |= bit;
  else for (let kind = 0; kind < SIEVE; kind++) words[sieve + kind]! |= bit;
}

export abstract class ListedRules extends Ruleset {
  /** Returns the rule that decides among the first `count` rules (best first) and `best`, a rule known to fit. */
  protected decideListed(
    count: number,
    octets: Uint8Array,
    start: number,
    end: number,
    byteMask: number,
    best: number,
  ): number {
    const head = headOf(octets, start, end - start);
    const missing = ~byteMask;
    startSearch(octets, start, end);
    const { words } = this;
    // A target without octets 1 and 2 gives an arbitrary kind. That is correct: every sieve holds all rules as short as
    // this target, and longer rules do not fit it.
    const kind = count * FILTER_WORDS + beginningOf(octets[start + 1]!, octets[start + 2]!);
    for (let first = 0; first < count; first += SIEVE) {
      for (let left = words[kind + first]!; left !== 0; left &= left - 1) {
        const rule = first + 31 - Math.clz32(left & -left);
        if (!this.mayFit(rule, head, missing)) continue;
        if (best >= 0 && !this.beats(rule, best)) return best;
        if (this.fitsBehindHead(rule, octets, start, end)) return rule;
      }
    }
    return best;
  }

  private mayFit(rule: number, head: number, missing: number): boolean {
    const { words } = this;
    const filter = rule * FILTER_WORDS;
    return (((words[filter]! ^ head) & words[filter + 1]!) | (words[filter + 2]! & missing)) === 0;
  }

  private fitsBehindHead(rule: number, octets: Uint8Array, start: number, end: number): boolean {
    return this.isWild(rule) ? this.wildFits(rule) : this.literalFits(rule, octets, start, end, HEAD_OCTETS);
  }
}
