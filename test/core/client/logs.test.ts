import { channel } from 'node:diagnostics_channel';
import { format } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { attemptLine } from '../../../src/core/client/debug-log.ts';
import type { FetchMessage } from '../../../src/index.ts';
import { afterEachTest } from '../../support/after-each-test.ts';
import { START } from '../../support/client.ts';

/** The package as a process loads it for the first time: what is done once is not done yet. */
async function loaded(): Promise<typeof import('../../../src/index.ts')> {
  vi.resetModules();
  return import('../../../src/index.ts');
}

const transport = {
  fetch: (url: string): Promise<Response> =>
    url.startsWith('https://down.')
      ? Promise.reject(new Error('down'))
      : Promise.resolve(new Response('User-agent: *\nDisallow: /private\n')),
};

describe('a client without an agent', () => {
  it('warns once, by a code, and no client with one does', async () => {
    const { canFetch, RobotsClient } = await loaded();
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    afterEachTest(() => warn.mockRestore());
    await new RobotsClient({ agent: 'ExampleBot', transport }).close();
    // Each question of the shared client names its agent.
    await canFetch('https://a.example/robots.txt', 'ExampleBot');
    expect(warn).not.toHaveBeenCalled();
    await new RobotsClient({ transport }).close();
    await new RobotsClient({ transport }).close();
    expect(warn).toHaveBeenCalledOnce();
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining('agent'),
      expect.objectContaining({ code: 'CANFETCH_NO_AGENT' }),
    );
  });
});

describe('many clients of one agent that share no store', () => {
  /** The codes of the warnings when clients are made, each so many ms after the one before. */
  async function warnedOf(
    makes: readonly (readonly [agent: string, afterMs: number, options?: object | undefined])[],
  ) {
    const { RobotsClient } = await loaded();
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    afterEachTest(() => warn.mockRestore());
    let now = 1e6;
    const time = vi.spyOn(performance, 'now').mockImplementation(() => now);
    afterEachTest(() => time.mockRestore());
    for (const [agent, afterMs, options] of makes) {
      now += afterMs;
      await new RobotsClient({ agent, transport, ...options }).close();
    }
    return warn.mock.calls.map(([message, options]) => [message, Object(options).code] as const);
  }
  const times = (count: number, afterMs: number, options?: object) =>
    Array.from({ length: count }, () => ['ExampleBot', afterMs, options] as const);

  it('are warned of once, at the tenth within a minute, with the lines that mend it', async () => {
    const [warning, ...others] = await warnedOf(times(40, 6_000));
    expect(others).toEqual([]);
    expect(warning?.[1]).toBe('CANFETCH_MANY_CLIENTS');
    expect(warning?.[0]).toBe(
      '10 clients of "ExampleBot" were made within a minute, and each keeps a pace of its own: make one, ' +
        '`const robots = new RobotsClient({ agent })`, for the whole process, or give each the same ' +
        "`store: sqliteStore({ path: 'robots.sqlite' })` of canfetch/sqlite",
    );
  });

  it('are not, if they are nine, or further apart, or of several agents, or share a store', async () => {
    expect(await warnedOf(times(9, 0))).toEqual([]);
    expect(await warnedOf(times(40, 7_000))).toEqual([]);
    expect(await warnedOf(times(30, 0).map((_, at) => [`Bot-${at % 4}`, 0] as const))).toEqual([]);
    const store = { get: () => undefined, set: () => {}, delete: () => {} };
    expect(await warnedOf(times(30, 0, { store }))).toEqual([]);
  });
});

describe('NODE_DEBUG=canfetch', () => {
  /** Loads the package in a process whose `NODE_DEBUG` has, or has not, `canfetch`, and returns the lines to come. */
  async function debugged(
    enabled: boolean,
  ): Promise<{ lines: string[]; client: import('../../../src/index.ts').RobotsClient }> {
    const { RobotsClient } = await loaded();
    const lines: string[] = [];
    const log = Object.assign((...values: unknown[]) => void lines.push(format(...values)), { enabled });
    const util = { ...process.getBuiltinModule('node:util'), debuglog: () => log };
    const { getBuiltinModule } = process;
    const diagnostics = getBuiltinModule('node:diagnostics_channel');
    const subscribe = vi.spyOn(diagnostics, 'subscribe');
    const builtin = vi
      .spyOn(process, 'getBuiltinModule')
      .mockImplementation((id: string) =>
        id === 'node:util' ? util : (getBuiltinModule as (name: string) => object)(id),
      );
    const clock = { now: () => START };
    const client = new RobotsClient({ agent: 'ExampleBot', transport, clock });
    builtin.mockRestore();
    await vi.dynamicImportSettled();
    afterEachTest(async () => {
      await client.close();
      for (const [name, listener] of subscribe.mock.calls) diagnostics.unsubscribe(name, listener);
    });
    return { lines, client };
  }

  it('writes each attempt and each decision, without userinfo and on one line', async () => {
    const { lines, client } = await debugged(true);
    await client.check('https://user:s3cret@a.example/private\u202e');
    await client.check('https://a.example/');
    await client.check('https://down.example/');
    expect(lines).toEqual([
      'attempt https://a.example/robots.txt for ExampleBot: success, 200, 33 bytes, 0 ms',
      'disallowed https://a.example/private%E2%80%AE for ExampleBot: rule, line 2 (disallow: /private), from network',
      'allowed https://a.example/ for ExampleBot: no-rule, from memory',
      'attempt https://down.example/robots.txt for ExampleBot: unreachable, ERR_ROBOTS_FETCH_FAILED, 0 ms',
      'disallowed https://down.example/ for ExampleBot: unreachable, from network',
    ]);
  });

  it('subscribes to nothing where it is not set', async () => {
    const { lines, client } = await debugged(false);
    await client.check('https://a.example/private');
    expect(lines).toEqual([]);
    expect(channel('canfetch:decision').hasSubscribers).toBe(false);
  });

  it('tells of an attempt that was given up', () => {
    const message: FetchMessage = {
      origin: 'https://a.example',
      url: 'https://a.example/robots.txt',
      outcome: undefined,
      startedAt: START,
      durationMs: 7,
      revalidation: false,
      client: { agent: 'ExampleBot' },
    };
    expect(attemptLine(message)).toBe('attempt https://a.example/robots.txt for ExampleBot: given up, 7 ms');
  });
});
