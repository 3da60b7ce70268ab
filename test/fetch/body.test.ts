import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody, readStart } from '../../src/fetch/body.ts';
import type { TransportResponse } from '../../src/fetch/transport.ts';
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

describe.each(BODIES)('a body with a limit of 8 octets, from %s', (_name, make) => {
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
    [['abcdefghi\n'], '', true],
    [['\nabcdefgh'], '\n', true],
    [[...'ab\ncdefgh'], 'ab\n', true],
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

  it('is whole up to the limit for the detection of pages', async () => {
    const start = async (breaks: boolean, ...parts: string[]) => {
      const result = await readStart(response(make(parts, breaks)), 8);
      return [text(result.start), result.whole];
    };
    expect(await start(false, 'abc')).toEqual(['abc', true]);
    expect(await start(false, 'abcd', 'efgh')).toEqual(['abcdefgh', true]);
    expect(await start(false, 'abcd', 'efghi')).toEqual(['abcdefghi', false]);
    expect(await start(true, 'abc')).toEqual(['abc', false]);
  });
});

describe('a stream of Node', () => {
  it('that was destroyed without an error or an end is an error', async () => {
    const stream = new Readable({ read: () => undefined });
    stream.push('ab\n');
    setImmediate(() => stream.destroy());
    await expect(readBody(response(stream), 8)).rejects.toMatchObject({ code: 'ERR_ROBOTS_FETCH_FAILED' });
  });

  it('is destroyed at the limit', async () => {
    const stream = Readable.from(chunks(['ab\ncdefgh', 'more'], false), { objectMode: false });
    await readBody(response(stream), 8);
    expect(stream.destroyed).toBe(true);
  });
});

describe('the chunks of a body', () => {
  it('are copied: one of few octets would keep its slab', async () => {
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
