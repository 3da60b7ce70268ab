import { describe, expect, it } from 'vitest';
import { TargetIndex } from '../../../../src/core/rules/matcher/target-index.ts';
import fc from '../../../support/fast-check.ts';
import { runs } from '../../../support/thorough.ts';

const unit = fc.constantFrom('a', 'b', 'ab', 'aab', 'aaaaaaab', 'abba', '\0', '\u007f');
const run = fc.tuple(unit, fc.integer({ min: 1, max: 60 })).map(([part, times]) => part.repeat(times));
const text = fc.array(run, { minLength: 1, maxLength: 8 }).map((runs) => runs.join(''));

describe('an indexed target', () => {
  it('finds the leftmost place of every piece, from every place on', () => {
    const question = fc.record({
      from: fc.nat(2_000),
      size: fc.integer({ min: 1, max: 90 }),
      at: fc.nat(2_000),
    });
    fc.assert(
      fc.property(
        text,
        text,
        fc.nat(9),
        fc.array(question, { minLength: 20 }),
        (target, other, shift, questions) => {
          const memory = Buffer.from(`${'a'.repeat(shift)}${target}${other}`);
          const bytes = new Uint8Array(memory);
          const end = shift + target.length;
          const index = new TargetIndex(bytes, shift, end);
          for (const { from, size, at } of questions) {
            const start = shift + (from % target.length);
            // Half of the pieces stand in the target.
            const source = at % 2 === 0 ? target : other;
            const piece = Buffer.from(source.slice(at % source.length).slice(0, size));
            const expected = memory.subarray(0, end).indexOf(piece, start);
            const found = index.endOf(start, piece, 0, piece.length);
            if (expected < 0) expect(found).toBeGreaterThan(end);
            else expect(found).toBe(expected + piece.length);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('holds each of the 256 bytes', () => {
    const bytes = Uint8Array.from({ length: 600 }, (_, index) => index % 256);
    const index = new TargetIndex(bytes, 0, bytes.length);
    for (let byte = 0; byte < 256; byte++) {
      expect(index.endOf(0, Uint8Array.of(byte), 0, 1)).toBe(byte + 1);
      expect(index.endOf(byte + 1, Uint8Array.of(byte), 0, 1)).toBe(byte + 257);
    }
  });

  it.each([
    ['few distinct bytes', 2],
    ['many', 80],
  ])('of 40,000 bytes, %s, has lists in place of a table, and finds the same', (_, distinct) => {
    const target = randomBytes(40_000, distinct);
    const memory = Buffer.from(target);
    const index = new TargetIndex(target, 0, target.length);
    for (let at = 0; at < 3_000; at++) {
      const start = (at * 7_919) % 39_000;
      const from = (at * 104_729) % 39_000;
      const piece = memory.subarray(start, start + 1 + (at % 25));
      const found = index.endOf(from, piece, 0, piece.length);
      const expected = memory.indexOf(piece, from);
      if (expected < 0) expect(found).toBeGreaterThan(target.length);
      else expect(found).toBe(expected + piece.length);
    }
  });

  it('of 80,001 bytes, with places in thousands, gives all of them', () => {
    const target = Buffer.from(`${'ab'.repeat(20_000)}c${'ab'.repeat(20_000)}`);
    const index = new TargetIndex(target, 0, target.length);
    for (const [piece, from] of [
      ['bc', 0],
      ['ab', 40_000],
      ['ba', 79_990],
      ['cab', 5],
      ['cc', 0],
    ] as const) {
      const expected = target.indexOf(piece, from);
      const found = index.endOf(from, Buffer.from(piece), 0, piece.length);
      if (expected < 0) expect(found).toBeGreaterThan(target.length);
      else expect(found).toBe(expected + piece.length);
    }
    // More bit sets than are kept: each of some 11 KiB.
    for (let round = 0; round < 2; round++) {
      for (let size = 1; size < 900; size++) {
        const piece = target.subarray(0, size);
        expect(index.endOf(1, piece, 0, size)).toBe(2 + size);
      }
    }
  });
});

/** Pseudo-random bytes from `0` on; of `?` and `#` there are none. */
function randomBytes(size: number, distinct: number): Uint8Array {
  let seed = 1;
  return Uint8Array.from({ length: size }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const byte = 0x30 + ((seed >>> 8) % distinct);
    return byte === 0x3f ? 0x61 : byte;
  });
}
