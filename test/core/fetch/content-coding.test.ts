import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ContentCoding, contentCodings } from '../../../src/core/fetch/content-coding.ts';
import { decode } from '../../../src/core/fetch/decode.ts';

const TEXT = 'User-agent: *\nDisallow: /x\n'.repeat(20);
const ENCODE = {
  gzip: (bytes: Uint8Array) => gzipSync(bytes),
  deflate: (bytes: Uint8Array) => deflateSync(bytes),
  br: (bytes: Uint8Array) => brotliCompressSync(bytes),
} satisfies Record<ContentCoding, (bytes: Uint8Array) => Uint8Array>;

/** A source that counts what is taken from it, and knows whether it was let go. */
function source(bytes: Uint8Array, chunkSize: number) {
  const state = { taken: 0, closed: false };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < bytes.length; at += chunkSize) {
        const chunk = bytes.subarray(at, at + chunkSize);
        state.taken += chunk.length;
        yield chunk;
      }
    } finally {
      state.closed = true;
    }
  }
  return { state, chunks: chunks() };
}

interface Limits {
  readonly chunkSize?: number;
  readonly maxBytesIn?: number;
  readonly mayBeEmpty?: boolean;
}

async function decoded(
  bytes: Uint8Array,
  codings: readonly ContentCoding[],
  { chunkSize = 7, maxBytesIn = 1_000_000, mayBeEmpty = false }: Limits = {},
): Promise<string> {
  const parts: Uint8Array[] = [];
  const { chunks } = source(bytes, chunkSize);
  for await (const part of decode(chunks, codings, { maxBytesIn, mayBeEmpty })) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('the codings of a Content-Encoding field', () => {
  it.each<[string | undefined, ContentCoding[] | undefined]>([
    [undefined, []],
    ['', []],
    ['identity', []],
    [' , Identity ,', []],
    ['gzip', ['gzip']],
    ['X-GZIP', ['gzip']],
    ['deflate, br', ['deflate', 'br']],
    ['br,\tgzip , identity', ['br', 'gzip']],
    ['gzip, gzip, gzip, gzip', ['gzip', 'gzip', 'gzip', 'gzip']],
    ['gzip, gzip, gzip, gzip, gzip', undefined],
    ['zstd', undefined],
    ['UTF-8', []],
    ['none, gzip', ['gzip']],
    ['gzip, compress', undefined],
    ['gzip deflate', undefined],
  ])('%j are %j', (field, codings) => {
    expect(contentCodings(field)).toEqual(codings);
  });
});

describe('a coded body', () => {
  const bytes = Buffer.from(TEXT);

  it.each(['gzip', 'deflate', 'br'] as const)('in %s is decoded in pieces of any size', async (coding) => {
    for (const chunkSize of [1, 2, 7, 10_000]) {
      expect(await decoded(ENCODE[coding](bytes), [coding], { chunkSize })).toBe(TEXT);
    }
  });

  it.each(['gzip', 'deflate', 'br'] as const)('in %s may have empty pieces', async (coding) => {
    const coded = ENCODE[coding](bytes);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (const at of [0, 1, 5, coded.length]) {
        yield new Uint8Array(0);
        yield coded.subarray(at, at === 0 ? 1 : at === 1 ? 5 : coded.length);
      }
      yield new Uint8Array(0);
    }
    const parts: Uint8Array[] = [];
    const limits = { maxBytesIn: coded.length, mayBeEmpty: false };
    for await (const part of decode(pieces(), [coding], limits)) parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe(TEXT);
  });

  it('in raw deflate is decoded as deflate', async () => {
    expect(await decoded(deflateRawSync(bytes), ['deflate'])).toBe(TEXT);
  });

  it('in several codings is decoded from the last to the first', async () => {
    const twice = gzipSync(brotliCompressSync(bytes));
    expect(await decoded(twice, ['br', 'gzip'])).toBe(TEXT);
    await expect(decoded(twice, ['gzip', 'br'])).rejects.toThrow();
  });

  it('without a coding is unchanged', async () => {
    expect(await decoded(bytes, [])).toBe(TEXT);
  });

  it.each(['gzip', 'deflate', 'br'] as const)('in %s with bytes after it is refused', async (coding) => {
    const whole = ENCODE[coding](bytes);
    for (const rest of [whole, Buffer.alloc(1), Buffer.from(TEXT)]) {
      for (const chunkSize of [1, 10_000]) {
        const body = Buffer.concat([whole, rest]);
        await expect(decoded(body, [coding], { chunkSize })).rejects.toMatchObject({
          code: 'ERR_ROBOTS_TRAILING_BYTES',
        });
      }
    }
  });

  it.each(['gzip', 'deflate', 'br'] as const)('in %s that ends early is refused', async (coding) => {
    const whole = ENCODE[coding](bytes);
    for (const length of [1, 5, whole.length - 1]) {
      await expect(decoded(whole.subarray(0, length), [coding])).rejects.toThrow();
    }
  });

  it.each(['gzip', 'deflate', 'br'] as const)('of %s without an byte counts where it may', async (coding) => {
    const none = new Uint8Array();
    expect(await decoded(none, [coding], { mayBeEmpty: true })).toBe('');
    await expect(decoded(none, [coding])).rejects.toThrow();
    // What is not empty is no less checked for that.
    await expect(decoded(Buffer.from('x'), [coding], { mayBeEmpty: true })).rejects.toThrow();
    expect(await decoded(ENCODE[coding](bytes), [coding], { mayBeEmpty: true })).toBe(TEXT);
  });

  it('is not read past the bytes it may take', async () => {
    const whole = gzipSync(bytes);
    expect(await decoded(whole, ['gzip'], { maxBytesIn: whole.length })).toBe(TEXT);
    await expect(decoded(whole, ['gzip'], { maxBytesIn: whole.length - 1 })).rejects.toThrow(
      /The coded body is too long/,
    );
  });

  it.each(['gzip', 'deflate', 'br'] as const)(
    'of %s whose source fails halfway fails with it',
    async (coding) => {
      const whole = ENCODE[coding](bytes);
      const half = { maxBytesIn: Math.floor(whole.length / 2), chunkSize: 1 };
      await expect(decoded(whole, [coding], half)).rejects.toThrow(/The coded body is too long/);
    },
  );

  it('that is not read to the end releases its source', async () => {
    const { state, chunks } = source(gzipSync(Buffer.alloc(1_000_000, 'ab')), 100);
    for await (const part of decode(chunks, ['gzip'], { maxBytesIn: 1_000_000, mayBeEmpty: false })) {
      expect(part.length).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => state.closed).toBe(true);
  });
});
