import { describe, expect, it } from 'vitest';
import { brotliCompressSync, constants } from 'node:zlib';
import {
  decodeValue,
  encodeValue,
  fenceOf,
  MAX_FENCE_BYTES,
  MAX_VALUE_BYTES,
} from '../../../src/core/store/value-encoding.ts';
import fc from '../../support/fast-check.ts';

/** Zeros, compressed as fast as can be: by default that takes 15 s for the bomb. */
const zeros = (bytes: number): Buffer =>
  brotliCompressSync(Buffer.alloc(bytes), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const marked = (marker: string, bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from(marker), bytes]);

describe('compressed values', () => {
  it('are restored, for any text', async () => {
    const values = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc.array(fc.integer({ min: 0, max: 0xff_ff })).map((units) => String.fromCharCode(...units)),
      fc.string({ minLength: 1 }).map((line) => line.repeat(500)),
    );
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        expect(await decodeValue(await encodeValue(value))).toBe(value);
      }),
    );
  });

  it('are plain text up to 1,900 bytes, and from there on no larger than that', async () => {
    expect((await encodeValue('User-agent: *')).toString()).toBe('tUser-agent: *');
    const line = 'Disallow: /private/*.html$\n';
    expect((await encodeValue(line.repeat(70))).length).toBe(line.length * 70 + 1);
    expect((await encodeValue(line.repeat(1_000))).length).toBeLessThan(200);
    const noise = Array.from({ length: 30_000 }, (_, at) =>
      (Math.imul(at, 2_654_435_761) >>> 0).toString(36),
    ).join('');
    expect((await encodeValue(noise)).length).toBeLessThanOrEqual(noise.length + 1);
  });

  it('are refused where they could not be decompressed', async () => {
    const largest = 'é'.repeat(MAX_VALUE_BYTES / 2);
    expect((await decodeValue(await encodeValue(largest))) === largest).toBe(true);
    await expect(async () => encodeValue(`${largest}.`)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: 'Expected a value of at most 4194304 bytes, got one of 4194305',
    });
  });
});

describe('invalid compressed values are refused', () => {
  const poison: Readonly<Record<string, Buffer>> = {
    nothing: Buffer.alloc(0),
    'another mark': Buffer.from('{"version":1}'),
    'a mark that is no letter': Buffer.from([0xff, 1, 2, 3]),
    'text that is not UTF-8': marked('t', Buffer.from([0x61, 0xff, 0x62])),
    'half a UTF-16 code unit': marked('u', Buffer.from('abc')),
    'compressed, but it is not': marked('T', Buffer.from('User-agent: *')),
    'compressed, and cut': marked('T', brotliCompressSync(Buffer.alloc(5_000, 'ab')).subarray(0, -2)),
    'compressed, of what is not UTF-8': marked('T', brotliCompressSync(Buffer.alloc(5_000, 0xff))),
    'more than a value may have': Buffer.alloc(MAX_VALUE_BYTES + 2, 't'),
    'one byte more than that, compressed': marked('T', zeros(MAX_VALUE_BYTES + 1)),
    'a bomb': marked('T', zeros(64 * MAX_VALUE_BYTES)),
  };

  it.each(Object.entries(poison))('%s', async (_, packed) => {
    expect(await decodeValue(packed)).toBeUndefined();
  });

  it('any bytes', async () => {
    const honest = await encodeValue('Disallow: /private\n'.repeat(100));
    await fc.assert(
      fc.asyncProperty(fc.nat(honest.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(honest);
        damaged[at]! ^= change;
        const value = await decodeValue(damaged);
        expect(value === undefined || typeof value === 'string').toBe(true);
      }),
    );
  });
});

const VALUE = 'User-agent: *';

describe('the fence of a stored value', () => {
  it.each(['7', '!~', 'x'.repeat(255)])('%j comes before the value, and is no part of it', async (token) => {
    const stored = await encodeValue(VALUE, token);
    expect(fenceOf(stored)).toBe(token);
    expect(await decodeValue(stored)).toBe(VALUE);
    expect(stored).toHaveLength('t'.length + VALUE.length + 2 + token.length);
  });

  it('comes before a compressed value, too', async () => {
    const stored = await encodeValue(VALUE.repeat(1_000), '7');
    expect(stored.length).toBeLessThan(200);
    expect(fenceOf(stored)).toBe('7');
    expect(await decodeValue(stored)).toBe(VALUE.repeat(1_000));
  });

  it('adds at most MAX_FENCE_BYTES', async () => {
    expect(await encodeValue(VALUE, 'x'.repeat(255))).toHaveLength(
      't'.length + VALUE.length + MAX_FENCE_BYTES,
    );
  });

  it('is absent without a lease', async () => {
    const stored = await encodeValue(VALUE);
    expect(stored.toString()).toBe(`t${VALUE}`);
    expect(fenceOf(stored)).toBeUndefined();
  });

  it.each(['', 'x'.repeat(256), 'a b', 'a\n', 'ä', '\0'])('refuses the token %j', (token) => {
    expect(() => encodeValue(VALUE, token)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: 'Expected `fence` to be the token of a lease, 1 to 255 printable ASCII characters',
      }),
    );
  });

  it('of a value that was cut is read without an error', async () => {
    expect(fenceOf(Buffer.from('f'))).toBe('');
    expect(fenceOf(Buffer.from('f\x09abc'))).toBe('abc');
    expect(await decodeValue(Buffer.from('f'))).toBeUndefined();
    expect(await decodeValue(Buffer.from('f\x09abc'))).toBeUndefined();
  });
});
