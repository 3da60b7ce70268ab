import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../../src/rules/index.ts';
import { findIndexed, hasPairs, indexTarget } from '../../../src/rules/matcher/target-index.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

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
          const octets = new Uint8Array(memory);
          const end = shift + target.length;
          indexTarget(octets, shift, end);
          for (const { from, size, at } of questions) {
            const start = shift + (from % target.length);
            // Half of the pieces stand in the target.
            const source = at % 2 === 0 ? target : other;
            const piece = Buffer.from(source.slice(at % source.length).slice(0, size));
            const expected = memory.subarray(0, end).indexOf(piece, start);
            expect(hasPairs(piece, 0, piece.length) ? findIndexed(start, piece, 0, piece.length) : -1).toBe(
              expected,
            );
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('decides as a short one does', () => {
    // Every rule is searched for in vain, until the one that fits.
    const vain = Array.from(
      { length: 3_000 },
      (_, index) => `Disallow: /*${'a'.repeat(30 + (index % 50))}b${index}`,
    );
    const target = `/${`${'a'.repeat(90)}b`.repeat(20)}/x${'y'.repeat(30)}/0123456789`;
    for (const pattern of ['/*ab/x*y/', '/*bab', '/*b/*x*yy/0123456789$', '/*b/*yy*yy*89']) {
      const file = parseRobots(
        ['User-agent: *', ...vain, `Allow: ${pattern}`, 'Disallow: /*x*89x'].join('\n'),
      );
      const alone = parseRobots(`User-agent: *\nAllow: ${pattern}`);
      for (let question = 0; question < 3; question++) {
        const { reason } = alone.check(target, 'x');
        const verdict = file.check(target, 'x');
        expect(verdict.reason, pattern).toBe(reason);
        if (reason === 'rule')
          expect(verdict).toMatchObject({ allowed: true, rule: { pattern, line: 3_002 } });
      }
    }
  });
});
