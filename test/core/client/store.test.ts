import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { profiles, type RobotsStore } from '../../../src/index.ts';
import { DAY, HOUR, SECOND } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { ScriptedStore } from '../../support/store.ts';
import type { FakeScript } from '../../../src/extras/testing/index.ts';
import { RULES, settled, siteWith, startClock, startProcess, visit } from './store-support.ts';

function setUp() {
  const clock = startClock();
  return { clock, store: new ScriptedStore({ clock }) };
}

/** The same, with a site that answers so. */
async function sceneWith(robots?: FakeScript) {
  return { ...setUp(), site: await siteWith(robots) };
}

describe('the record of one client', () => {
  it('answers the next client, which sends no request', async () => {
    const { clock, store, site } = await sceneWith();
    const first = startProcess(store, clock);
    expect((await first.robots.check(site.url('/'))).robots.source).toBe('network');
    await first.robots.close();
    await clock.advance(HOUR);
    const { robots } = startProcess(store, clock);
    expect(await robots.check(site.url('/private'))).toMatchObject({
      allowed: false,
      reason: 'rule',
      rule: { line: 2 },
      robots: { source: 'store', fetchedAt: clock.now() - HOUR, staleAt: clock.now() + 23 * HOUR },
    });
    expect(await robots.check(site.url('/'))).toMatchObject({ allowed: true, robots: { source: 'memory' } });
    expect(robots.stats()).toMatchObject({ attempts: 0, hits: 1, misses: 1 });
    expect(site.robotsCount).toBe(1);
    const other = startProcess(store, clock);
    expect(await other.robots.policy(site.origin)).toMatchObject({
      state: 'rules',
      robots: { source: 'store' },
    });
  });

  it('in the last tenth of its lifetime is refreshed at once, by one process of the fleet', async () => {
    const { clock, store, site } = await sceneWith();
    await visit(site.url('/'), store, clock);
    const processes = [startProcess(store, clock), startProcess(store, clock)];
    await clock.advance(0.95 * DAY);
    const asked = processes.flatMap(({ robots }) => [
      robots.check(site.url('/')),
      robots.policy(site.url('/')),
    ]);
    expect((await Promise.all(asked)).map(({ robots }) => robots.source)).toEqual(Array(4).fill('store'));
    await eventually(async () => {
      await clock.advance(SECOND);
      expect(processes.map(({ robots }) => robots.stats().inFlight)).toEqual([0, 0]);
    });
    expect(site.robotsCount).toBe(2);
    await clock.advance(0.5 * DAY);
    for (const { robots } of processes) expect(robots.permits(site.url('/'))).toBe(true);
  });

  it.each([
    ['a 404', { status: 404 }, { reason: 'unavailable', allowed: true }],
    ['a failure', { status: 503 }, { reason: 'unreachable', allowed: false }],
    ['a broken connection', { fault: 'reset' }, { reason: 'unreachable', allowed: false }],
  ] as const)('is shared also when it is %s', async (_, answer, expected) => {
    const { clock, store, site } = await sceneWith(answer);
    const decisions = [];
    for (let count = 0; count < 2; count++) {
      const { robots } = startProcess(store, clock);
      decisions.push(await robots.check(site.url('/')));
      await robots.close();
    }
    expect(decisions[1]).toMatchObject(expected);
    expect(decisions[1]).toEqual({ ...decisions[0], robots: { ...decisions[0]!.robots, source: 'store' } });
    expect(site.robotsCount).toBe(1);
  });

  it('is kept by a store whose methods are synchronous', async () => {
    const entries = new Map<string, string>();
    const store: RobotsStore = {
      get: (key) => entries.get(key),
      set: (key, value) => void entries.set(key, value),
      delete: (key) => void entries.delete(key),
    };
    const clock = startClock();
    const site = await siteWith();
    const sources: string[] = [];
    for (let count = 0; count < 2; count++) {
      const { robots, events } = startProcess(store, clock);
      sources.push((await robots.check(site.url('/private'))).robots.source);
      if (count === 1) await robots.invalidate(site.origin);
      await robots.close();
      expect(events).toEqual([]);
    }
    expect(sources).toEqual(['network', 'store']);
    expect(entries.size).toBe(0);
    expect(site.robotsCount).toBe(1);
  });

  it('serves as the last good copy after a restart, while the site is down', async () => {
    const { clock, store, site } = await sceneWith([RULES, { status: 503 }]);
    await visit(site.url('/'), store, clock);
    await clock.advance(20 * DAY);
    const second = startProcess(store, clock);
    expect(await second.robots.check(site.url('/private'))).toMatchObject({
      state: 'last-good',
      allowed: false,
    });
    expect(await second.robots.check(site.url('/'))).toMatchObject({ state: 'last-good', allowed: true });
    await second.robots.close();
    // And so it does after the next, which learns of the failure as well.
    const third = startProcess(store, clock);
    expect(await third.robots.check(site.url('/private'))).toMatchObject({
      state: 'last-good',
      allowed: false,
      robots: { source: 'store', error: 'ERR_ROBOTS_STATUS' },
    });
    expect(site.robotsCount).toBe(2);
  });

  it('is revalidated when it is stale', async () => {
    const { clock, store, site } = await sceneWith([
      { body: RULES, headers: { etag: '"v1"' } },
      { status: 304 },
    ]);
    await visit(site.url('/'), store, clock);
    await clock.advance(2 * DAY);
    const second = startProcess(store, clock);
    expect(await second.robots.check(site.url('/private'))).toMatchObject({ state: 'rules', allowed: false });
    expect(site.requests[1]?.headers['if-none-match']).toBe('"v1"');
    await second.robots.close();
    await clock.advance(HOUR);
    const third = startProcess(store, clock);
    expect(await third.robots.check(site.url('/private'))).toMatchObject({ robots: { source: 'store' } });
    expect(site.robotsCount).toBe(2);
  });

  it('renews the record of another client, before and after it is stale', async () => {
    const { clock, store, site } = await sceneWith([RULES, 'User-agent: *\nDisallow: /']);
    const [one, other] = [startProcess(store, clock), startProcess(store, clock)];
    await one.robots.canFetch(site.url('/'));
    await other.robots.canFetch(site.url('/'));
    await clock.advance(23 * HOUR);
    await one.robots.canFetch(site.url('/'));
    await eventually(() => expect(one.robots.peek(site.url('/'))?.allowed).toBe(false));
    // Still by the answer that holds, and at once; then by the one that the first has fetched.
    expect(await other.robots.canFetch(site.url('/'))).toBe(true);
    await settled();
    expect(other.robots.peek(site.url('/'))?.allowed).toBe(false);
    expect(other.robots.stats().attempts).toBe(0);
    expect(site.robotsCount).toBe(2);
  });

  it('includes the site signal', async () => {
    const { clock, store, site } = await sceneWith({ status: 503 });
    const one = startProcess(store, clock, { profile: 'google' });
    one.robots.report(site.origin, { reachable: true });
    await one.robots.canFetch(site.url('/'));
    await one.robots.close();
    const other = startProcess(store, clock, { profile: 'google' });
    expect((await other.robots.policy(site.origin)).site).toEqual({ reachable: true, at: clock.now() });
  });

  it('of a redirect to another robots.txt is stored for that origin, too', async () => {
    const { clock, store } = setUp();
    const target = await siteWith();
    const site = await siteWith({ redirect: `${target.origin}/robots.txt` });
    await visit(site.url('/'), store, clock);
    const other = startProcess(store, clock);
    expect(await other.robots.check(target.url('/private'))).toMatchObject({
      allowed: false,
      robots: { source: 'store', hops: 0 },
    });
    expect((await other.robots.check(site.url('/private'))).robots).toMatchObject({
      source: 'store',
      hops: 1,
      finalUrl: `${target.origin}/robots.txt`,
    });
    expect(target.robotsCount).toBe(1);
  });

  it('is for clients of the same product token, in any version', async () => {
    const { clock, store, site } = await sceneWith();
    for (const agent of ['ExampleBot/1.0', 'EXAMPLEBOT/2.0 (+https://example.com)', 'OtherBot/1.0']) {
      const { robots } = startProcess(store, clock, { agent });
      await robots.canFetch(site.url('/'));
      await robots.close();
    }
    expect(site.requests.map(({ headers }) => headers['user-agent'])).toEqual([
      'ExampleBot/1.0',
      'OtherBot/1.0',
    ]);
  });

  it('is not for clients with a stricter address policy', async () => {
    const { clock, store, site } = await sceneWith('');
    const lax = startProcess(store, clock, { addressPolicy: 'any' });
    expect(await lax.robots.canFetch(site.url('/'))).toBe(true);
    await lax.robots.close();
    const strict = startProcess(store, clock, { addressPolicy: 'public-only' });
    expect(await strict.robots.check(site.url('/'))).toMatchObject({ allowed: false, reason: 'unreachable' });
  });

  it('under a laxer profile allows nothing under a stricter one', async () => {
    const { clock, store, site } = await sceneWith([
      { status: 403, headers: { 'cache-control': 'max-age=3600' } },
    ]);
    const lax = startProcess(store, clock);
    expect(await lax.robots.canFetch(site.url('/'))).toBe(true);
    await lax.robots.close();
    const strict = startProcess(store, clock, { profile: 'koster-1996' });
    expect(await strict.robots.check(site.url('/'))).toMatchObject({ reason: 'restricted', allowed: false });
    expect(strict.received).toEqual(['rejected profile']);
    expect(site.robotsCount).toBe(2);
  });

  it('is read by the rules of the reader’s own dialect', async () => {
    const { clock, store, site } = await sceneWith('User-agent: *\nDisallow: /a\nAllow: /a/b\n');
    const one = startProcess(store, clock);
    expect(await one.robots.canFetch(site.url('/a/b'))).toBe(true);
    await one.robots.close();
    const profile = { ...profiles.rfc9309, name: 'first match', dialect: 'koster-1996' } as const;
    const other = startProcess(store, clock, { profile });
    expect(await other.robots.canFetch(site.url('/a/b'))).toBe(false);
    expect(site.robotsCount).toBe(1);
  });
});

describe('the store is called', () => {
  it('when memory has no answer, never otherwise', async () => {
    const { clock, store, site } = await sceneWith();
    const { robots } = startProcess(store, clock);
    expect(robots.peek(site.url('/'))).toBeUndefined();
    expect(await robots.canFetch(site.url('/robots.txt'))).toBe(true);
    expect(store.calls).toEqual([]);
    await robots.canFetch(site.url('/'));
    await settled();
    expect(store.calls.map(({ call }) => call)).toEqual(['get', 'lease', 'get', 'set', 'release']);
    expect(store.calls[1]!.key).not.toBe(store.calls[0]!.key);
    for (let count = 0; count < 10; count++) await robots.canFetch(site.url('/private'));
    robots.peek(site.url('/'));
    await robots.policy(site.url('/'));
    expect(store.calls).toHaveLength(5);
  });

  it('by no more than `concurrency` at once', async () => {
    const { clock, store } = setUp();
    store.fail('late', 'get');
    const { robots } = startProcess(store, clock, { concurrency: 2, storeDeadlineMs: 60_000 });
    const asked = Array.from({ length: 5 }, (_, port) => robots.canFetch(`http://127.0.0.1:${port + 1}/`));
    await settled();
    expect(store.count('get')).toBe(2);
    store.proceed();
    store.recover();
    await Promise.all(asked);
  });

  it('so that a late write overwrites no later response', async () => {
    const { clock, store } = setUp();
    const transportOf = (body: string) => ({ transport: { fetch: async () => new Response(body) } });
    const late = startProcess(store, clock, transportOf('User-agent: *\nAllow: /\n'));
    store.fail('late', 'set');
    expect(await late.robots.canFetch('https://a.example/private')).toBe(true);
    await settled();
    // Its lease has run out, and another process asks. Meanwhile the site has closed a folder.
    clock.advance(31 * SECOND);
    store.recover();
    const next = startProcess(store, clock, transportOf(RULES));
    expect(await next.robots.canFetch('https://a.example/private')).toBe(false);
    await settled();
    const written = store.entryOf('https://a.example')?.value;
    expect(written).toContain('/private');
    store.proceed();
    await settled();
    expect(store.entryOf('https://a.example')?.value).toBe(written);
  });

  it('not for a host longer than any name can be', async () => {
    const { clock, store } = setUp();
    const { robots } = startProcess(store, clock, { transport: { fetch: async () => new Response(RULES) } });
    expect(await robots.canFetch(`http://${'long.'.repeat(80)}example/private`)).toBe(false);
    expect(store.calls).toEqual([]);
  });

  it('with the retention of the record as TTL', async () => {
    const { clock, store } = setUp();
    const good = await siteWith({ body: RULES, headers: { 'cache-control': 'max-age=3600' } });
    const missing = await siteWith({ status: 404, headers: { 'cache-control': 'max-age=3600' } });
    const { robots } = startProcess(store, clock);
    await robots.canFetch(good.url('/'));
    await robots.canFetch(missing.url('/'));
    await settled();
    expect(store.entryOf(good.origin)?.ttlMs).toBeGreaterThanOrEqual(30 * DAY + HOUR);
    expect(store.entryOf(missing.origin)?.ttlMs).toBe(HOUR);
  });
});

describe('a store that fails', () => {
  const everything = ['get', 'set', 'delete', 'lease', 'release', 'reserve'] as const;

  it.each(['reject', 'throw', 'hang'] as const)(
    'in all it does (%s) costs a miss and events',
    async (kind) => {
      const { clock, store } = setUp();
      store.fail(kind, ...everything);
      const site = await siteWith();
      const { robots, received, events } = startProcess(store, clock);
      expect(await robots.check(site.url('/private'))).toMatchObject({ allowed: false, reason: 'rule' });
      expect(await robots.check(site.url('/'))).toMatchObject({ allowed: true, reason: 'no-rule' });
      const type = kind === 'hang' ? 'timeout' : 'failed';
      await eventually(() => expect(received).toEqual([`${type} get`, `${type} set`]));
      expect(events[0]).toMatchObject({ origin: site.origin });
      if (kind !== 'hang') expect(events[0]).toMatchObject({ error: new Error('the store cannot get') });
      expect(site.robotsCount).toBe(1);
    },
  );

  it.each([
    ['text', 'OK', 'rejected damaged'],
    ['bytes', Buffer.from('{}'), 'rejected damaged'],
    ['a megabyte', 'x'.repeat(2_000_000), 'rejected too-large'],
  ])('to return the stored value (%s) costs a miss and events', async (_, value, event) => {
    const { clock, store, site } = await sceneWith();
    store.fail({ kind: 'give', value }, 'get');
    const { robots, received } = startProcess(store, clock);
    expect(await robots.canFetch(site.url('/private'))).toBe(false);
    expect(received).toEqual([event]);
    expect(site.robotsCount).toBe(1);
  });

  it.each([
    ['of another origin', 'https://other.example', 0],
    ['from the future', undefined, -HOUR],
  ])('to separate records returns one %s: a miss', async (_, origin, afterMs) => {
    const { clock, store } = setUp();
    const open = await siteWith('');
    const site = await siteWith();
    const ahead = startProcess(store, clock);
    await ahead.robots.canFetch(open.url('/'));
    await ahead.robots.canFetch(site.url('/'));
    await ahead.robots.close();
    if (origin !== undefined) store.poison(site.origin, store.entryOf(open.origin)!.value);
    const behind = { now: () => clock.now() + afterMs, sleep: clock.sleep };
    const { robots, received } = startProcess(store, clock, { clock: behind });
    expect(await robots.check(site.url('/private'))).toMatchObject({
      allowed: false,
      robots: { source: 'network' },
    });
    expect(received).toEqual([`rejected ${origin === undefined ? 'future' : 'origin'}`]);
    expect(site.robotsCount).toBe(2);
  });

  it('to write (read-only) is still read', async () => {
    const { clock, store } = setUp();
    const sites = await Promise.all(Array.from({ length: 5 }, () => siteWith()));
    const unknown = await siteWith('User-agent: *\nDisallow: /');
    const writer = startProcess(store, clock);
    for (const site of sites) await writer.robots.canFetch(site.url('/'));
    await writer.robots.close();
    store.fail('reject', 'set', 'delete', 'lease', 'release');
    const { robots, received } = startProcess(store, clock);
    for (const site of sites) {
      await robots.invalidate(unknown.url('/'));
      expect(await robots.canFetch(unknown.url('/'))).toBe(false);
      expect((await robots.check(site.url('/private'))).robots.source).toBe('store');
      await settled();
    }
    expect(received.filter((each) => each === 'suspended')).toHaveLength(1);
    expect([sites.map((site) => site.robotsCount), unknown.robotsCount]).toEqual([[1, 1, 1, 1, 1], 5]);
  });

  it('to write does not bring back an older record', async () => {
    const { clock, store } = setUp();
    const closes = { body: 'User-agent: *\nDisallow: /', headers: { 'cache-control': 'max-age=600' } };
    const site = await siteWith(['', closes]);
    const { robots } = startProcess(store, clock);
    expect(await robots.canFetch(site.url('/'))).toBe(true);
    await settled();
    store.fail({ kind: 'give', value: undefined }, 'set');
    await clock.advance(22 * HOUR);
    await robots.canFetch(site.url('/'));
    await eventually(() => expect(robots.peek(site.url('/'))?.allowed).toBe(false));
    // What is stored is older, but would hold for longer.
    await clock.advance(HOUR);
    expect(await robots.check(site.url('/'))).toMatchObject({
      allowed: false,
      robots: { source: 'network' },
    });
    expect(site.robotsCount).toBe(3);
  });

  it('does not delay the rejection of an aborted question', async () => {
    const { clock, store, site } = await sceneWith();
    store.fail('late', 'get');
    const { robots } = startProcess(store, clock, { storeDeadlineMs: 60_000 });
    const leaving = new AbortController();
    const asked = robots.canFetch(site.url('/'), undefined, { signal: leaving.signal });
    await settled();
    leaving.abort(new Error('left'));
    await expect(asked).rejects.toThrow('left');
    store.proceed();
    await settled();
    expect([site.robotsCount, store.count('lease')]).toEqual([0, 0]);
    expect(robots.stats()).toMatchObject({ inFlight: 0, origins: 0 });
  });

  it('warns of the process once when its event listener throws or rejects, and fails no question', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    onTestFinished(() => warned.mockRestore());
    const { clock, store, site } = await sceneWith();
    store.fail('reject', ...everything);
    let heard = 0;
    const { robots } = startProcess(store, clock, {
      onStoreEvent: ({ type }) => {
        if (heard++ % 2 === 0) throw new Error(`heard ${type}`);
        return Promise.reject(new Error(`heard ${type}`));
      },
    });
    expect(await robots.canFetch(site.url('/private'))).toBe(false);
    await robots.close();
    await settled();
    expect(heard).toBe(2);
    expect(warned.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(/^`onStoreEvent` failed: Error: heard failed/),
    ]);
  });
});

describe('invalidate', () => {
  it('holds for this client while the store fails, and for all once it works again', async () => {
    const { clock, store, site } = await sceneWith([RULES, 'User-agent: *\nDisallow: /']);
    const { robots, received } = startProcess(store, clock);
    await robots.canFetch(site.url('/'));
    await settled();
    store.fail('reject', 'delete', 'set');
    await robots.invalidate(site.url('/'));
    expect(received).toEqual(['failed delete']);
    await clock.advance(SECOND);
    expect(await robots.canFetch(site.url('/'))).toBe(false);
    store.recover();
    await robots.invalidate(site.url('/'));
    expect(store.entries.size).toBe(0);
  });
});

describe('close', () => {
  it('waits for writes that are under way', async () => {
    const { clock, store, site } = await sceneWith();
    store.fail('late', 'set');
    const { robots } = startProcess(store, clock);
    await robots.canFetch(site.url('/'));
    const closing = Promise.all([robots.close(), robots.close()]);
    await settled();
    store.proceed();
    await closing;
    expect(store.entries.size).toBe(1);
  });

  it('is not held up by a store that hangs', async () => {
    const { clock, store, site } = await sceneWith();
    store.fail('hang', 'set', 'release');
    const { robots, received } = startProcess(store, clock);
    await robots.canFetch(site.url('/'));
    await robots.close();
    expect(received).toContain('timeout set');
  });
});
