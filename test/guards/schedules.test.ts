import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import got from 'got';
import ky from 'ky';
import { Agent, fetch as undiciFetch, interceptors, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { guardFetch, refusalIn, RobotsClient } from '../../src/index.ts';
import { Chance } from '../support/random.ts';
import { answer, type Site, startSite } from '../support/site.ts';
import { runs } from '../support/thorough.ts';

/** What the site does with a request, written into its path: `/<id>/<behaviour>/<ms>`. */
const BEHAVIOURS = [
  ...['page', 'page', 'slow-header', 'slow-body', 'long', 'not-found', 'failing'],
  ...['redirect', 'reset-once', 'failing-once', 'half-once'],
] as const;

/** One call of a client, and what it does with the response. */
interface Call {
  readonly path: string;
  readonly startsAfterMs: number;
  readonly abortsAfterMs: number | undefined;
  readonly discards: boolean;
}

interface Schedule {
  readonly concurrency: number;
  readonly calls: readonly Call[];
}

function scheduleOf(chance: Chance): Schedule {
  const calls = Array.from({ length: 3 + chance.below(6) }, (_, id) => {
    const behaviour = chance.happens(0.05) ? 'private' : chance.pick(BEHAVIOURS);
    return {
      path: behaviour === 'private' ? `/private/${id}` : `/${id}/${behaviour}/${chance.below(4)}`,
      startsAfterMs: chance.below(4),
      abortsAfterMs: chance.happens(0.2) ? chance.below(8) : undefined,
      discards: chance.happens(0.2),
    };
  });
  return { concurrency: 1 + chance.below(3), calls };
}

/** Makes a call, and reads or discards the body. `gone` is called right before the client gives its request up. */
type Send = (url: string, call: Call, signal: AbortSignal, gone: () => void) => Promise<unknown>;

/** Each client library, with its retries on where it has some. */
const clients: Readonly<Record<string, (robots: RobotsClient, concurrency: number) => Send>> = {
  fetch: (robots, concurrency) => byFetch(guardFetch(fetch, robots, { pacing: pace(concurrency) })),
  'fetch of undici': (robots, concurrency) =>
    byFetch(guardFetch(undiciFetch, robots, { pacing: pace(concurrency) }) as unknown as typeof fetch),
  ky: (robots, concurrency) => {
    const guarded = guardFetch(fetch, robots, { pacing: pace(concurrency), onDisallow: 'response' });
    const retrying = ky.create({ fetch: guarded, retry: { limit: 1, backoffLimit: 1 } });
    return byFetch(((url: string, init: object) => retrying(url, init)) as typeof fetch);
  },
  undici: (robots, concurrency) => {
    const dispatcher = agent.compose(
      robotsInterceptor(robots, { pacing: pace(concurrency) }),
      interceptors.retry({ maxRetries: 1, minTimeout: 1, statusCodes: [500] }),
      interceptors.redirect({ maxRedirections: 5 }),
    );
    return async (url, { discards }, signal, gone) => {
      const { body } = await request(url, { dispatcher, signal });
      if (!discards) return body.text();
      gone();
      body.on('error', () => undefined).destroy();
      return undefined;
    };
  },
  got: (robots, concurrency) => {
    const guarded = got.extend(gotHooks(robots, { pacing: pace(concurrency) }), {
      retry: { limit: 1, calculateDelay: ({ computedValue }) => computedValue && 1 },
    });
    return (url, _, signal) => guarded(url, { signal }).text();
  },
  'got.stream': (robots, concurrency) => {
    const guarded = got.extend(gotHooks(robots, { pacing: pace(concurrency) }), { retry: { limit: 0 } });
    return async (url, { discards }, signal, gone) => {
      const body = guarded.stream(url, { signal });
      await once(body, 'response');
      if (!discards) return body.toArray();
      gone();
      body.on('error', () => undefined).destroy();
      return undefined;
    };
  },
  axios: (robots, concurrency) => {
    const instance = axios.create();
    axiosRetry(instance, { retries: 1, retryDelay: () => 1 });
    guardAxios(instance, robots, { pacing: pace(concurrency) });
    return (url, _, signal) => instance.get(url, { signal });
  },
  'axios streams': (robots, concurrency) => {
    const instance = guardAxios(axios.create(), robots, { pacing: pace(concurrency) });
    return async (url, { discards }, signal, gone) => {
      const { data } = await instance.get(url, { signal, responseType: 'stream' });
      if (!discards) return data.toArray();
      gone();
      data.on('error', () => undefined).destroy();
      return undefined;
    };
  },
};

const pace = (concurrency: number): object => ({ defaultDelayMs: 0, concurrency, backOff: false });

const byFetch =
  (guarded: typeof fetch): Send =>
  async (url, { discards }, signal, gone) => {
    const response = await guarded(url, { signal });
    if (!discards) return response.text();
    gone();
    return response.body?.cancel();
  };

let agent: Agent;
let site: Site;
/** The requests of the present schedule that the site has in hand, by their id. */
const inHand = new Map<ServerResponse, string>();
/** Ids of calls that their client gave up: the site may learn of it after the next request has come. */
const givenUp = new Set<string>();
const attempts = new Map<string, number>();
let most = 0;
const seen: string[] = [];

function serve(incoming: IncomingMessage, response: ServerResponse): void {
  const url = incoming.url ?? '';
  const [, id = '', behaviour = '', ms = '0'] = url.split('/');
  seen.push(url);
  // Redirects of axios cannot wait, so they have no permit.
  const isFree = behaviour === 'target' && String(incoming.headers['user-agent']).includes('axios');
  if (!isFree) inHand.set(response, id);
  response.on('finish', () => inHand.delete(response)).on('close', () => inHand.delete(response));
  most = Math.max(most, [...inHand.values()].filter((each) => !givenUp.has(each)).length);
  const attempt = (attempts.get(id) ?? 0) + 1;
  attempts.set(id, attempt);
  const now = behaviour.endsWith('-once') && attempt > 1 ? 'page' : behaviour.replace('-once', '');
  void respond(now, id, Number(ms), response);
}

async function respond(behaviour: string, id: string, ms: number, response: ServerResponse): Promise<void> {
  // The client may see the end of a response before the site's `finish` and `close` events.
  const over = (): void => void inHand.delete(response);
  const page = (): void => {
    response.end(`page ${id}`);
    over();
  };
  const cut = (): void => {
    over();
    response.socket?.destroy();
  };
  if (behaviour === 'reset') cut();
  else if (behaviour === 'failing' || behaviour === 'not-found') {
    answer(response, { status: behaviour === 'failing' ? 500 : 404, body: 'no' });
    over();
  } else if (behaviour === 'redirect') {
    answer(response, { status: 302, headers: { location: `/${id}/target/0` } });
    over();
  } else if (behaviour === 'long') response.end('x'.repeat(200_000));
  else if (behaviour === 'half') {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setTimeout(cut, 1);
  } else if (behaviour === 'slow-body') {
    response.write('first');
    await sleep(ms);
    page();
  } else {
    if (behaviour === 'slow-header') await sleep(ms);
    page();
  }
}

async function play(make: (typeof clients)[string], { concurrency, calls }: Schedule): Promise<void> {
  for (const each of [inHand, givenUp, attempts]) each.clear();
  [most, seen.length] = [0, 0];
  const text = 'User-agent: *\nDisallow: /private\n';
  await using robots = new RobotsClient({
    agent: 'ExampleBot',
    overrides: { [site.origin]: { text, because: 'a test' } },
  });
  const send = make(robots, concurrency);
  await Promise.all(
    calls.map(async (call, id) => {
      const leaving = new AbortController();
      const gone = (): void => void givenUp.add(String(id));
      await sleep(call.startsAfterMs);
      const timer =
        call.abortsAfterMs === undefined
          ? undefined
          : setTimeout(() => {
              gone();
              leaving.abort();
            }, call.abortsAfterMs);
      const failed = await send(site.url(call.path), call, leaving.signal, gone).then(
        () => undefined,
        (error: unknown) => error,
      );
      clearTimeout(timer);
      // Every wait ended in time: no permit was lost.
      expect(refusalIn(failed)?.code ?? 'none').toBe(
        call.path.startsWith('/private') && !givenUp.has(String(id)) ? 'ERR_ROBOTS_DISALLOWED' : 'none',
      );
    }),
  );
  expect(most).toBeLessThanOrEqual(concurrency);
  expect(seen.filter((url) => url.startsWith('/private'))).toEqual([]);
  // All permits are free again.
  for (let turn = 0; ; turn++) {
    const { pacing } = await robots.policy(site.origin);
    if ((pacing?.inFlight.length ?? 0) === 0) return;
    expect(turn).toBeLessThan(500);
    await sleep(1);
  }
}

const SEED = Number(process.env['CHANGING_SEED'] ?? Date.now()) >>> 0;
/** Schedules a client. */
const SCHEDULES = runs(650);

describe.each(Object.keys(clients))('random schedules over %s', (name) => {
  beforeAll(async () => {
    agent = new Agent();
    site = await startSite(serve);
  });
  afterAll(async () => {
    await agent.destroy();
    await site.close();
  });

  it(`keep the concurrency that the site sees, and lose no permit (seed ${SEED})`, async () => {
    for (let number = 0; number < SCHEDULES; number++) {
      const schedule = scheduleOf(new Chance(SEED + number));
      try {
        await play(clients[name]!, schedule);
      } catch (error) {
        throw new Error(`schedule ${SEED + number}: ${JSON.stringify(schedule)}`, { cause: error });
      }
    }
  }, 300_000);
});
