import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { type Clock, guardFetch, RobotsClient } from '../../src/index.ts';
import { openSqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import { HOUR, MINUTE, SECOND } from '../support/client.ts';

const HOSTS = 300;
const PACED_HOSTS = 20;
const GAP_MS = 20 * SECOND;
const PAUSE_MS = 10 * MINUTE;
/** Its file forbids more from here on. */
const CHANGE_AT_HOUR = 9;

const hostOf = (number: number): string => `host${number}.example`;

/** The sites: a third has rules for a day, a third rules for six hours that change, a sixth none; the rest fails. */
function robotsOf(number: number, hour: number): Response {
  switch (number % 6) {
    case 0:
    case 1:
      return new Response(`User-agent: *\nCrawl-delay: ${GAP_MS / SECOND}\nDisallow: /private\n`);
    case 2:
    case 3: {
      const more = hour >= CHANGE_AT_HOUR ? 'Disallow: /page\n' : '';
      const headers = { 'cache-control': 'max-age=21600' };
      return new Response(`User-agent: *\n${more}Disallow: /private\n`, { headers });
    }
    case 4:
      return new Response('', { status: 404 });
    default:
      return new Response('', { status: 503 });
  }
}

it('two processes over SQLite ask each robots.txt once a lifetime for a day, and keep pace and pauses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-day-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clock = virtualClock({ autoAdvance: true });
  const begin = clock.now();
  const hour = (): number => (clock.now() - begin) / HOUR;
  /** What the servers saw. */
  const robots = new Map<string, number[]>();
  const pages = new Map<string, { at: number; status: number }[]>();
  const numberOf = (host: string): number => Number(/\d+/.exec(host)?.[0]);
  const fetchRobots = async (url: string): Promise<Response> => {
    const { host } = new URL(url);
    robots.set(host, [...(robots.get(host) ?? []), clock.now()]);
    return robotsOf(numberOf(host), hour());
  };
  const fetchPage = async (url: string): Promise<Response> => {
    const { host } = new URL(url);
    const seen = pages.get(host) ?? [];
    // Each paced site is busy once, at its third page.
    const status = seen.length === 2 ? 429 : 200;
    pages.set(host, [...seen, { at: clock.now(), status }]);
    const headers = status === 429 ? { 'retry-after': String(PAUSE_MS / SECOND) } : {};
    return new Response('', { status, headers });
  };
  /** Calls of the stores under way: they take real time. */
  let calls = 0;
  const counted = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]): unknown => {
          const result: unknown = Reflect.apply(member, target, given);
          if (!(result instanceof Promise)) return result;
          calls++;
          return result.finally(() => calls--);
        };
      },
    });
  /** Nobody waits in virtual time for what another process writes in real time. */
  const patient: Clock = {
    now: clock.now,
    async sleep(...given) {
      await eventually(() => expect(calls).toBe(0));
      return clock.sleep(...given);
    },
  };
  const start = () => {
    const store = counted(openSqliteStore(join(folder, 'robots.sqlite'), { clock }));
    const client = new RobotsClient({
      agent: 'ExampleBot/1.0',
      clock: patient,
      random: () => 0,
      store,
      // Of real time, which is short on a busy machine.
      storeDeadlineMs: 60_000,
      transport: { fetch: fetchRobots },
    });
    const get = guardFetch(fetchPage, client, { pacing: { maxDelayMs: HOUR } });
    const close = async (): Promise<void> => {
      await client.close();
      await store.close();
    };
    return { client, get, close };
  };

  // What is loaded at the first question takes real time, in which virtual time would run on.
  const first = start();
  await first.client.check('https://first.example/');
  await first.close();
  let processes = [start(), start()];
  for (let at = 0; at < 24; at++) {
    const asking = processes.map(async ({ client }) => {
      for (let number = 0; number < HOSTS; number++) {
        const url = `https://${hostOf(number)}`;
        expect(await client.canFetch(`${url}/private`), url).toBe(number % 6 === 4);
        // A file that changed is known at the end of its lifetime at the latest.
        const page = await client.check(`${url}/page`);
        if (number % 6 === 5) expect(page.reason).toBe('unreachable');
        else if (at < CHANGE_AT_HOUR || number % 6 < 2 || number % 6 > 3) expect(page.allowed).toBe(true);
        else if (at > CHANGE_AT_HOUR + 6) expect(page.allowed).toBe(false);
      }
    });
    await Promise.all(asking);
    // A refresh that goes on would meet its deadline while pages wait for their turn, and in the step of an hour.
    const refreshed = () =>
      eventually(() =>
        expect([calls, ...processes.map(({ client }) => client.stats().inFlight)]).toEqual([0, 0, 0]),
      );
    await refreshed();
    if (at % 6 === 0) {
      const paced = processes.flatMap(({ get }) =>
        Array.from({ length: PACED_HOSTS }, (_, index) => get(`https://${hostOf(6 * index)}/${at}`)),
      );
      for (const response of await Promise.all(paced)) await response.body?.cancel();
    }
    if (at % 8 === 7) {
      // A deployment.
      await Promise.all(processes.map((each) => each.close()));
      processes = [start(), start()];
    }
    await refreshed();
    await clock.advance(begin + (at + 1) * HOUR - clock.now());
  }
  await Promise.all(processes.map((each) => each.close()));

  // A day's file is renewed once, ahead of its end; that of six hours three times.
  const expected = [2, 2, 4, 4, 2];
  for (let number = 0; number < HOSTS; number++) {
    const asked = robots.get(hostOf(number)) ?? [];
    const times = expected[number % 6];
    if (times !== undefined) expect([number, asked.length]).toEqual([number, times]);
    else {
      // Each asks every hour, and the back-off grows to an hour, whichever process has failed. (The times of single attempts
      // say nothing: virtual time runs on while the file is written in real time.)
      expect(asked.length).toBeGreaterThanOrEqual(12);
      expect(asked.length).toBeLessThanOrEqual(30);
    }
  }
  expect(pages.size).toBe(PACED_HOSTS);
  for (const [host, seen] of pages) {
    expect([host, seen.length]).toEqual([host, 8]);
    seen.slice(1).forEach(({ at }, index) => {
      const before = seen[index]!;
      expect(at - before.at).toBeGreaterThanOrEqual(before.status === 429 ? PAUSE_MS : GAP_MS / 2);
    });
  }
});
