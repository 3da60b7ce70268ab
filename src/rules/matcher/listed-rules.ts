import { HEAD_OCTETS } from './ruleset.ts';

/*
 * Listed rules are tried one after the other: all rules of a small file, the wild rules of a large one. They are
 * sorted best first, so the first rule that fits decides. Word 0 of a rule excludes most of them without reading the
 * pattern: the first octets of a literal rule (octet 0 is a slash in every pattern that can fit), or the octets that a
 * wild rule requires.
 *
 * When there are more than a few, sieves follow the rules: 32 words for every 32 listed rules, one word per kind of
 * beginning (`beginningOf`). Bit n of a word is set when rule n may fit a target that begins in this way.
 */

/** The mask of {@link headOf}, by the number of octets before the first wildcard of the pattern. */
export const HEAD_MASK: Int32Array = Int32Array.of(0, 0, 0xff, 0xffff, 0xff_ffff, -1, 0, 0);

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

/** Up to this number of rules need no sieve. */
export const UNSIEVED = 8;
export const SIEVE = 32;

/** The number of words in the sieves of `count` rules. */
export const sieveWords: (count: number) => number = (count) =>
  count <= UNSIEVED ? 0 : Math.ceil(count / SIEVE) * SIEVE;

/** A hash of octets 1 and 2: one of 32 kinds of beginnings. */
export const beginningOf: (first: number, second: number) => number = (first, second) =>
  (first * 5 + second * 11) & (SIEVE - 1);

/** Adds `rule` to the sieves at `base`. `head`: its first octets, of which `length` are before the first wildcard. */
export function addToSieve(
  words: Int32Array,
  base: number,
  rule: number,
  head: number,
  length: number,
): void {
  const sieve = base + (rule & -SIEVE);
  const bit = 1 << (rule & (SIEVE - 1));
  if (length > 2) words[sieve + beginningOf(head & 0xff, (head >> 8) & 0xff)]! |= bit;
  else for (let kind = 0; kind < SIEVE; kind++) words[sieve + kind]! |= bit;
}
