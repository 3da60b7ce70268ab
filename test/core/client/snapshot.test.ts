import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import {
  profiles,
  type RestoreRejection,
  type RobotsClient,
  type RobotsClientOptions,
} from '../../../src/index.ts';
import { DAY, HOUR, SECOND, testClient } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';

/** A client whose network answers by host, and is counted. */
function client(options: RobotsClientOptions = {}) {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url);
    if (url.includes('missing')) return new Response('', { status: 404 });
    if (url.includes('broken')) return new Response('', { status: 503 });
    return new Response(`${RULES}# ${url}\n`);
  };
  const { client: robots, clock } = testClient({ transport: { fetch }, ...options });
  return { robots, clock, asked };
}

async function linesOf(robots: RobotsClient): Promise<string[]> {
  const lines = [];
  for await (const line of robots.snapshot()) lines.push(line);
  return lines;
}

const A = 'https://a.example';
const B = 'https://b.example';

async function aSnapshot(
  urls = [A, B, 'https://missing.example', 'https://broken.example'],
): Promise<string[]> {
  const { robots } = client();
  for (const url of urls) await robots.canFetch(url);
  return linesOf(robots);
}

describe('a snapshot', () => {
  it('restores another client, which sends no request', async () => {
    const lines = await aSnapshot();
    const { robots, asked } = client();
    expect(await robots.restore(lines)).toEqual({
      restored: 4,
      rejected: 0,
      reasons: {},
      evicted: 0,
      missing: 0,
    });
    expect(robots.peek(`${A}/private`)).toMatchObject({
      allowed: false,
      rule: { line: 2 },
      robots: { source: 'memory' },
    });
    expect(await robots.canFetch('https://missing.example/x')).toBe(true);
    expect(await robots.check('https://broken.example/x')).toMatchObject({
      reason: 'unreachable',
      allowed: false,
    });
    expect(asked).toEqual([]);
  });

  it('of a restored client is the same', async () => {
    const lines = await aSnapshot();
    const { robots } = client();
    await robots.restore(lines);
    // Fields may come in another order, and the checksum is of them.
    const contents = (of: readonly string[]): unknown[] =>
      of.map((line) => ({ ...JSON.parse(line), sum: undefined }));
    expect(contents(await linesOf(robots))).toEqual(contents(lines));
  });

  it('is a stream of lines: a header with their number, then one per origin', async () => {
    const lines = await aSnapshot();
    expect(lines).toHaveLength(5);
    expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
    expect(JSON.parse(lines[0]!)).toEqual({
      snapshot: 'canfetch',
      v: 3,
      origins: 4,
      takenAt: Date.UTC(2026, 0, 15, 12),
    });
    expect(lines.slice(1).map((line) => JSON.parse(line).record.origin)).toEqual([
      A,
      B,
      'https://missing.example',
      'https://broken.example',
    ]);
    const { robots } = client();
    await robots.prefetch([A]);
    const file = await text(Readable.from(robots.snapshot()));
    const input = Readable.from([file.slice(0, 20), file.slice(20)]);
    expect(await client().robots.restore(createInterface({ input }))).toMatchObject({
      restored: 1,
      rejected: 0,
    });
    expect(await client().robots.restore(file)).toMatchObject({ restored: 1, missing: 0 });
    expect(await client().robots.restore(new Set([file.replaceAll('\n', '\r\n')]))).toMatchObject({
      restored: 1,
    });
  });

  it('is of one moment, at any pace of reading', async () => {
    const { robots } = client();
    await robots.canFetch(A);
    await robots.canFetch(B);
    const lines: string[] = [];
    for await (const line of robots.snapshot()) {
      lines.push(line);
      await robots.invalidate(A);
      await robots.canFetch('https://later.example/');
    }
    expect(lines.slice(1).map((line) => JSON.parse(line).record.origin)).toEqual([A, B]);
  });

  it('of a client that is closed during it ends with an error, not early', async () => {
    const { robots } = client({
      cache: { maxBytes: 2 ** 24 },
      transport: { fetch: async () => new Response('x'.repeat(400_000)) },
    });
    await robots.prefetch([A, B]);
    const reading = robots.snapshot()[Symbol.asyncIterator]();
    await reading.next();
    await reading.next();
    await robots.close();
    await expect(reading.next()).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    await expect(linesOf(robots)).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
  });
});

describe('a line that is not restored', () => {
  const swap = (line: string, from: string | RegExp, to: string): string => line.replace(from, to);

  it.each<[RestoreRejection, (line: string) => string, RobotsClientOptions?]>([
    ['damaged', (line) => swap(line, '/private', '/privat')],
    ['damaged', (line) => line.slice(0, 60)],
    ['damaged', () => 'https://a.example'],
    ['version', (line) => swap(line, '"v":3', '"v":4')],
    [
      'lifetime',
      (line) => line,
      { profile: { ...profiles.rfc9309, lifetime: { defaultMs: HOUR, minMs: SECOND, maxMs: HOUR } } },
    ],
  ])('is counted, and reported with the reason (%s)', async (reason, change, options) => {
    const [header, first, ...rest] = await aSnapshot([A, B]);
    const { robots } = client(options);
    const received: unknown[] = [];
    const result = await robots.restore([header!, change(first!)], {
      onRejected: (rejection) => received.push(rejection),
    });
    expect(result).toEqual({ restored: 0, rejected: 1, reasons: { [reason]: 1 }, evicted: 0, missing: 1 });
    expect(received).toEqual([{ line: 2, reason, ...(reason === 'lifetime' ? { origin: A } : {}) }]);
    expect(robots.peek(A)).toBeUndefined();
    expect(rest).toHaveLength(1);
  });

  it('from the future, expired, or older than the one in memory is counted too', async () => {
    const lines = await aSnapshot();
    const behind = client();
    behind.clock.advance(-HOUR);
    expect(await behind.robots.restore(lines)).toMatchObject({ restored: 0, reasons: { future: 4 } });

    const later = client();
    later.clock.advance(100 * DAY);
    // The files serve again when their sites are down; the 404 and the failure are history.
    expect(await later.robots.restore(lines)).toMatchObject({ restored: 2, reasons: { expired: 2 } });

    const knows = client();
    knows.clock.advance(SECOND);
    await knows.robots.canFetch(A);
    expect(await knows.robots.restore(lines)).toMatchObject({ restored: 3, reasons: { older: 1 } });
    expect(await knows.robots.restore(lines)).toMatchObject({ restored: 0, reasons: { older: 4 } });
  });

  it('for lack of space is counted', async () => {
    const lines = await aSnapshot();
    const { robots } = client({ cache: { maxOrigins: 3 } });
    expect(await robots.restore(lines)).toMatchObject({ restored: 4, evicted: 1 });
    expect(robots.stats().origins).toBe(3);
    // The least recently used had to go.
    expect(robots.peek(A)).toBeUndefined();
    expect(robots.peek(B)).toBeDefined();
  });

  it('because it is missing is counted', async () => {
    const lines = await aSnapshot();
    expect(await client().robots.restore(lines.slice(0, 3))).toMatchObject({ restored: 2, missing: 2 });
    // Without its header nothing was promised; put together with another the sums are.
    expect(await client().robots.restore(lines.slice(1))).toMatchObject({ restored: 4, missing: 0 });
    const other = await aSnapshot(['https://c.example']);
    expect(await client().robots.restore([...lines.slice(0, 4), ...other])).toMatchObject({
      restored: 4,
      missing: 1,
    });
  });
});

describe('the header of a snapshot', () => {
  it.each([
    ['{"snapshot":"canfetch","origins":3}', 3, 0],
    ['{"snapshot":"canfetch","origins":0}', 0, 0],
    ['{"snapshot":"other","v":9,"origins":1}', 1, 0],
    // What promises no number of origins is a line like any other, and a damaged one.
    ['{"snapshot":"canfetch","origins":-1}', 0, 1],
    ['{"snapshot":"canfetch","origins":1.5}', 0, 1],
    ['{"snapshot":"canfetch","origins":"3"}', 0, 1],
    ['{"snapshot":"canfetch","origins":1e300}', 0, 1],
    ['{"snapshot":"canfetch"}', 0, 1],
    ['{"snapshot":"canfetch","origins":3', 0, 1],
    ['{"origins":3,"snapshot":"canfetch"}', 0, 1],
  ])('%s promises %i origins', async (header, missing, rejected) => {
    const { robots } = client();
    expect(await robots.restore([`${header}\n`])).toMatchObject({ restored: 0, missing, rejected });
  });
});

describe('restore', () => {
  it('rejects with what onRejected throws, or rejects with', async () => {
    const failure = new Error('no disk');
    const lines: number[] = [];
    const throwing = ({ line }: { readonly line: number }): void => {
      lines.push(line);
      if (line === 2) throw failure;
    };
    const { robots } = client();
    const damaged = ['1\n', '2\n', '3\n'];
    await expect(robots.restore(damaged, { onRejected: throwing })).rejects.toBe(failure);
    const rejecting = async (rejection: { readonly line: number }): Promise<void> => throwing(rejection);
    await expect(robots.restore(damaged, { onRejected: rejecting })).rejects.toBe(failure);
    expect(lines).toEqual([1, 2, 1, 2]);
  });

  it('ends with its signal while it waits for onRejected', async () => {
    const leaving = new AbortController();
    const reason = new Error('enough');
    const onRejected = async (): Promise<void> => {
      setImmediate(() => leaving.abort(reason));
      await new Promise(() => undefined);
    };
    const { robots } = client();
    await expect(robots.restore(['1\n'], { onRejected, signal: leaving.signal })).rejects.toBe(reason);
  });

  it('keeps a later site signal', async () => {
    const lines = await aSnapshot([A]);
    const { robots, clock } = client();
    robots.report(A, { reachable: true });
    expect(await robots.restore(lines)).toMatchObject({ restored: 1 });
    expect((await robots.policy(A)).site).toEqual({ reachable: true, at: clock.now() });
  });

  it('neither reads nor writes the store', async () => {
    const lines = await aSnapshot([A]);
    const { clock } = client();
    const store = new ScriptedStore({ clock });
    const { robots } = client({ store });
    await robots.restore(lines);
    expect(store.calls).toEqual([]);
  });

  it('rejects with the error of its arguments, its source or the client', async () => {
    const lines = await aSnapshot([A]);
    const { robots } = client();
    await expect(Reflect.apply(robots.restore, robots, [lines, { onReject() {} }])).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: 'Expected only known options, got `onReject`; did you mean `onRejected`?',
    });
    for (const wrong of [5, undefined, {}]) {
      await expect(robots.restore(wrong as never)).rejects.toMatchObject({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
      });
    }
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(robots.restore(lines, { signal })).rejects.toThrow('enough');
    async function* breaking(): AsyncGenerator<string> {
      yield* lines;
      throw new Error('the disk is gone');
    }
    await expect(robots.restore(breaking())).rejects.toThrow('the disk is gone');
    expect(robots.peek(A)).toBeDefined();
    async function* closing(): AsyncGenerator<string> {
      yield lines[0]!;
      await robots.close();
      yield lines[1]!;
    }
    await expect(robots.restore(closing())).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
  });
});
