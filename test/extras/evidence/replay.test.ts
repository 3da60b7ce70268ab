import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CacheMessage, guardFetch, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { engineOf } from '../../../src/core/client/client-engine.ts';
import type { DecisionEntry } from '../../../src/core/client/evidence/entry.ts';
import { replay, type ReplayOptions } from '../../../src/extras/evidence/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { DAY, MINUTE, START, VirtualClock } from '../../support/client.ts';
import { earlyStarts, Recording, replayed } from '../../support/evidence.ts';
import { ScriptedStore } from '../../support/store.ts';
import { eventually } from '../../support/eventually.ts';

const FORBIDS = 'User-agent: *\nDisallow: /private\n\nUser-agent: OtherBot\nDisallow: /\n';

/** A client of sites that all answer so, and the evidence of it. */
function recorded(options: RobotsClientOptions = {}, answer = () => new Response(FORBIDS)) {
  const recording = new Recording();
  const clock = new VirtualClock();
  const client = new RobotsClient({
    agent: 'ExampleBot/1.0',
    clock,
    transport: { fetch: async () => answer() },
    evidence: recording.listener,
    ...options,
  });
  onTestFinished(() => client.close());
  const decisions = (): DecisionEntry[] =>
    recording.entries.filter((entry): entry is DecisionEntry => entry.type === 'decision');
  return { client, clock, recording, decisions };
}

/** The lines of a small crawl: a run, an attempt, and two decisions. */
async function smallCrawl(): Promise<string[]> {
  const { client, recording } = recorded();
  await client.check('https://a.example/private/x');
  await client.check('https://a.example/page');
  return recording.lines();
}

/** The lines with one member of one entry changed. */
const doctored = (lines: readonly string[], line: number, change: object): string[] =>
  lines.map((text, index) =>
    index + 1 === line ? JSON.stringify({ ...(JSON.parse(text) as object), ...change }) : text,
  );

/** The faults of entries, by line. */
const faultsOf = async (lines: readonly string[]): Promise<[number, string][]> =>
  (await replayed(lines)).differences.map((one) => [one.line, one.kind === 'entry' ? one.fault : one.kind]);

describe('replay', () => {
  it('finds a decision that was changed, and says how it comes out', async () => {
    const lines = doctored(await smallCrawl(), 3, { allowed: true, reason: 'no-rule' });
    const { differences, changed, flipped } = await replayed(lines);
    expect([changed, flipped]).toEqual([1, 1]);
    expect(differences).toEqual([
      expect.objectContaining({
        kind: 'decision',
        line: 3,
        url: 'https://a.example/private/x',
        recorded: expect.objectContaining({ allowed: true, reason: 'no-rule' }),
        replayed: expect.objectContaining({
          allowed: false,
          reason: 'rule',
          rule: { directive: 'disallow', pattern: '/private', line: 2 },
        }),
      }),
    ]);
  });

  it.each([
    ['its rule', { rule: { directive: 'disallow', pattern: '/private', line: 7 } }],
    ['its digest', { sha256: '0'.repeat(64) }],
    ['its profile', { profile: 'google' }],
    ['its state', { state: 'last-good' }],
    ['its time, to one when nothing was in force', { at: 0 }],
    ['its origin', { origin: 'https://b.example' }],
    ['the entry and the digest that it names', { by: 77, sha256: undefined }],
  ])('finds a decision of which %s was changed', async (_, change) => {
    expect(await replayed(doctored(await smallCrawl(), 3, change))).toMatchObject({ changed: 1 });
  });

  it.each([
    ['an byte', { body: FORBIDS.replace('/private', '/privatf') }],
    ['nothing but the digest', { sha256: '0'.repeat(64) }],
  ])('refuses bytes that do not fit their digest: %s was changed', async (_, change) => {
    await expect(replayed(doctored(await smallCrawl(), 2, change))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining('line 2'),
    });
  });

  it.each([
    ['a file with a status that has none', { status: 503 }],
    ['no status', { status: undefined }],
    [
      'a failure of a status that is none',
      { outcome: 'unreachable', status: 404, error: 'ERR_ROBOTS_STATUS' },
    ],
    ['an open site by a status that closes it', { outcome: 'unavailable', status: 503 }],
    ['an open site by an error', { outcome: 'unavailable', status: 404, error: 'ECONNREFUSED' }],
    ['a closed site for redirects that open it', { outcome: 'restricted', reason: 'redirect-loop' }],
  ])('finds an attempt with %s', async (_, change) => {
    const lines = doctored(await smallCrawl(), 2, change);
    expect(await faultsOf(lines)).toContainEqual([2, 'impossible-outcome']);
  });

  it('finds an attempt whose bytes are nowhere, lines that were removed, and runs that are not there', async () => {
    const lines = await smallCrawl();
    expect(await faultsOf(doctored(lines, 2, { body: undefined }))).toContainEqual([2, 'missing-body']);
    expect(await faultsOf(lines.filter((_, index) => index !== 2))).toEqual([[3, 'missing-lines']]);
    expect(await faultsOf(doctored(lines, 3, { run: 'other' }))).toContainEqual([3, 'missing-run']);
  });

  it.each([
    ['past its `staleAt`', DAY + 1, 1],
    ['within its lifetime', DAY / 2, 0],
  ])('checks the time of a decision by a file: %s', async (_, ms, changed) => {
    const lines = doctored(await smallCrawl(), 3, { at: START + ms });
    expect(await replayed(lines)).toMatchObject({ changed });
  });

  it('takes a decision by a copy after the last phase of its profile for changed', async () => {
    let status = 200;
    const { client, recording, clock } = recorded(
      { profile: 'google' },
      () => new Response(FORBIDS, { status }),
    );
    await client.check('https://a.example/private');
    status = 503;
    clock.advance(2 * DAY);
    await client.check('https://a.example/private');
    clock.advance(DAY);
    await client.check('https://a.example/private');
    const lines = recording.lines();
    expect(recording.ofType('decision').at(-1)).toMatchObject({ state: 'last-good' });
    expect(await replayed(lines)).toMatchObject({ changed: 0 });
    const later = doctored(lines, lines.length, { at: START + 40 * DAY });
    expect(await replayed(later)).toMatchObject({ changed: 1 });
  });

  it('takes a decision by a copy beside a failure for the same under the same profile', async () => {
    let response = new Response(FORBIDS);
    const { client, recording, clock } = recorded({}, () => response);
    await client.check('https://a.example/private');
    response = new Response(null, { status: 302, headers: { location: '//' } });
    clock.advance(2 * DAY);
    await client.check('https://a.example/private');
    expect(recording.ofType('decision').at(-1)).toMatchObject({ state: 'last-good', reason: 'rule' });
    expect(await replayed(recording.lines(), { profile: 'rfc9309' })).toMatchObject({ changed: 0 });
  });

  it('decides by the digest where a site has changed its file often while a request waited', async () => {
    let file = 0;
    const { client, recording, clock } = recorded(
      {},
      () => new Response(`${FORBIDS}# ${file}`, { headers: { 'cache-control': 'max-age=600' } }),
    );
    const engine = engineOf(client);
    const waiting = await engine.decide('https://a.example/private');
    for (file = 1; file < 40; file++) {
      clock.advance(11 * MINUTE);
      await client.check('https://a.example/page');
    }
    engine.publishDecision(waiting, {});
    expect(await replayed(recording.lines())).toMatchObject({ decisions: 40, changed: 0, faults: 0 });
  });

  it.each([
    ['ends with the beginning of something else', (lines: string[]) => [...lines, '{"at":1'], 5],
    ['lacks its beginning', (lines: string[]) => lines.slice(1), 1],
    ['has a line without a type', (lines: string[]) => [lines[0]!, '{"at":1}'], 2],
    ['has a line that is no JSON', (lines: string[]) => [lines[0]!, 'GET / 200'], 2],
    ['has a decision about what is no URL', (lines: string[]) => doctored(lines, 3, { url: 'private' }), 3],
    [
      'names a profile of its own that is none',
      (lines: string[]) => doctored(lines, 1, { profiles: { mine: { name: 'mine', dialect: 'rfc9309' } } }),
      1,
    ],
  ])('refuses a file that %s, and names the line', async (_, change, line) => {
    await expect(replayed(change(await smallCrawl()))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining(`line ${line}`),
    });
  });

  it('skips a line that a crash has torn, also before those of another writer', async () => {
    const lines = await smallCrawl();
    const cut = [...lines.slice(0, 2), lines[2]!.slice(0, 50), lines[3]!];
    expect(await replayed(cut)).toMatchObject({ decisions: 1, faults: 1 });
    const torn = [...lines.slice(0, 3), lines[3]!.slice(0, 50)];
    const whole = { entries: 3, decisions: 1, unfinished: 1, changed: 0, faults: 0 };
    expect(await replayed(torn)).toMatchObject(whole);
    expect(await replay(Readable.from(torn))).toMatchObject(whole);
  });

  it('says what is wrong with a stored outcome', async () => {
    const stored = {
      type: 'stored',
      at: 1,
      run: 'a',
      n: 1,
      origin: 'https://a.example',
      profile: 'rfc9309',
      outcome: 'unreachable',
      finalUrl: 'https://a.example/robots.txt',
      hops: -1,
      fetchedAt: 1,
    };
    const [run = ''] = await smallCrawl();
    await expect(replayed([run, JSON.stringify(stored)])).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining('`hops` is not valid'),
    });
  });

  it.each([
    [{ profile: 'none' }, 'profile'],
    [{ agent: '???' }, 'agent'],
    [{ agnet: 'ExampleBot' }, 'agnet'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: new Date(Number.NaN) }, 'since'],
    [{ origin: 'example' }, 'origin'],
  ])('refuses the options %j', async (options, name) => {
    await expect(replayed([], options as object)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining(name),
    });
  });
});

it.each([[5], [null], ['{"type":"run"}'], [undefined]])('%j is refused as a log', async (lines) => {
  await expect(replay(lines as never)).rejects.toMatchObject({
    code: 'ERR_ROBOTS_INVALID_OPTIONS',
    message: expect.stringContaining('`lines`'),
  });
  await expect(replay([lines] as never)).rejects.toMatchObject({ code: 'ERR_ROBOTS_EVIDENCE' });
});

describe('a line', () => {
  const DECISION = 3;

  it.each([
    ['at', '1'],
    ['agent', ['ExampleBot']],
    ['allowed', 'yes'],
    ['state', 0],
    ['at', -1],
    ['usage', { purpose: 'fun', preference: 'allow' }],
  ])('of a decision is refused when its `%s` is %j', async (name, value) => {
    await expect(replayed(doctored(await smallCrawl(), DECISION, { [name]: value }))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringMatching(`line ${DECISION} .*\`${name}`),
    });
  });

  it('of an unknown type is skipped and counted, and its number counts', async () => {
    const lines = await smallCrawl();
    const { run, n } = JSON.parse(lines.at(-1)!) as { run: string; n: number };
    const later = (type: string, number: number): string => JSON.stringify({ type, at: 1, run, n: number });
    const { differences, skipped } = await replayed([
      ...lines,
      later('licence', n + 1),
      later('licence', n + 2),
      later('licence', n + 4),
    ]);
    expect(skipped).toBe(3);
    expect(differences).toMatchObject([{ line: lines.length + 3, fault: 'missing-lines' }]);
  });

  it('may have members of a later version', async () => {
    const lines = (await smallCrawl()).map((line) => line.replace(/}$/, ',"later":{"a":1}}'));
    expect(await replayed(lines)).toMatchObject({ decisions: 2, changed: 0, faults: 0 });
  });
});

describe('a replay of a part', () => {
  /** Two origins, three decisions a day apart. */
  async function threeDays() {
    const { client, recording, clock } = recorded();
    await client.check('https://a.example/private');
    clock.advance(DAY);
    await client.check('https://a.example/private/2');
    await client.check('https://b.example/private');
    return recording.lines().map((line) => line.replace('"allowed":false', '"allowed":true'));
  }
  const urls = async (options: ReplayOptions): Promise<string[]> => {
    const { differences, decisions } = await replayed(await threeDays(), options);
    expect(differences).toHaveLength(decisions);
    return differences.map((one) =>
      one.kind === 'decision' ? new URL(one.url).host + new URL(one.url).pathname : one.fault,
    );
  };

  it('has the decisions about one origin', async () => {
    expect(await urls({ origin: 'https://b.example/any' })).toEqual(['b.example/private']);
  });

  it.each([
    [{ since: START + 1 }, ['a.example/private/2', 'b.example/private']],
    [{ since: new Date(START + DAY) }, ['a.example/private/2', 'b.example/private']],
    [{ until: new Date(START + DAY).toISOString() }, ['a.example/private']],
    [{ since: '2000-01-01', until: '2000-02-01' }, []],
  ])('has the decisions of %j, by records from before', async (options, expected) => {
    expect(await urls(options)).toEqual(expected);
  });
});

describe('what became of a decision', () => {
  it.each([
    ['by `filter`', { filter: () => false }, {}],
    ['by `robots.ignore`', {}, { robots: { ignore: true, because: 'ours' } }],
  ])(
    'has requests that were not checked %s, of any length, and does not change them',
    async (_, options, init) => {
      const sent: string[] = [];
      const send = async (url: string | URL | Request): Promise<Response> => {
        sent.push(String(url));
        return new Response('a page');
      };
      const { client, recording } = recorded();
      const url = `https://a.example/x?${'a'.repeat(70_000)}`;
      const get = guardFetch(send as typeof fetch, client, options);
      expect((await get(url, init)).status).toBe(200);
      expect(sent).toEqual([url]);
      expect(recording.ofType('request')).toMatchObject([{ url, origin: 'https://a.example', status: 200 }]);
      expect(await replayed(recording.lines())).toMatchObject({ changed: 0, faults: 0 });
    },
  );
});

describe('a booking of `reserve`', () => {
  it('has its request when it is done the first time, at its time or before', async () => {
    const clock = virtualClock();
    const { client, recording } = recorded({ clock }, () => new Response('User-agent: *\nCrawl-delay: 60\n'));
    const book = async (path: string) => {
      const booking = await client.reserve(`https://a.example${path}`, undefined, {
        ahead: 10,
        minDelayMs: 90_000,
      });
      if (booking.status !== 'booked') throw new Error('not booked');
      return booking;
    };
    // Behind a long gap the first page comes `defaultDelayMs` after robots.txt.
    const start = clock.now() + 500;
    const first = await book('/1');
    const second = await book('/2');
    const early = await book('/3');
    const unsent = await book('/4');
    await clock.advance(150_500);
    first.done({ status: 200, headers: {} });
    second.done({ error: Object.assign(new Error('lost'), { code: 'ECONNRESET' }) });
    second.done({ status: 429, headers: { 'retry-after': '600' } });
    early.done({ status: 503, headers: new Headers({ 'retry-after': '700' }) });
    unsent.release();
    const pacing = { scope: 'a.example', defaultDelayMs: 500, minDelayMs: 90_000 };
    const origin = 'https://a.example';
    const sent = { type: 'request', origin, pacing };
    expect(recording.ofType('request').map(({ at: _at, run: _run, n: _n, ...entry }) => entry)).toEqual([
      { ...sent, url: `${origin}/1`, startedAt: start, status: 200 },
      { ...sent, url: `${origin}/2`, startedAt: start + 90_000, error: 'ECONNRESET' },
      // Its time had not come.
      { ...sent, url: `${origin}/3`, startedAt: start + 150_000, status: 503, retryAfter: '700' },
    ]);
    expect(recording.ofType('pause')).toMatchObject([{ status: 429 }, { status: 503 }]);
    expect(await replayed(recording.lines())).toMatchObject({ changed: 0, faults: 0 });
    expect(earlyStarts(recording.lines())).toMatchObject([{ url: `${origin}/3`, reason: 'min-delay' }]);
  });
});

describe('a decision within a pause', () => {
  it('by a robots.txt past its lifetime replays as recorded', async () => {
    const { client, clock, recording, decisions } = recorded();
    await client.check('https://a.example/private');
    clock.advance(DAY - 1_000);
    client.report('https://a.example/page', { reachable: true, retryAfter: '3600' });
    await eventually(() => expect(recording.ofType('pause')).toHaveLength(1));
    clock.advance(2_000);
    expect(client.peek('https://a.example/private')?.allowed).toBe(false);
    await client.check('https://a.example/page');
    expect(recording.ofType('robots')).toHaveLength(1);
    expect(decisions()).toMatchObject([{ reason: 'rule' }, { paused: true }, { paused: true }]);
    expect(await replayed(recording.lines())).toMatchObject({ decisions: 3, changed: 0, faults: 0 });
    const last = recording.lines().length;
    const outside = doctored(recording.lines(), last, { paused: undefined });
    expect(await replayed(outside)).toMatchObject({ changed: 1 });
  });
});

describe('the usage of a decision', () => {
  const USAGE = 'User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n';

  it('is replayed: a preference that was changed in the log differs', async () => {
    const { client, recording } = recorded({}, () => new Response(USAGE));
    await client.check('https://a.example/', undefined, { purpose: 'train-ai' });
    const lines = recording.lines();
    expect(await replayed(lines)).toMatchObject({ changed: 0, faults: 0 });
    const changed = lines.map((line) => line.replaceAll('"preference":"disallow"', '"preference":"allow"'));
    expect(await replayed(changed)).toMatchObject({ changed: 1, flipped: 1 });
    const moved = lines.map((line) => line.replaceAll('"line":3', '"line":4'));
    expect(moved).not.toEqual(lines);
    expect(await replayed(moved)).toMatchObject({ changed: 1, flipped: 0 });
  });

  it('of `/robots.txt` replays as recorded, although another attempt has ended before it is published', async () => {
    let text = USAGE;
    const { client, recording, clock } = recorded({}, () => new Response(text));
    const url = 'https://a.example/robots.txt';
    await client.check('https://a.example/');
    const engine = engineOf(client);
    // A guard publishes a decision later than it makes it.
    const decision = await engine.decide(url, undefined, { purpose: 'train-ai' });
    text = 'User-agent: *\nDisallow:\n';
    clock.advance(2 * DAY);
    await client.check('https://a.example/page');
    const usage = await client.usageOf(decision, 'train-ai');
    expect(usage.preference).toBe('disallow');
    engine.publishDecision(decision, { usage });
    await client.check(url, undefined, { purpose: 'train-ai' });
    expect(recording.ofType('decision').map((each) => each.usage?.preference)).toEqual([
      undefined,
      undefined,
      'disallow',
      'unknown',
    ]);
    expect((await replayed(recording.lines())).differences).toEqual([]);
  });

  it('counts the file of its decision, although a subscriber has it removed at once', async () => {
    const { client, recording } = recorded({}, () => new Response(USAGE));
    const url = 'https://a.example/';
    await client.check(url);
    const forget = (message: unknown): void => {
      if ((message as CacheMessage).event === 'hit') void client.invalidate(url);
    };
    subscribe('canfetch:cache', forget);
    const { usage } = await client.check(url, undefined, { purpose: 'train-ai' });
    unsubscribe('canfetch:cache', forget);
    expect(usage?.preference).toBe('disallow');
    expect((await replayed(recording.lines())).differences).toEqual([]);
  });
});

describe('evidence', () => {
  it('has the texts and verdicts of the caller', async () => {
    const { client, recording, decisions } = recorded({
      overrides: {
        'https://a.example': { text: FORBIDS, because: 'agreed by letter' },
        'https://b.example': { verdict: 'allow', because: 'ours' },
        'https://c.example': { verdict: 'disallow', because: 'asked us to' },
      },
    });
    await client.check('https://a.example/private/x');
    await client.check('https://b.example/private/x');
    await client.check('https://c.example/');
    expect(decisions().map(({ allowed, because }) => [allowed, because])).toEqual([
      [false, 'agreed by letter'],
      [true, 'ours'],
      [false, 'asked us to'],
    ]);
    expect(await replayed(recording.lines())).toMatchObject({ changed: 0, faults: 0 });
    const changed = doctored(recording.lines(), 4, { override: 'allow' });
    expect(await replayed(changed)).toMatchObject({ changed: 1, flipped: 1 });
  });

  it.each([
    'https://me:secret@b.example/r',
    'https:\\\\me:secret@b.example/r',
    'ht\ttps://me:secret@b.example/r',
    '/\t/me:secret@b.example/r',
    '\\/me:se@cret:secret@b.example/r',
  ])('has no user name and no password, of a question or of a redirect to %j', async (location) => {
    const asked: string[] = [];
    const clock = new VirtualClock();
    const store = new ScriptedStore({ clock });
    const { client, recording } = recorded({
      clock,
      store,
      transport: {
        fetch: async (url) => {
          asked.push(url);
          return asked.length === 1
            ? new Response(null, { status: 301, headers: { location } })
            : new Response(FORBIDS);
        },
      },
    });
    await client.check('https://user:secret@a.example/page');
    await client.close();
    const other = new RobotsClient({ agent: 'ExampleBot/1.0', clock, store, evidence: recording.listener });
    await other.check('https://a.example/page');
    await other.close();
    const text = recording.lines().join('\n');
    expect(text).toContain('https://b.example/r');
    expect(text).toContain('"type":"stored"');
    expect(text).not.toContain('secret');
  });

  const busy = () => new Response(null, { status: 503, headers: { 'retry-after': '60' } });
  it.each([
    ['a robots.txt', busy, (client: RobotsClient) => client.check('https://a.example/')],
    [
      'a page',
      undefined,
      (client: RobotsClient) => guardFetch(async (_url: string) => busy(), client)('https://a.example/'),
    ],
    [
      'a report',
      undefined,
      (client: RobotsClient) => client.report('https://a.example/', { reachable: true, retryAfter: '60' }),
    ],
  ])('has the pause that %s asked for right before the client was closed', async (_, answer, ask) => {
    const clock = new VirtualClock();
    for (const options of [{ clock }, { clock, store: new ScriptedStore({ clock }) }]) {
      const { client, recording } = recorded(options, answer);
      await ask(client);
      await client.close();
      expect(recording.ofType('pause')).toMatchObject([
        { origin: 'https://a.example', until: START + 60_000 },
      ]);
    }
  });

  it('goes on after a listener that throws, and decides all the same', async () => {
    // The process is warned of it, once for all files of this worker. Its text must not stand among failures of tests.
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    onTestFinished(() => warned.mockRestore());
    const { client } = recorded({
      evidence: () => {
        throw new Error('full');
      },
    });
    expect(await client.canFetch('https://a.example/private/x')).toBe(false);
  });
});
