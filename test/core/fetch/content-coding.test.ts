import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contentCodings } from '../../../src/core/fetch/framing.ts';
import type { ContentCoding } from '../../../src/core/fetch/transport.ts';
import { decode } from '../../../src/core/fetch/decode.ts';

describe('the codings of a Content-Encoding field', () => {
  it.each<[string | undefined, ContentCoding[] | undefined]>([
    [undefined, []],
    [' , Identity ,', []],
    ['X-GZIP', ['gzip']],
    ['deflate, br', ['deflate', 'br']],
    ['br,\tgzip , identity', ['br', 'gzip']],
    ['gzip, gzip, gzip, gzip', ['gzip', 'gzip', 'gzip', 'gzip']],
    ['gzip, gzip, gzip, gzip, gzip', undefined],
    ['UTF-8', []],
    ['none, gzip', ['gzip']],
    ['gzip, compress', undefined],
    ['gzip deflate', undefined],
  ])('%j are %j', (field, codings) => {
    expect(contentCodings(field)).toEqual(codings);
  });
});

describe('a coded body', () => {
  const TEXT = 'User-agent: *\nDisallow: /x\n'.repeat(20);

  /** Decodes bytes that come in pieces of 7, with empty ones between them. */
  async function decoded(coded: Uint8Array, coding: ContentCoding, maxBytesIn: number): Promise<string> {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < coded.length; at += 7) {
        yield new Uint8Array(0);
        yield coded.subarray(at, at + 7);
      }
      yield new Uint8Array(0);
    }
    const parts: Uint8Array[] = [];
    const limits = { maxBytesIn, mayBeEmpty: false };
    for await (const part of decode(pieces(), [coding], limits)) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  it.each([
    ['gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
  ] as const)(
    'in %s may have empty pieces, and is not read past the bytes it may take',
    async (coding, coded) => {
      expect(await decoded(coded, coding, coded.length)).toBe(TEXT);
      await expect(decoded(coded, coding, coded.length - 1)).rejects.toThrow(/The coded body is too long/);
    },
  );
});
