import { describe, expect, it } from 'vitest';
import { type Dialect, parseRobots } from '../../../src/rules/index.ts';
import { endOfIndexed, indexTarget, piecesFitIndexed } from '../../../src/rules/matcher/target-index.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

const unit = fc.constantFrom('a', 'b', 'ab', 'aab', 'aaaaaaab', 'abba', '\0', '\u007f');
const run = fc.tuple(unit, fc.integer({ min: 1, max: 60 })).map(([part, times]) => part.repeat(times));
const text = fc.array(run, { minLength: 1, maxLength: 8 }).map((runs) => runs.join(''));

function fitsPlainly(pieces: readonly string[], target: string, anchored: boolean): boolean {
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const found =
      anchored && index === pieces.length - 1 ? target.length - piece.length : target.indexOf(piece, at);
    if (found < at || !target.startsWith(piece, found)) return false;
    at = found + piece.length;
  }
  return true;
}

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
            const found = endOfIndexed(start, piece, 0, piece.length);
            if (expected < 0) expect(found).toBeGreaterThan(end);
            else expect(found).toBe(expected + piece.length);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('fits pieces one after the other', () => {
    const pieces = fc.array(
      fc.tuple(unit, fc.integer({ min: 1, max: 9 })).map(([part, times]) => part.repeat(times)),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(text, fc.array(pieces, { minLength: 10 }), fc.boolean(), (target, patterns, anchored) => {
        const octets = Buffer.from(target);
        indexTarget(octets, 0, octets.length);
        for (const pattern of patterns) {
          const stars = Buffer.from(`*${pattern.join('*')}`);
          const expected = fitsPlainly(pattern, target, anchored);
          expect(piecesFitIndexed(0, stars, 0, stars.length, anchored)).toBe(expected);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it('holds each of the 256 octets', () => {
    const octets = Uint8Array.from({ length: 600 }, (_, index) => index % 256);
    indexTarget(octets, 0, octets.length);
    for (let octet = 0; octet < 256; octet++) {
      expect(endOfIndexed(0, Uint8Array.of(octet), 0, 1)).toBe(octet + 1);
      expect(endOfIndexed(octet + 1, Uint8Array.of(octet), 0, 1)).toBe(octet + 257);
    }
  });

  it('of more octets than 16 bits can count gives the same places', () => {
    const target = Buffer.from(`${'ab'.repeat(20_000)}c${'ab'.repeat(20_000)}`);
    indexTarget(target, 0, target.length);
    for (const [piece, from] of [
      ['bc', 0],
      ['ab', 40_000],
      ['ba', 79_990],
      ['cab', 5],
      ['cc', 0],
    ] as const) {
      const expected = target.indexOf(piece, from);
      const found = endOfIndexed(from, Buffer.from(piece), 0, piece.length);
      if (expected < 0) expect(found).toBeGreaterThan(target.length);
      else expect(found).toBe(expected + piece.length);
    }
  });
});

/**
 * Rules that fit no target below, but nearly fit in hundreds of places: a target has its only `Q` before all those `a`.
 * They are longer than other rules, so they are tried first. One of them is enough for the target to be indexed.
 */
const inVain = (count: number): string =>
  Array.from({ length: count }, (_, index) => `Disallow: /*${'a'.repeat(300 + (index % 9))}Q\n`).join('');

const SENTINEL = Buffer.from('x~');
/** Has the sentinel indexed. A question that indexes its target frees that index, and the sentinel is gone. */
const indexSentinel = (): void => indexTarget(SENTINEL, 0, SENTINEL.length);
const isSentinelGone = (): boolean => endOfIndexed(0, SENTINEL, 0, SENTINEL.length) !== SENTINEL.length;

describe('a file that makes targets be indexed', () => {
  const part = fc.constantFrom(
    'a',
    'b',
    'ab',
    '/',
    ':',
    '@',
    "'",
    '%2F',
    '%3a',
    '%3F',
    '%27',
    '?',
    'é',
    '%',
    '%zz',
  );
  const piece = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  const wild = fc
    .tuple(
      fc.constantFrom('/', '/', '/Q', '/Qa/', ''),
      fc.array(piece, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '', '$', '*', '*$'),
    )
    .map(([start, pieces, end]) => `${start}*${pieces.join('*')}${end}`);
  const long = fc
    .tuple(
      fc.array(fc.tuple(part, fc.integer({ min: 1, max: 30 })), { minLength: 3, maxLength: 20 }),
      fc.array(part, { maxLength: 12 }),
    )
    .map(
      ([runs, end]) =>
        `/Qa/${'a'.repeat(600)}/${runs.map(([unitOf, times]) => unitOf.repeat(times)).join('')}${end.join('')}`,
    );

  it.each<Dialect>(['rfc9309', 'google', 'koster-1996'])('decides as a short one does: %s', (dialect) => {
    let indexed = 0;
    let questions = 0;
    fc.assert(
      fc.property(
        fc.array(wild, { minLength: 1, maxLength: 8 }),
        long,
        fc.constantFrom(5, 400),
        (patterns, target, count) => {
          const rules = patterns.map(
            (pattern, index) => `${index % 2 === 0 ? 'Allow' : 'Disallow'}: ${pattern}\n`,
          );
          const short = parseRobots(`User-agent: *\n${rules.join('')}`, { dialect });
          const expected = short.check(target, 'x');
          const file = parseRobots(`User-agent: *\n${rules.join('')}${inVain(count)}`, { dialect });
          for (let question = 0; question < 2; question++) {
            indexSentinel();
            expect(file.check(target, 'x')).toEqual(expected);
            if (isSentinelGone()) indexed++;
            questions++;
          }
        },
      ),
      { numRuns: runs(150) },
    );
    // The dialects of 1996 have no wildcards, so there is nothing to search for.
    if (dialect === 'koster-1996') expect(indexed).toBe(0);
    else expect(indexed).toBe(questions);
  });

  it.each([
    ['few', 2],
    ['many', 80],
  ])('holds nothing large after an answer about a long target of %s octets', (_, distinct) => {
    const target = `/Qa/${'a'.repeat(900)}${Buffer.from(longTarget(100_000, distinct)).toString('latin1')}`;
    const file = parseRobots(`User-agent: *\n${inVain(2_000)}`);
    for (let question = 0; question < 2; question++) {
      indexSentinel();
      file.check(target, 'x');
      expect(isSentinelGone()).toBe(true);
      expect(endOfIndexed(0, Buffer.from('/Qa'), 0, 3)).not.toBe(3);
    }
  });
});

/** Pseudo-random octets from `0` on; of `?` and `#` there are none. */
function longTarget(size: number, distinct: number): Uint8Array {
  let seed = 1;
  return Uint8Array.from({ length: size }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const octet = 0x30 + ((seed >>> 8) % distinct);
    return octet === 0x3f ? 0x61 : octet;
  });
}
