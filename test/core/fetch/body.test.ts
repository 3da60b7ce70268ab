import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { readBody } from '../../../src/core/fetch/body.ts';
import { decode } from '../../../src/core/fetch/decode.ts';
import type { Decode, TransportResponse } from '../../../src/core/fetch/transport.ts';
import fc from '../../support/fast-check.ts';
import { text } from './context.ts';

const FAILURE = new Error('the network failed');

/** A body that ends, or breaks after its chunks. */
async function* chunks(parts: readonly string[], breaks: boolean): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
  if (breaks) throw FAILURE;
}

/** The same body as any iterable, and as a stream of Node. */
const BODIES = [
  ['an iterable', (parts: readonly string[], breaks = false) => chunks(parts, breaks)],
  [
    'a stream',
    (parts: readonly string[], breaks = false) => Readable.from(chunks(parts, breaks), { objectMode: false }),
  ],
] as const;

const response = (body: AsyncIterable<Uint8Array>): TransportResponse => ({
  status: 200,
  headers: { get: () => undefined },
  body,
  discard: () => undefined,
});

describe.each(BODIES)('a body with a limit of 8 bytes, from %s', (_name, make) => {
  const read = async (...parts: string[]) => {
    const { body, truncated } = await readBody(response(make(parts)), 8);
    expect(body.buffer.byteLength).toBe(body.byteLength);
    return [text(body), truncated];
  };
  const readBroken = async (...parts: string[]) => {
    const { body, truncated } = await readBody(response(make(parts, true)), 8);
    return [text(body), truncated];
  };

  it.each<[string[], string, boolean]>([
    [[], '', false],
    [['ab\n'], 'ab\n', false],
    [['ab\n', 'cd\n', 'e'], 'ab\ncd\ne', false],
    [['ab\ncdefg'], 'ab\ncdefg', false],
    [['ab\n', 'cdefg'], 'ab\ncdefg', false],
    [['ab\n', 'cdefg', '\n'], 'ab\ncdefg', true],
    [['ab\n', 'cdefg\r', 'more'], 'ab\ncdefg', true],
    [['ab\n', 'cdefgh'], 'ab\n', true],
    [['ab\r', 'cdefg', 'h'], 'ab\r', true],
    [['abcdefg\n', 'h'], 'abcdefg\n', true],
    [['\nabcdefgh'], '\n', true],
    [[...'ab\ncdefgh'], 'ab\n', true],
    [['ab\n', 'cdefghijklmnopq'], 'ab\n', true],
    [['', 'ab\n', '', 'c'], 'ab\nc', false],
    // The comment is cut, the value before it is whole.
    [['a\nbcd #fgh\n'], 'a\nbcd ', true],
    [['a\nbcde', '#fgh'], 'a\nbcde', true],
    [['a\n#cdefghij'], 'a\n', true],
    [['a\nbcdefg#hij'], 'a\n', true],
  ])('%j is read as %j, truncated: %s', async (parts, body, truncated) => {
    expect(await read(...parts)).toEqual([body, truncated]);
  });

  it('that breaks before the limit is an error', async () => {
    await expect(readBroken('ab\ncdef')).rejects.toBe(FAILURE);
    await expect(readBroken()).rejects.toBe(FAILURE);
  });

  it('that breaks at the limit is truncated: its last line may go on', async () => {
    expect(await readBroken('ab\ncdefg')).toEqual(['ab\n', true]);
    expect(await readBroken('ab\n', 'cdef\n')).toEqual(['ab\ncdef\n', true]);
  });

  it('that breaks after the limit is not an error', async () => {
    expect(await readBroken('ab\ncdefg\n')).toEqual(['ab\ncdefg', true]);
  });
});

it('a UTF-16 body ends with its last whole line: the byte of a "#" may be half of another character', async () => {
  const body = Uint8Array.of(0xfe, 0xff, 0x00, 0x0a, 0x23, 0x61, 0x23, 0x61, 0x23);
  const read = await readBody(response(Readable.from([body])), 8);
  expect([...read.body]).toEqual([0xfe, 0xff, 0x00, 0x0a]);
});

it('a body in chunks of any size is their concatenation, up to the last line within the limit', async () => {
  const limit = 50_000;
  const line = 'Disallow: /a\n';
  const sizes = fc.array(fc.oneof(fc.constant(0), fc.nat(100), fc.nat(20_000)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.constantFrom(...BODIES), async (lengths, [, make]) => {
      const file = line.repeat(12_000);
      let at = 0;
      const parts = lengths.map((length) => file.slice(at, (at += length)));
      const { body, truncated } = await readBody(response(make(parts)), limit);
      expect(truncated).toBe(at > limit);
      const end = truncated ? file.lastIndexOf('\n', limit) : at;
      expect(text(body).length).toBe(truncated && end < limit ? end + 1 : end);
      expect(file.startsWith(text(body))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

describe('a coded body', () => {
  const coded = (coding: string, more: Partial<TransportResponse>): TransportResponse => ({
    ...response(chunks(['ab'], false)),
    headers: { get: (name) => (name === 'content-encoding' ? coding : undefined) },
    decode,
    ...more,
  });

  it.each(['zstd', 'gzip, compress', 'gzip deflate', 'gzip, gzip, gzip, gzip, gzip'])(
    'is discarded where it is not undone: %s',
    async (coding) => {
      const discard = vi.fn();
      await expect(readBody(coded(coding, { discard }), 8)).rejects.toMatchObject({
        code: 'ERR_ROBOTS_CONTENT_CODING',
      });
      expect(discard).toHaveBeenCalledOnce();
    },
  );

  it('may have twice the bytes of the limit and 64 KiB, before it is decoded', async () => {
    const watched = vi.fn<Decode>((source) => source);
    await readBody(coded(' , X-GZIP,\tUTF-8, none, Identity , br', { decode: watched }), 8);
    expect(watched.mock.calls[0]?.slice(1)).toMatchObject([['gzip', 'br'], { maxBytesIn: 65_552 }]);
  });
});

describe('a stream of Node', () => {
  it('that was destroyed without an error or an end is an error', async () => {
    const stream = new Readable({ read: () => undefined });
    stream.push('ab\n');
    setImmediate(() => stream.destroy());
    await expect(readBody(response(stream), 8)).rejects.toMatchObject({ code: 'ERR_ROBOTS_FETCH_FAILED' });
  });
});

describe('the chunks of a body', () => {
  it('are copied: one of few bytes would keep its slab', async () => {
    const slab = new Uint8Array(65_536).fill(0x61);
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield slab.subarray(0, 3);
    }
    const { body } = await readBody(response(parts()), 8);
    slab.fill(0x62);
    expect(text(body)).toBe('aaa');
    expect(body.buffer.byteLength).toBe(3);
  });
});
