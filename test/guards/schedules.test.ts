import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import got from 'got';
import ky from 'ky';
import { Agent, fetch as undiciFetch, interceptors, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import {
  type Clock,
  guardFetch,
  type PacingOptions,
  type PacingScope,
  refusalIn,
  RobotsClient,
  type SitePacing,
} from '../../src/index.ts';
import { Chance, playSchedules, SEED } from '../support/random.ts';
import { answer, type Site, startSite } from '../support/site.ts';
import { runs } from '../support/thorough.ts';

/** What the site does with a request, written into its path: `/<schedule>.<id>/<behaviour>/<ms>`. */
const BEHAVIOURS = [
  ...['page', 'page', 'slow-header', 'slow-body', 'long', 'not-found', 'failing'],
  ...['redirect', 'reset-once', 'failing-once', 'half-once', 'busy-once'],
] as const;

const STATUSES: Readonly<Record<string, number>> = { failing: 500, busy: 503, 'not-found': 404 };

/** One call of a client, and what it does with the response. */
interface Call {
  readonly path: string;
  readonly startsAfterMs: number;
  readonly abortsAfterMs: number | undefined;
  readonly discards: boolean;
}

/** What the client's clock does after a while: it jumps, stands still, or goes on. */
interface ClockChange {
  readonly afterMs: number;
  readonly byMs: number;
  readonly stands: boolean;
}

interface Schedule {
  readonly number: number;
  readonly pacing: PacingOptions & Required<Pick<PacingOptions, 'concurrency'>>;
  /** Whether the pace is a function, which is asked for each site. */
  readonly isAsked: boolean;
  readonly calls: readonly Call[];
  /** `undefined`: the clock of the system. */
  readonly clock: { readonly isDate: boolean; readonly changes: readonly ClockChange[] } | undefined;
}

function scheduleOf(number: number, changesClock: boolean): Schedule {
  const chance = new Chance(number);
  const calls = Array.from({ length: 3 + chance.below(6) }, (_, id) => {
    const behaviour = chance.happens(0.05) ? 'private' : chance.pick(BEHAVIOURS);
    return {
      path: behaviour === 'private' ? `/private/${id}` : `/${number}.${id}/${behaviour}/${chance.below(4)}`,
      startsAfterMs: chance.below(4),
      abortsAfterMs: chance.happens(0.2) ? chance.below(8) : undefined,
      discards: chance.happens(0.2),
    };
  });
  const shared = {
    concurrency: 1 + chance.below(3),
    scope: chance.pick<PacingScope>(['host', 'origin', ({ hostname }) => hostname]),
    latencyFactor: chance.pick([0, 0, 0.5]),
  };
  const isAsked = chance.happens(0.3);
  if (!changesClock) {
    return {
      number,
      pacing: { ...shared, defaultDelayMs: 0, backOff: false },
      isAsked,
      calls,
      clock: undefined,
    };
  }
  const changes = Array.from({ length: 1 + chance.below(5) }, () => ({
    afterMs: chance.below(20),
    byMs: Math.round(chance.next() * chance.pick([0, JUMP_MS, -JUMP_MS])),
    stands: chance.happens(0.5),
  }));
  return {
    number,
    pacing: {
      ...shared,
      defaultDelayMs: chance.pick([0, 2, 6]),
      backOff: {
        firstMs: 5,
        maxMs: 20,
        statuses: chance.pick([
          [429, 503],
          [500, 503],
        ]),
      },
    },
    isAsked,
    calls,
    clock: { isDate: chance.happens(0.3), changes },
  };
}

const JUMP_MS = 3_600_000;
/** Shorter than the life of the permit of a request that its library drops: no request may wait for one. */
const MOST_MS = 25_000;

/** Makes a call, and reads or discards the body. `gone` is called right before the client gives its request up. */
type Send = (url: string, call: Call, signal: AbortSignal, gone: () => void) => Promise<unknown>;

/** Each client library, with its retries on where it has some. */
const clients: Readonly<Record<string, (robots: RobotsClient, pacing: SitePacing) => Send>> = {
  fetch: (robots, pacing) => byFetch(guardFetch(fetch, robots, { pacing })),
  'fetch of undici': (robots, pacing) =>
    byFetch(guardFetch(undiciFetch, robots, { pacing }) as unknown as typeof fetch),
  ky: (robots, pacing) => {
    const guarded = guardFetch(fetch, robots, { pacing, onDisallow: 'response' });
    const retrying = ky.create({ fetch: guarded, retry: { limit: 1, backoffLimit: 1 } });
    return byFetch(((url: string, init: object) => retrying(url, init)) as typeof fetch);
  },
  undici: (robots, pacing) => {
    const dispatcher = agent.compose(
      robotsInterceptor(robots, { pacing }),
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
  got: (robots, pacing) => {
    const guarded = got.extend(gotHooks(robots, { pacing }), {
      retry: { limit: 1, calculateDelay: ({ computedValue }) => computedValue && 1 },
    });
    return (url, _, signal) => guarded(url, { signal }).text();
  },
  'got.stream': (robots, pacing) => {
    const guarded = got.extend(gotHooks(robots, { pacing }), { retry: { limit: 0 } });
    return async (url, { discards }, signal, gone) => {
      const body = guarded.stream(url, { signal });
      await once(body, 'response');
      if (!discards) return body.toArray();
      gone();
      body.on('error', () => undefined).destroy();
      return undefined;
    };
  },
  axios: (robots, pacing) => {
    const instance = axios.create();
    guardAxios(instance, robots, { pacing });
    axiosRetry(instance, { retries: 1, retryDelay: () => 1 });
    return (url, _, signal) => instance.get(url, { signal });
  },
  'axios streams': (robots, pacing) => {
    const instance = guardAxios(axios.create(), robots, { pacing });
    return async (url, { discards }, signal, gone) => {
      const { data } = await instance.get(url, { signal, responseType: 'stream' });
      if (!discards) return data.toArray();
      gone();
      data.on('error', () => undefined).destroy();
      return undefined;
    };
  },
};

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
/** The number of the present schedule. */
let present = 0;
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
  // On a busy machine, requests that were aborted at the end of a schedule arrive during the next one.
  const isLate = !id.startsWith(`${present}.`);
  if (!isFree && !isLate) inHand.set(response, id);
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
  else if (behaviour in STATUSES) {
    answer(response, { status: STATUSES[behaviour] ?? 500, body: 'no' });
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

async function play(make: (typeof clients)[string], schedule: Schedule): Promise<void> {
  const { number, pacing, isAsked, calls } = schedule;
  for (const each of [inHand, givenUp, attempts]) each.clear();
  [present, most, seen.length] = [number, 0, 0];
  using clock = changing(schedule.clock);
  const text = 'User-agent: *\nDisallow: /private\n';
  await using robots = new RobotsClient({
    agent: 'ExampleBot',
    overrides: { [site.origin]: { text, because: 'a test' } },
    ...(clock.option && { clock: clock.option }),
  });
  const send = make(robots, isAsked ? () => pacing : pacing);
  const outcomes = await inTime(
    Promise.all(calls.map((call, id) => makeCall(send, call, `${number}.${id}`))),
  );
  clock.rest();
  for (const [id, code] of outcomes.entries()) {
    // A wait that a forward jump ends may be longer than the request wanted to wait, by that clock.
    if (schedule.clock !== undefined && code === 'ERR_ROBOTS_DEFERRED') continue;
    const isRefused = calls[id]?.path.startsWith('/private') && !givenUp.has(`${number}.${id}`);
    expect(code).toBe(isRefused ? 'ERR_ROBOTS_DISALLOWED' : 'none');
  }
  expect(most).toBeLessThanOrEqual(pacing.concurrency);
  expect(seen.filter((url) => url.startsWith('/private'))).toEqual([]);
  // All permits are free again.
  for (let turn = 0; ; turn++) {
    const { pacing: paced } = await robots.policy(site.origin);
    if ((paced?.inFlight.length ?? 0) === 0) return;
    expect(turn).toBeLessThan(500);
    await sleep(1);
  }
}

/** Makes one call. Resolves with the code of its refusal, or `'none'`. */
async function makeCall(send: Send, call: Call, id: string): Promise<string> {
  const leaving = new AbortController();
  const gone = (): void => void givenUp.add(id);
  await sleep(call.startsAfterMs);
  const abort = (): void => {
    gone();
    leaving.abort();
  };
  const timer = call.abortsAfterMs === undefined ? undefined : setTimeout(abort, call.abortsAfterMs);
  try {
    await send(site.url(call.path), call, leaving.signal, gone);
    return 'none';
  } catch (error) {
    return refusalIn(error)?.code ?? 'none';
  } finally {
    clearTimeout(timer);
  }
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const over = new AbortController();
  const late = sleep(MOST_MS, undefined, over).then(() => {
    throw new Error('A request has waited too long');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    await late.catch(() => undefined);
  }
}

interface ChangingClock extends Disposable {
  readonly option: Clock | undefined;
  /** No change comes any more. */
  rest(): void;
}

/** The clock of a schedule: an option of the client, or a mocked `Date`, which stands still between its changes. */
function changing(plan: Schedule['clock']): ChangingClock {
  const startedAt = performance.now();
  let shown = Date.now();
  let since: number | undefined = startedAt;
  const now = (): number => shown + (since === undefined ? 0 : performance.now() - since);
  if (plan?.isDate === true) vi.useFakeTimers({ toFake: ['Date'], now: shown });
  const timers = (plan?.changes ?? []).map(({ afterMs, byMs, stands }) =>
    setTimeout(() => {
      shown = now() + byMs;
      since = stands ? undefined : performance.now();
      if (plan?.isDate === true) vi.setSystemTime(shown);
    }, afterMs),
  );
  const rest = (): void => timers.forEach(clearTimeout);
  return {
    option: plan === undefined || plan.isDate ? undefined : { now },
    rest,
    [Symbol.dispose]: () => {
      rest();
      if (plan?.isDate === true) vi.useRealTimers();
    },
  };
}

/** Schedules a client. */
const SCHEDULES = runs(60);
const CLOCK_SCHEDULES = runs(12);

describe.each(Object.keys(clients))('random schedules over %s', (name) => {
  beforeAll(async () => {
    agent = new Agent();
    site = await startSite(serve);
  });
  afterAll(async () => {
    await agent.destroy();
    await site.close();
  });

  const playAll = (count: number, changesClock: boolean): Promise<void> =>
    playSchedules(
      count,
      (number) => scheduleOf(number, changesClock),
      (schedule) => play(clients[name]!, schedule),
    );

  it(
    `keep the concurrency that the site sees, and lose no permit (seed ${SEED})`,
    () => playAll(SCHEDULES, false),
    300_000,
  );

  it(
    `also while the clock jumps and stands still (seed ${SEED})`,
    () => playAll(CLOCK_SCHEDULES, true),
    300_000,
  );
});
