import { expect, it, vi } from 'vitest';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import { opened } from '../../support/opened.ts';
import { engineOf } from '../../../src/core/client/engine.ts';

it('a known origin is decided synchronously, and a refresh ahead is started once', async () => {
  let now = 0;
  let requests = 0;
  const client = new RobotsClient({
    agent: 'ExampleBot',
    clock: { now: () => now },
    random: () => 0,
    transport: {
      fetch: async () => {
        requests++;
        return new Response('User-agent: *\nDisallow: /private\n');
      },
    },
  });
  const engine = engineOf(client);
  const url = 'https://example.com/private';
  expect(engine.decideFromMemory(url, undefined, true)).toBeUndefined();
  expect(requests).toBe(0);
  const { robots } = await client.check(url);
  now = (robots.staleAt ?? 0) - 1;
  expect(client.peek(url)).toMatchObject({ allowed: false });
  expect(client.stats().inFlight).toBe(0);
  expect(engine.decideFromMemory(url, undefined, true)).toMatchObject({ allowed: false, reason: 'rule' });
  expect(engine.decideFromMemory(url, undefined, true)).toMatchObject({ allowed: false });
  expect(client.stats().inFlight).toBe(1);
  await expect.poll(() => client.stats().inFlight).toBe(0);
  expect(requests).toBe(2);
  await client.close();
});

it('`/robots.txt` itself is permitted without a fetch (RFC 9309 §2.2.2)', async () => {
  const client = opened(new RobotsClient({ agent: 'ExampleBot' }));
  expect(client.permits('https://example.com/robots.txt')).toBe(true);
  expect(client.permits('https://example.com/robots.txt?a')).toBeUndefined();
  expect(client.stats()).toMatchObject({ attempts: 0, inFlight: 0 });
});

it('a client of another version of the package is asked by its public methods', async () => {
  const client = opened(
    new RobotsClient({
      agent: 'ExampleBot',
      transport: { fetch: async () => new Response('User-agent: *\nDisallow: /private\n') },
    }),
  );
  const engine = engineOf(client);
  Object.defineProperty(engine, 'version', { value: '0.0.1' });
  expect(engineOf(client)).toBeUndefined();
  const decide = vi.spyOn(engine, 'decide');
  const [allows, check] = [vi.spyOn(engine, 'allows'), vi.spyOn(client, 'check')];
  const guarded = guardFetch((_url: string) => Promise.resolve(new Response('page')), client);
  expect(await (await guarded('https://example.com/page')).text()).toBe('page');
  await expect(guarded('https://example.com/private')).rejects.toMatchObject({
    code: 'ERR_ROBOTS_DISALLOWED',
  });
  expect(check).toHaveBeenCalledOnce();
  // By `check` itself alone.
  expect(decide).toHaveBeenCalledOnce();
  expect(allows).not.toHaveBeenCalled();
});
