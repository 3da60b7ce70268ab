import { Ruleset } from './ruleset.ts';
import { startSearch } from './search.ts';

/*
 * Rules to be tried one after the other: all of a small file, the wild ones of a large one. They stand best first, so the first that fits is the one. Three words tell most targets apart:
 *
 *   0  octets 1 to 4 of the pattern (`headOf`); number 0 is a slash in patterns that can fit at all
 *   1  which bits of those count: not all, when the pattern is shorter
 *   2  which octets a wild rule needs (byte mask)
 *
 * Sieves follow: 32 words for every 32 rules, one for each kind of beginning (`beginningOf`), whose bits are the rules
 * that a target beginning so may fit.
 */
export const SHORT_TELL_WORDS = 3;

/** What is told of a target that passed: its octet 0 and those of {@link headOf}. */
const HEAD_OCTETS = 5;

/** How much of {@link headOf} counts for a pattern that has so many octets before its first wildcard. */
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

/** Words that the sieves of so many rules take. */
export const sieveWords: (count: number) => number = (count) => Math.ceil(count / SIEVE) * SIEVE;

/** Which of the 32 kinds of beginnings octets 1 and 2 are. */
const beginningOf = (first: number, second: number): number => (first * 5 + second * 11) & (SIEVE - 1);

/** Adds a rule to the sieves at `base`: one whose first octets, with {@link headMaskOf} of them, are `head`. */
export function addToSieve(words: Int32Array, base: number, rule: number, head: number, mask: number): void {
  const sieve = base + (rule & -SIEVE);
  const bit = 1 << (rule & (SIEVE - 1));
  if ((mask & 0xff00) !== 0) words[sieve + beginningOf(head & 0xff, (head >> 8) & 0xff)]! |= bit;
  else for (let kind = 0; kind < SIEVE; kind++) words[sieve + kind]! |= bit;
}

export abstract class ListedRules extends Ruleset {
  /** The rule that decides, of the first `count`, which stand best first, and of `best`, which fits. */
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
    // Where a target is shorter, this is any kind: rules as short are in all of them, and longer ones do not fit.
    const kind = count * SHORT_TELL_WORDS + beginningOf(octets[start + 1]!, octets[start + 2]!);
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
    const tell = rule * SHORT_TELL_WORDS;
    return (((words[tell]! ^ head) & words[tell + 1]!) | (words[tell + 2]! & missing)) === 0;
  }

  private fitsBehindHead(rule: number, octets: Uint8Array, start: number, end: number): boolean {
    return this.isWild(rule) ? this.wildFits(rule) : this.literalFits(rule, octets, start, end, HEAD_OCTETS);
  }
}
