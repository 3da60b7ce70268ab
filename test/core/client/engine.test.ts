import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/core/base/index.ts';
import { crawlReport, guardFetch, RobotsClient } from '../../../src/index.ts';
import { DAY, testClient, VirtualClock } from '../../support/client.ts';
import { opened, openedClient } from '../../support/opened.ts';
import { engineOf } from '../../../src/core/client/client-engine.ts';

describe('rules past their lifetime', () => {
  const RULES = 'User-agent: *\nDisallow: /private\n';

  it('permit and forbid while their origin pauses, and no longer', async () => {
    const { client, clock } = testClient({ transport: { fetch: async () => new Response(RULES) } });
    const [open, closed] = ['https://example.com/page', new URL('https://example.com/private')];
    const permitted = (): unknown[] => [open, closed].map((url) => client.permits(url));
    await client.check(open);
    clock.advance(DAY - 60_000);
    expect(permitted()).toEqual([undefined, undefined]);
    client.report(open, { reachable: true, retryAfter: '3600' });
    await expect.poll(async () => (await client.policy(open)).pacing?.pause).toBeDefined();
    expect(permitted()).toEqual([true, false]);
    clock.advance(2 * 60_000);
    expect(permitted()).toEqual([true, false]);
    expect(client.peek(closed)?.allowed).toBe(false);
    expect(await client.canFetch(closed)).toBe(false);
    expect(client.stats().attempts).toBe(1);
    clock.advance(3_600_000);
    expect(permitted()).toEqual([undefined, undefined]);
  });

  it('are what `check`, `policy` and `prefetch` tell of an origin that pauses', async () => {
    const { robots: client, clock } = openedClient({ transport: { fetch: async () => new Response(RULES) } });
    const url = 'https://example.com/private';
    await client.check(url);
    client.report(url, { reachable: true, retryAfter: '80000' });
    await expect.poll(async () => (await client.policy(url)).pacing?.pause).toBeDefined();
    clock.advance(DAY - 60_000);
    client.report(url, { reachable: true, retryAfter: '80000' });
    for (const ms of [120_000, -2 * DAY]) {
      clock.advance(ms);
      expect(await client.check(url)).toMatchObject({ state: 'rules', allowed: false, reason: 'rule' });
      expect(await client.policy(url)).toMatchObject({ state: 'rules', robots: { status: 200 } });
      expect(await client.prefetch([url])).toMatchObject({ states: { rules: 1 } });
    }
    expect(client.stats().attempts).toBe(1);
  });

  it('are not mixed with a question that the clock asks meanwhile', async () => {
    const time = new VirtualClock();
    let meanwhile = (): unknown => undefined;
    const clock = {
      now: () => {
        meanwhile();
        return time.now();
      },
    };
    const fetch = async (): Promise<Response> => new Response(RULES);
    const { robots: client } = openedClient({ clock, transport: { fetch } });
    const url = 'https://example.com/private';
    await client.check(url);
    client.report(url, { reachable: true, retryAfter: '3600' });
    await expect.poll(async () => (await client.policy(url)).pacing?.pause).toBeDefined();
    time.advance(DAY);
    client.report(url, { reachable: true, retryAfter: '3600' });
    let isAsking = false;
    meanwhile = () => {
      if (isAsking) return;
      isAsking = true;
      client.permits('https://example.com/page');
      isAsking = false;
    };
    expect(client.permits(url)).toBe(false);
  });
});

it('a client of another version of the package is refused, with both versions', async () => {
  const client = opened(new RobotsClient({ agent: 'ExampleBot' }));
  Object.defineProperty(engineOf(client), 'version', { value: '9.8.7' });
  for (const use of [() => guardFetch(fetch, client), () => crawlReport(client)]) {
    expect(use).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: `Expected the client to be a RobotsClient of canfetch ${VERSION}, as this is, got one of canfetch 9.8.7; install one version for both`,
      }),
    );
  }
});
