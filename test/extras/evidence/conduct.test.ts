import { describe, expect, it } from 'vitest';
import { guardFetch, type PacingOptions, type RobotsClientOptions } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { earlyStarts, Recording, replayed } from '../../support/evidence.ts';
import { ScriptedStore } from '../../support/store.ts';
import { eventually } from '../../support/eventually.ts';
import { openedClient } from '../../support/opened.ts';

const A = 'https://a.example';
/** Pacing that waits for nothing, so that a test decides when requests start. */
const UNHURRIED = { defaultDelayMs: 0, concurrency: 100 };

/** A client of sites with this robots.txt, and its evidence. */
function recorded(text = 'User-agent: *\nDisallow:\n', options: RobotsClientOptions = {}) {
  const recording = new Recording();
  const clock = virtualClock();
  const { robots: client } = openedClient({
    clock,
    transport: { fetch: async () => new Response(text) },
    evidence: recording.listener,
    ...options,
  });
  const start = clock.now();
  const early = (): unknown[] =>
    earlyStarts(recording.lines()).map(({ url, reason, earliestAt }) => [
      url.slice(A.length + 1),
      reason,
      earliestAt - start,
    ]);
  return { client, clock, recording, start, early };
}

/** The evidence of requests that were paced by other options than they say. */
function claiming(recording: Recording, pacing: { defaultDelayMs: number; minDelayMs: number }): void {
  for (const [at, entry] of recording.entries.entries()) {
    if (entry.type === 'request')
      recording.entries[at] = { ...entry, pacing: { scope: 'a.example', ...pacing } };
  }
}

/** Requests pages at these times, in ms from the beginning. */
async function crawlAt(
  made: ReturnType<typeof recorded>,
  times: readonly number[],
  pacing: PacingOptions | false = UNHURRIED,
): Promise<void> {
  const { client, clock, start } = made;
  const get = guardFetch(async (_url: string) => new Response('a page'), client, { pacing, clock });
  for (const time of times) {
    await clock.advance(start + time - clock.now());
    await get(`${A}/${time}`);
  }
}

describe('the crawler’s own delays', () => {
  it('are in the entry of each paced request', async () => {
    const made = recorded();
    await crawlAt(made, [0], { defaultDelayMs: 0, minDelayMs: 0 });
    await crawlAt(made, [1_000], false);
    expect(made.recording.ofType('request')).toMatchObject([
      { pacing: { defaultDelayMs: 0, minDelayMs: 0 } },
      { url: `${A}/1000` },
    ]);
    expect(made.recording.ofType('request')[1]).not.toHaveProperty('pacing');
  });

  it.each([
    ['default-delay', { defaultDelayMs: 1_000, minDelayMs: 0 }, [0, 950, 1_899], 1_950],
    ['min-delay', { defaultDelayMs: 0, minDelayMs: 1_000 }, [0, 950, 1_899], 1_950],
    ['default-delay', { defaultDelayMs: 100, minDelayMs: 0 }, [0, 90, 179], 190],
  ])('are checked, but for 10 % and 50 ms at most: %s %j', async (reason, pacing, times, earliestAt) => {
    const made = recorded();
    await crawlAt(made, times);
    expect(made.early()).toEqual([]);
    claiming(made.recording, pacing);
    expect(made.early()).toEqual([[String(times[2]), reason, earliestAt]]);
  });

  it('are checked by the times of the starts, in whatever order the responses came', async () => {
    const made = recorded();
    await crawlAt(made, [0, 600, 1_200]);
    claiming(made.recording, { defaultDelayMs: 1_000, minDelayMs: 0 });
    // The slowest response is that to the first request, the quickest that to the last one.
    const { entries } = made.recording;
    const [first, second, last] = made.recording.ofType('request');
    for (const [at, entry] of entries.entries()) {
      if (entry === first) entries[at] = last!;
      else if (entry === last) entries[at] = first!;
    }
    expect(entries.indexOf(second!)).toBeGreaterThan(entries.indexOf(last!));
    expect(made.early().sort()).toEqual([
      ['1200', 'default-delay', 1_600],
      ['600', 'default-delay', 1_000],
    ]);
  });

  it('accuse a start once, also where one before it comes to the log later', async () => {
    const made = recorded();
    await crawlAt(made, [0, 300, 600]);
    claiming(made.recording, { defaultDelayMs: 1_000, minDelayMs: 0 });
    const { entries } = made.recording;
    const [, second, last] = made.recording.ofType('request').map((entry) => entries.indexOf(entry));
    [entries[second!], entries[last!]] = [entries[last!]!, entries[second!]!];
    expect(made.early().sort()).toEqual([
      ['300', 'default-delay', 1_000],
      ['600', 'default-delay', 1_000],
    ]);
  });

  it('give way to what the site states, 0 included, but for `minDelayMs`', async () => {
    const made = recorded('User-agent: *\nCrawl-delay: 0\n');
    await crawlAt(made, [0, 100]);
    claiming(made.recording, { defaultDelayMs: 1_000, minDelayMs: 0 });
    expect(made.early()).toEqual([]);
    claiming(made.recording, { defaultDelayMs: 1_000, minDelayMs: 200 });
    expect(made.early()).toEqual([['100', 'min-delay', 200]]);
  });

  it('are those of two neighbours, of which the longer gap holds', async () => {
    const made = recorded();
    await crawlAt(made, [0, 600, 900]);
    const requests = made.recording.entries.filter(({ type }) => type === 'request');
    for (const [index, defaultDelayMs] of [500, 1_000, 100].entries())
      Object.assign(requests[index]!, { pacing: { defaultDelayMs, minDelayMs: 0 } });
    expect(made.early()).toEqual([
      ['600', 'default-delay', 1_000],
      ['900', 'default-delay', 1_600],
    ]);
  });

  it('do not count between a paced request and another, or between two clients', async () => {
    const made = recorded();
    await crawlAt(made, [0]);
    await crawlAt(made, [100], false);
    await crawlAt(made, [200]);
    claiming(made.recording, { defaultDelayMs: 1_000, minDelayMs: 0 });
    const [, unpaced] = made.recording.ofType('request');
    Object.assign(unpaced!, { pacing: undefined });
    expect(made.early()).toEqual([]);
  });

  it.each([
    ['late', 400, 1_000],
    ['in the future', 5_000, 1_000],
    ['at no time', NaN, 600],
  ])('count from when the request of a booking was sent: %s', async (_, late, waitMs) => {
    const { client, clock, recording, start } = recorded();
    const book = () => client.reserve(`${A}/page`, undefined, { defaultDelayMs: 1_000 });
    const first = await book();
    if (first.status !== 'booked') throw new Error('not booked');
    await clock.advance(first.waitMs + 400);
    first.done({ status: 200, startedAt: first.at + late });
    const startedAt = waitMs === 1_000 ? clock.now() : first.at;
    expect(recording.ofType('request')).toMatchObject([{ startedAt }]);
    expect(startedAt).toBeGreaterThan(start);
    expect(await book()).toMatchObject({ status: 'booked', waitMs });
  });
});

describe('a scope', () => {
  const NEIGHBOUR = 'http://a.example';

  /** Requests one page of each origin of the host, 100 ms apart. */
  async function crawlBoth(made: ReturnType<typeof recorded>, pacing: PacingOptions | false): Promise<void> {
    const { client, clock } = made;
    const get = guardFetch(async (_url: string) => new Response('a page'), client, { pacing, clock });
    await get(`${A}/page`);
    await clock.advance(100);
    await get(`${NEIGHBOUR}/page`);
  }

  it('has one gap for all its origins, which each entry names', async () => {
    const made = recorded();
    await crawlBoth(made, UNHURRIED);
    claiming(made.recording, { defaultDelayMs: 1_000, minDelayMs: 0 });
    expect(earlyStarts(made.recording.lines())).toMatchObject([
      { url: `${NEIGHBOUR}/page`, reason: 'default-delay', earliestAt: made.start + 1_000 },
    ]);
    for (const { origin, pacing } of made.recording.ofType('request'))
      Object.assign(pacing!, { scope: origin });
    expect(earlyStarts(made.recording.lines())).toEqual([]);
  });

  it('has no gap where nothing paces', async () => {
    const made = recorded('User-agent: *\nCrawl-delay: 10\n');
    await crawlBoth(made, false);
    expect(earlyStarts(made.recording.lines())).toEqual([]);
  });

  it('pauses as a whole', async () => {
    const made = recorded();
    await crawlAt(made, [0]);
    made.client.report(A, { reachable: true, retryAfter: '60' });
    await eventually(() => expect(made.recording.ofType('pause')).toHaveLength(1));
    await made.clock.advance(1_000);
    const page = { type: 'request', origin: NEIGHBOUR, url: `${NEIGHBOUR}/page` } as const;
    const [sent] = made.recording.ofType('request');
    made.recording.entries.push({
      ...sent!,
      ...page,
      n: made.recording.entries.length,
      startedAt: made.clock.now(),
    });
    expect(earlyStarts(made.recording.lines())).toMatchObject([
      { url: page.url, reason: 'retry-after', earliestAt: made.start + 60_000 },
    ]);
  });
});

describe('the delays of the site', () => {
  it('are those at the decision about the request, not those of a later one', async () => {
    let text = 'User-agent: *\nDisallow:\n';
    const made = recorded('', { transport: { fetch: async () => new Response(text) } });
    const { client, recording } = made;
    await crawlAt(made, [0, 400]);
    text = 'User-agent: *\nCrawl-delay: 10\n';
    await client.invalidate(A);
    await client.check(`${A}/later`);
    // The response to the request of 400 comes after that decision.
    const request = recording.entries.findIndex(
      (entry) => entry.type === 'request' && entry.startedAt > made.start,
    );
    recording.entries.push(...recording.entries.splice(request, 1));
    expect(made.early()).toEqual([]);
  });
});

describe('the first page behind a long Crawl-delay', () => {
  it('may come right after robots.txt, in each run; the next one of the run waits', async () => {
    const text = 'User-agent: *\nCrawl-delay: 600\n';
    const made = recorded(text);
    await crawlAt(made, [500], false);
    const next = recorded(text);
    await crawlAt(next, [3_600_500, 3_700_000], false);
    const lines = [...made.recording.lines(), ...next.recording.lines()];
    expect(earlyStarts(lines)).toMatchObject([{ url: `${A}/3700000`, reason: 'crawl-delay' }]);
  });
});

describe('requests of two processes, which may be a fleet', () => {
  it('may be half the delay of the site apart, as the slots of a fleet are', async () => {
    const text = 'User-agent: *\nCrawl-delay: 10\n';
    const [one, other] = [recorded(text), recorded(text)];
    await crawlAt(one, [20_000, 39_998], false);
    await crawlAt(other, [25_000, 34_999], false);
    const lines = [...one.recording.lines(), ...other.recording.lines()];
    expect(earlyStarts(lines)).toMatchObject([{ url: `${A}/39998`, reason: 'crawl-delay' }]);
  });
});

describe('what is not known', () => {
  it('accuses of nothing: the delay of another agent is not taken', async () => {
    const text = 'User-agent: SlowBot\nCrawl-delay: 60\n\nUser-agent: *\nDisallow:\n';
    const made = recorded(text);
    await made.client.check(`${A}/other`, 'SlowBot');
    await crawlAt(made, [0, 1_000, 2_000]);
    expect(made.early()).toEqual([]);
    // As in a part of a log: the decisions about these requests are not there.
    const { entries } = made.recording;
    const kept = entries.filter(({ type }) => type !== 'decision');
    entries.splice(0, entries.length, ...kept);
    expect(made.early()).toEqual([]);
  });

  it('stays known through many decisions for other agents', async () => {
    const text = 'User-agent: ExampleBot\nCrawl-delay: 10\n\nUser-agent: *\nDisallow:\n';
    const made = recorded(text);
    await crawlAt(made, [0, 4_000], false);
    const { entries } = made.recording;
    const [, request] = made.recording.ofType('request');
    entries.splice(entries.indexOf(request!), 1);
    for (let page = 0; page < 100; page++) await made.client.check(`${A}/${page}/x`, 'OtherBot');
    entries.push(request!);
    expect(made.early()).toEqual([['4000', 'crawl-delay', 10_000]]);
  });
});

describe('a pause', () => {
  it('holds for starts after it began; those before it belong to its incident', async () => {
    const made = recorded();
    const { client, clock, recording, start } = made;
    await crawlAt(made, [0, 100]);
    client.report(A, { reachable: true, retryAfter: '60' });
    await eventually(() => expect(recording.ofType('pause')).toHaveLength(1));
    await clock.advance(1_000);
    // A little early, as after a gap: by rounding, or by a clock that was set back.
    await crawlAt(made, [60_060], false);
    expect(made.early()).toEqual([]);
    client.report(A, { reachable: true, retryAfter: '60' });
    await eventually(() => expect(recording.ofType('pause')).toHaveLength(2));
    expect(clock.now()).toBe(start + 60_060);
    await crawlAt(made, [70_000], false);
    expect(made.early()).toEqual([['70000', 'retry-after', 120_060]]);
  });

  it('that was guessed is told from one that the site asked for', async () => {
    const made = recorded();
    const busy = guardFetch(async (_url: string) => new Response(null, { status: 503 }), made.client, {
      pacing: { defaultDelayMs: 0, backOff: { firstMs: 30_000, maxMs: 30_000 } },
      clock: made.clock,
    });
    await busy(`${A}/busy`);
    await crawlAt(made, [10_000], false);
    expect(made.early()).toEqual([['10000', 'back-off', expect.any(Number)]]);
  });

  it('after the response to a paced request is recorded once', async () => {
    let now = Date.now();
    const { client, recording } = recorded(undefined, { clock: { now: () => now++ } });
    const busy = async (_url: string) =>
      new Response(null, { status: 429, headers: { 'retry-after': '60' } });
    await guardFetch(busy, client, { pacing: UNHURRIED })(`${A}/busy`);
    expect(recording.ofType('request')).toMatchObject([{ status: 429, retryAfter: '60' }]);
    expect(recording.ofType('pause')).toMatchObject([{ status: 429, delayFrom: 'retry-after' }]);
  });

  it('of 64 short ones after it stays known', async () => {
    const made = recorded();
    const answers = [3_600, ...Array.from({ length: 200 }, () => 1)];
    const get = guardFetch(
      async (_url: string) =>
        new Response(null, { status: 429, headers: { 'retry-after': String(answers.shift() ?? 1) } }),
      made.client,
    );
    for (let page = 0; page < 200; page++) await get(`${A}/${page}`);
    await crawlAt(made, [3_000_000], false);
    expect(made.early()).toEqual([['3000000', 'retry-after', 3_600_000]]);
  });

  it('that another process of the fleet learnt of is recorded once, and replays', async () => {
    const clock = virtualClock();
    const store = new ScriptedStore({ clock, reserves: true });
    const made = recorded(undefined, { clock, store });
    const { robots: other } = openedClient({
      clock,
      store,
      transport: { fetch: async () => new Response('') },
    });
    await made.client.check(`${A}/`);
    other.report(A, { reachable: true, retryAfter: '600' });
    await eventually(() => expect(store.count('pause')).toBeGreaterThan(0));
    const from = clock.now();
    for (let look = 0; look < 3; look++) expect((await made.client.policy(A)).pacing?.pause).toBeDefined();
    const pauses = made.recording.ofType('pause');
    expect(pauses).toMatchObject([{ origin: A, from, until: from + 600_000, delayFrom: 'retry-after' }]);
    expect(pauses[0]).not.toHaveProperty('status');
    const unaware = guardFetch(async (_url: string) => new Response('a page'), made.client);
    await clock.advance(1_000);
    await unaware(`${A}/early`);
    expect(earlyStarts(made.recording.lines())).toMatchObject([
      { reason: 'retry-after', earliestAt: from + 600_000 },
    ]);
    expect(await replayed(made.recording.lines())).toMatchObject({ changed: 0, faults: 0 });
  });
});
