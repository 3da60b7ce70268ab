import { describe, expect, it } from 'vitest';
import { brotliCompressSync, constants } from 'node:zlib';
import { decodeValue, encodeValue, MAX_VALUE_BYTES } from '../../../src/core/store/value-encoding.ts';
import fc from '../../support/fast-check.ts';

/** Zeros, compressed as fast as can be: by default that takes 15 s for the bomb. */
const zeros = (bytes: number): Buffer =>
  brotliCompressSync(Buffer.alloc(bytes), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const marked = (marker: string, bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from(marker), bytes]);

describe('compressed values', () => {
  it('are restored, for any text', () => {
    const values = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc.string({ minLength: 1 }).map((line) => line.repeat(5_000)),
    );
    fc.assert(
      fc.property(values, (value) => {
        expect(decodeValue(encodeValue(value))).toBe(value);
      }),
    );
  });

  it('are plain text up to 8,000 bytes, and from there on no larger than that', () => {
    expect(encodeValue('User-agent: *').toString()).toBe('tUser-agent: *');
    const line = 'Disallow: /private/*.html$\n';
    expect(encodeValue(line.repeat(290)).length).toBe(line.length * 290 + 1);
    expect(encodeValue(line.repeat(1_000)).length).toBeLessThan(200);
    const noise = Array.from({ length: 30_000 }, (_, at) =>
      (Math.imul(at, 2_654_435_761) >>> 0).toString(36),
    ).join('');
    expect(encodeValue(noise).length).toBeLessThanOrEqual(noise.length + 1);
  });

  it('are refused where they could not be decompressed', () => {
    const largest = 'é'.repeat(MAX_VALUE_BYTES / 2);
    expect(decodeValue(encodeValue(largest)) === largest).toBe(true);
    expect(() => encodeValue(`${largest}.`)).toThrow(
      'Expected a value of at most 4194304 bytes, got one of 4194305',
    );
  });
});

describe('invalid compressed values are refused', () => {
  const poison: Readonly<Record<string, Buffer>> = {
    nothing: Buffer.alloc(0),
    'another mark': Buffer.from('{"version":1}'),
    'a mark that is no letter': Buffer.from([0xff, 1, 2, 3]),
    'text that is not UTF-8': marked('t', Buffer.from([0x61, 0xff, 0x62])),
    'compressed, but it is not': marked('T', Buffer.from('User-agent: *')),
    'compressed, and cut': marked('T', brotliCompressSync(Buffer.alloc(5_000, 'ab')).subarray(0, -2)),
    'compressed, of what is not UTF-8': marked('T', brotliCompressSync(Buffer.alloc(5_000, 0xff))),
    'more than a value may have': Buffer.alloc(MAX_VALUE_BYTES + 2, 't'),
    'one byte more than that, compressed': marked('T', zeros(MAX_VALUE_BYTES + 1)),
    'a bomb': marked('T', zeros(64 * MAX_VALUE_BYTES)),
  };

  it.each(Object.entries(poison))('%s', (_, packed) => {
    expect(decodeValue(packed)).toBeUndefined();
  });

  it('any bytes', () => {
    const honest = encodeValue('Disallow: /private\n'.repeat(100));
    fc.assert(
      fc.property(fc.nat(honest.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(honest);
        damaged[at]! ^= change;
        const value = decodeValue(damaged);
        expect(value === undefined || typeof value === 'string').toBe(true);
      }),
    );
  });
});
