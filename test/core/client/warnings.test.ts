import { describe, expect, it, vi } from 'vitest';
import { afterEachTest } from '../../support/after-each-test.ts';

/** The package as a process loads it for the first time: what is done once is not done yet. */
async function loaded(): Promise<typeof import('../../../src/index.ts')> {
  vi.resetModules();
  return import('../../../src/index.ts');
}

const transport = {
  fetch: (): Promise<Response> => Promise.resolve(new Response('User-agent: *\nDisallow: /private\n')),
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
