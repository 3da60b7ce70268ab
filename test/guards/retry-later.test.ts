import { describe, expect, it, vi } from 'vitest';
import {
  guardFetch,
  profiles,
  refusalIn,
  retryAtOf,
  retryLater,
  RobotsClient,
  type RobotsClientOptions,
  type RobotsStore,
  type SiteWait,
} from '../../src/index.ts';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { A, closing, noting } from '../core/pacing/support.ts';
import { openedClient } from '../support/opened.ts';

/** A client whose robots.txt is answered by these statuses, the last of them again and again. */
function crawler(...statuses: number[]) {
  const clock = virtualClock({ autoAdvance: true });
  let asked = 0;
  const transport = {
    fetch: async () => {
      const status = statuses[Math.min(asked++, statuses.length - 1)]!;
      return new Response(status === 200 ? 'User-agent: *\nDisallow: /private\n' : null, { status });
    },
  };
  const { robots: client } = openedClient({ clock, transport });
  const { fetch, calls } = noting(clock);
  return { clock, client, fetch, calls, attempts: () => asked };
}

describe('retryLater', () => {
  it('comes back at `retryAt`, and asks no more often: a 503 at the start costs no page', async () => {
    const { clock, client, fetch, calls, attempts } = crawler(503, 503, 200);
    const guarded = guardFetch(fetch, client);
    const pages = [1, 2, 3].map((page) => retryLater(() => guarded(`${A}/${page}`), { clock }));
    expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(attempts()).toBe(3);
    // After 30 s, then after 60 s.
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([90_000, 90_000, 90_000]);
  });

  it('waits by the clock of the client', async () => {
    const { client, fetch, calls } = crawler(503, 200);
    const guarded = guardFetch(fetch, client);
    expect((await retryLater(() => guarded(`${A}/1`))).status).toBe(200);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([30_000]);
  });

  it('does so for deferred requests, and for refusals that are responses', async () => {
    const { clock, client, fetch, calls } = crawler(200);
    const pacing = { defaultDelayMs: 1_000, maxDelayMs: 0 };
    const guarded = guardFetch(fetch, client, { pacing, onDisallow: 'response' });
    const read = async (response: Response): Promise<number> => {
      await response.text();
      return response.status;
    };
    const pages = [1, 2, 3, 4].map((page) => retryLater(() => guarded(`${A}/${page}`), { clock }).then(read));
    expect(await Promise.all(pages)).toEqual([200, 200, 200, 200]);
    const times = calls.map(([, afterMs]) => afterMs);
    for (const [index, at] of times.entries())
      if (index > 0) expect(at - times[index - 1]!).toBeGreaterThanOrEqual(1_000);
    const failing = crawler(503);
    const refused = guardFetch(failing.fetch, failing.client, { onDisallow: 'response' });
    const options = { clock: failing.clock, maxRetries: 2 };
    expect((await retryLater(() => refused(`${A}/`), options)).status).toBe(503);
    expect(failing.attempts()).toBe(3);
  });

  it('does not try again what is disallowed, what fails otherwise, or what is too far away', async () => {
    const { clock, client, fetch, attempts } = crawler(200);
    let calls = 0;
    const count = async <Value>(work: Promise<Value>): Promise<Value> => (calls++, work);
    const guarded = guardFetch(fetch, client);
    const disallowed = retryLater(() => count(guarded(`${A}/private`)), { clock });
    await expect(disallowed).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    const broken = retryLater(() => count(Promise.reject(new TypeError('fetch failed'))), { clock });
    await expect(broken).rejects.toThrow('fetch failed');
    const failing = crawler(503);
    const far = guardFetch(failing.fetch, failing.client);
    const soon = { clock: failing.clock, maxWaitMs: 29_999 };
    await expect(retryLater(() => count(far(`${A}/`)), soon)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_UNREACHABLE',
      retryAt: failing.clock.now() + 30_000,
    });
    expect([calls, attempts()]).toEqual([3, 1]);
  });

  it('ends with its signal, and refuses options that are none', async () => {
    const clock = virtualClock();
    const { client, fetch } = crawler(503);
    const guarded = guardFetch(fetch, client);
    const leaving = new AbortController();
    const waiting = retryLater(() => guarded(`${A}/`), { clock, signal: leaving.signal });
    await clock.whenWaiting();
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(clock.waiting).toBe(0);
    const options: object = { retries: 3 };
    await expect(retryLater(() => guarded(A), options)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
    });
  });
});

/** Answers of a site in turn, the last of them again and again: a status, or the code of a failure. */
type Answers = readonly (number | string)[];

/** Sites by their hosts: what robots.txt and pages answer. Time moves by itself. */
function internet(sites: Readonly<Record<string, { readonly robots: Answers; readonly pages?: Answers }>>) {
  const clock = virtualClock({ autoAdvance: true });
  const asked: [url: string, afterMs: number][] = [];
  const startedAt = clock.now();
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const { href, hostname, pathname } = new URL(input instanceof Request ? input.url : input);
    const { robots, pages = [200] } = sites[hostname]!;
    const [answers, isSame] =
      pathname === '/robots.txt'
        ? [robots, (url: string) => url === href]
        : [pages, (url: string) => new URL(url).hostname === hostname && !url.endsWith('/robots.txt')];
    const answer = answers[Math.min(asked.filter(([url]) => isSame(url)).length, answers.length - 1)]!;
    asked.push([href, clock.now() - startedAt]);
    if (typeof answer === 'string')
      throw Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error(), { code: answer }),
      });
    const isRobots = pathname === '/robots.txt' && answer === 200;
    return new Response(isRobots ? 'User-agent: *\nDisallow: /private\n' : 'a page', { status: answer });
  };
  const client = (options: RobotsClientOptions = {}) => {
    const { robots: made } = openedClient({ clock, transport: { fetch }, ...options });
    return made;
  };
  return { clock, fetch, client, asked, elapsedMs: () => clock.now() - startedAt };
}

const MINUTES = 60_000;

describe('a run of `retryLater`', () => {
  const sites = {
    'well.example': { robots: [200] },
    'dead.example': { robots: ['ENOTFOUND'] },
    'busy.example': { robots: [200], pages: [429, 429, 200] },
    'closed.example': { robots: [503] },
  };
  const urls = [1, 2].flatMap((page) => Object.keys(sites).map((host) => `https://${host}/${page}`));

  it('ends within ten minutes, with every page told, whatever sites it meets', async () => {
    const { clock, fetch, client, asked, elapsedMs } = internet(sites);
    const fetchPolitely = guardFetch(fetch, client(), { pacing: true });
    const told: Record<string, unknown> = {};
    const waits: SiteWait[] = [];
    for (const url of urls) {
      try {
        const response = await retryLater(() => fetchPolitely(url), {
          clock,
          onWait: (wait) => void waits.push(wait),
        });
        told[url] = [response.status, (await response.text()).length];
      } catch (error) {
        const { code, retryAt } = refusalIn(error)!;
        told[url] = [code, retryAt === undefined ? 'for good' : 'later'];
      }
    }
    const dead = ['ERR_ROBOTS_UNREACHABLE', 'for good'];
    const closed = ['ERR_ROBOTS_UNREACHABLE', 'later'];
    expect(told).toEqual({
      'https://well.example/1': [200, 6],
      'https://dead.example/1': dead,
      'https://busy.example/1': [200, 6],
      'https://closed.example/1': closed,
      'https://well.example/2': [200, 6],
      'https://dead.example/2': dead,
      'https://busy.example/2': [200, 6],
      'https://closed.example/2': closed,
    });
    expect(elapsedMs()).toBeLessThan(10 * MINUTES);
    // Every wait was announced as it was kept.
    const causes = waits.map(({ url, cause }) => `${new URL(url).hostname}: ${cause}`);
    expect([...new Set(causes)]).toEqual([
      'dead.example: robots.txt is unreachable (the host name does not exist, ENOTFOUND)',
      'busy.example: it answered 429',
      'closed.example: robots.txt is unreachable (503)',
    ]);
    const starts = new Set(asked.map(([, afterMs]) => afterMs + clock.now() - elapsedMs()));
    for (const { until } of waits) expect(starts).toContain(until);
  });

  it('gives the refusal of a dead site after one further try; who asks later has another', async () => {
    const { clock, fetch, client, asked } = internet({ 'dead.example': { robots: ['ECONNREFUSED'] } });
    const guarded = guardFetch(fetch, client(), { pacing: true });
    const visit = () => retryLater(() => guarded('https://dead.example/'), { clock }).catch((error) => error);
    const outcome = await visit();
    expect(asked.map(([url]) => url)).toEqual(Array(2).fill('https://dead.example/robots.txt'));
    expect(refusalIn(outcome)).toMatchObject({
      retryAt: undefined,
      message: expect.stringMatching(/a second try failed, too, so this is for good$/),
    });
    expect(retryAtOf(outcome)).toBeUndefined();
    await clock.advance(10 * MINUTES);
    expect(retryAtOf(await visit())).toBeUndefined();
    expect(asked).toHaveLength(3);
  });

  it('knows a dead site, and one that has responded before, from the store', async () => {
    for (const [answers, retryAt] of [
      [['ENOTFOUND', 'ENOTFOUND'], undefined],
      [[503, 'ENOTFOUND', 'ENOTFOUND'], expect.any(Number)],
    ] as const) {
      const { clock, fetch, client } = internet({ 'a.example': { robots: answers } });
      const records = new Map<string, string>();
      const store: RobotsStore = {
        get: (key) => records.get(key),
        set: (key, value) => void records.set(key, value),
        delete: (key) => void records.delete(key),
      };
      let outcome: unknown;
      for (let start = 0; start < answers.length; start++) {
        const robots = client({ store });
        outcome = await guardFetch(fetch, robots)('https://a.example/').catch((error: unknown) => error);
        await robots.close();
        await clock.advance(5 * MINUTES);
      }
      expect(refusalIn(outcome)).toMatchObject({ code: 'ERR_ROBOTS_UNREACHABLE', retryAt });
    }
  });

  it('gives a program that runs once its page after a second, by a profile of its own', async () => {
    const { clock, fetch, client, elapsedMs } = internet({ 'a.example': { robots: [503, 200] } });
    const robotsRetry = { initialMs: 1_000, maxMs: 60_000 };
    const robots = client({
      profile: { ...profiles.rfc9309, name: 'one-shot', robotsRetry },
      deadlineMs: 5_000,
    });
    const guarded = guardFetch(fetch, robots);
    const page = await retryLater(() => guarded('https://a.example/'), { clock, maxWaitMs: 10_000 });
    expect([page.status, await page.text()]).toEqual([200, 'a page']);
    expect(elapsedMs()).toBeLessThanOrEqual(1_000);
  });

  it('waits no longer than `maxWaitMs` in all, and asks no more often than `maxRetries` says', async () => {
    const { clock, fetch, client, asked, elapsedMs } = internet({
      'busy.example': { robots: [200], pages: [429] },
    });
    const guarded = guardFetch(fetch, client({ random: () => 0.5 }), { pacing: true });
    const url = 'https://busy.example/';
    const response = await retryLater(() => guarded(url), { clock, maxWaitMs: 100_000 });
    // After 30 s and 60 s; 120 s more would be too long.
    expect([response.status, Math.round(elapsedMs() / 1_000)]).toEqual([429, 91]);
    await clock.advance(200 * MINUTES);
    await retryLater(() => guarded(url), { clock, maxRetries: 1 });
    expect(asked.filter(([each]) => each === url)).toHaveLength(3 + 2);
  });

  it('waits for a site that gives no page only once, however many pages are left', async () => {
    const { clock, fetch, client, elapsedMs } = internet({ 'busy.example': { robots: [200], pages: [429] } });
    const headers = { 'retry-after': '60' };
    const busy = async (url: string | URL | Request): Promise<Response> =>
      new Response('', { status: (await fetch(url)).status, headers });
    const guarded = guardFetch(busy, client(), { pacing: true });
    for (let page = 0; page < 20; page++)
      expect((await retryLater(() => guarded(`https://busy.example/${page}`), { clock })).status).toBe(429);
    // Ten minutes, and the pause that the site asks for before each page.
    expect(elapsedMs()).toBeLessThan(31 * MINUTES);
  });
});

it.each([
  ['closed.example', 'ERR_ROBOTS_UNREACHABLE', 503, {}],
  ['well.example', 'ERR_ROBOTS_DEFERRED', 200, { defaultDelayMs: 60_000, maxDelayMs: 0 }],
])(
  '`retryLater` ends with the client whose `acquirePermit` or `reserve` rejected: %s, %s',
  async (host, code, status, options) => {
    const { fetch } = internet({ [host]: { robots: [status] } });
    const still = virtualClock();
    const robots = new RobotsClient({ agent: 'ExampleBot', clock: still, transport: { fetch } });
    const url = `https://${host}/`;
    const tried: unknown[] = [];
    const noted = (error: unknown): never => {
      tried.push(Reflect.get(Object(error), 'code'));
      throw error;
    };
    const visits = [
      retryLater(async () => robots.acquirePermit(await robots.check(url), options).catch(noted), {
        clock: still,
      }),
    ];
    if (status === 503)
      visits.push(
        retryLater(async () => void (await robots.reserve(url).catch(noted)) as never, { clock: still }),
      );
    const ended = Promise.all(
      visits.map((visit) => expect(visit).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' })),
    );
    await still.whenWaiting(visits.length);
    expect(tried).toEqual(visits.map(() => code));
    await robots.close();
    await ended;
    expect(still.waiting).toBe(0);
  },
);

describe('the warning CANFETCH_WAITING', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

  /** What a copy of the package, which has warned of nothing yet, warns of. */
  async function warningsOf(
    site: Parameters<typeof internet>[0][string],
    onWait?: () => void,
  ): Promise<string[]> {
    warned.mockClear();
    vi.resetModules();
    const fresh = await import('../../src/index.ts');
    const { clock, fetch } = internet({ 'a.example': site });
    const robots = new fresh.RobotsClient({ agent: 'ExampleBot', clock, transport: { fetch } });
    closing(robots);
    const pacing = { defaultDelayMs: 400_000 };
    const guarded = fresh.guardFetch(fetch, robots, { pacing });
    for (const page of [1, 2])
      await fresh
        .retryLater(() => guarded(`https://a.example/${page}`), { clock, ...(onWait && { onWait }) })
        // A body that nobody reads would hold up the next page, by a timer of the machine.
        .then((response) => response.text())
        .catch(() => undefined);
    return warned.mock.calls
      .map(([message, details]) => `${Reflect.get(Object(details), 'code')}: ${String(message)}`)
      .filter((text) => text.startsWith('CANFETCH_WAITING'));
  }

  it('names a site that is broken, once, and what tells of waits', async () => {
    expect(await warningsOf({ robots: [503] })).toEqual([
      expect.stringMatching(
        /^CANFETCH_WAITING: Waits for https:\/\/a.example until 2026-.*: robots.txt is unreachable \(503\)\. .*`onWait`.*crawlReport\(robots, \{ every: 60_000 \}\)/,
      ),
    ]);
  });

  it('is not given where `onWait` is', async () => {
    expect(await warningsOf({ robots: [503] }, () => undefined)).toEqual([]);
  });

  it('is not given for a wait that keeps a pace', async () => {
    expect(await warningsOf({ robots: [200] })).toEqual([]);
  });
});
