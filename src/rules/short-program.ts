import type { Symbols } from './path.ts';
import { NO_RULE, Program } from './program.ts';
import { readSimpleTarget } from './target.ts';

/*
 * Few rules: they stand best first, so the first that fits is the one. Three words tell most targets apart:
 *
 *   0  octets 1 to 4 of the pattern (`headOf`); number 0 is a slash in patterns that can fit at all
 *   1  which bits of those count: not all, when the pattern is shorter
 *   2  which octets a wild rule needs (occurrence bits)
 */
export const SHORT_TELL_WORDS = 3;

/** What is told of a target that passed: its octet 0 and those of {@link headOf}. */
const HEAD_OCTETS = 5;

/** How much of {@link headOf} counts for a pattern that has so many octets before its first wildcard. */
const HEAD_MASK = Int32Array.of(0, 0, 0xff, 0xffff, 0xff_ffff, -1);

export const headMaskOf: (length: number) => number = (length) => HEAD_MASK[Math.min(length, HEAD_OCTETS)]!;

/** Octets 1 to 4 of a normal form. */
export function headOf(octets: Uint8Array, start: number, length: number): number {
  let head = 0;
  for (let at = Math.min(length, HEAD_OCTETS) - 1; at > 0; at--) head = (head << 8) | octets[start + at]!;
  return head;
}

export class ShortProgram extends Program {
  /** All rules that fit, best first. */
  matches(target: Symbols): number[] {
    const all: number[] = [];
    for (let rule = 0; rule < this.count; rule++) if (this.fits(rule, target)) all.push(rule);
    return all;
  }

  decide(target: Symbols): number {
    const { words, count } = this;
    const head = headOf(target.octets, 0, target.length);
    const missing = ~target.occurrence;
    for (let rule = 0, tell = 0; rule < count; rule++, tell += SHORT_TELL_WORDS) {
      if ((((words[tell]! ^ head) & words[tell + 1]!) | (words[tell + 2]! & missing)) !== 0) continue;
      if (this.isWild(rule)) {
        if (this.wildFits(rule, target)) return rule;
      } else if (this.literalFitsAt(rule, target.octets, 0, target.length, HEAD_OCTETS)) return rule;
    }
    return NO_RULE;
  }

  decideOctets(octets: Uint8Array, start: number, end: number): number {
    if (this.hasWild) return this.decide(readSimpleTarget(octets, start, end));
    const { words, count } = this;
    const length = end - start;
    const head = headOf(octets, start, length);
    for (let rule = 0, tell = 0; rule < count; rule++, tell += SHORT_TELL_WORDS) {
      if (((words[tell]! ^ head) & words[tell + 1]!) !== 0) continue;
      if (this.literalFitsAt(rule, octets, start, length, HEAD_OCTETS)) return rule;
    }
    return NO_RULE;
  }
}
