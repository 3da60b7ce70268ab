import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  guardFetch,
  refusalIn,
  crawlReport,
  type Clock,
  type CrawlReportOptions,
  type RobotsClientOptions,
  RobotsClient,
} from '../../../src/index.ts';
import { fakeOrigin } from '../../../src/extras/testing/index.ts';
import { decisionChannels } from '../../../src/core/decision/index.ts';
import { HOUR, SECOND } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { lateClock } from '../../support/late-clock.ts';
import { opened, openedClient } from '../../support/opened.ts';

type Answers = (url: URL) => Response;
const rules: Answers = ({ hostname }) =>
  hostname === 'down.example'
    ? new Response(null, { status: 503 })
    : new Response('User-agent: *\nDisallow: /private\nAllow: /\nContent-Usage: /own/ train-ai=n\n');
const noDelay: Answers = () => new Response('User-agent: *\nCrawl-delay: 0\n');

/** A client over scripted answers. */
function scripted(answers: Answers = rules, options: RobotsClientOptions = {}) {
  const transport = { fetch: async (url: string) => answers(new URL(url)) };
  const { robots, clock } = openedClient({ transport, ...options });
  return { client: robots, clock };
}

interface Reported extends CrawlReportOptions {
  readonly answers?: Answers;
  readonly clock?: Clock;
}

/** A report of such a client, without a warning. */
function reported({ answers = rules, clock, ...options }: Reported = {}) {
  const made = scripted(answers, clock === undefined ? {} : { clock });
  return { ...made, report: opened(crawlReport(made.client, { onFirstRefused: () => {}, ...options })) };
}

/** Mocks the warnings of the process. */
function warnings() {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => warned.mockRestore());
  return warned;
}

const page: typeof fetch = async () => new Response('a page', { headers: { 'content-signal': 'search=no' } });

describe('crawlReport', () => {
  it('counts what a client is asked, and lists refusals by origin and rule, with the first URL', async () => {
    const { client, report } = reported();
    await client.canFetch('https://a.example/page');
    for (const path of ['/private/1', '/private/2', '/private/3'])
      await client.check(`https://a.example${path}`);
    await client.canFetch('https://down.example/');
    expect(client.permits('https://a.example/private/4')).toBeUndefined();
    const { questions, questionsRefused, statuses, ignoredBecause, ...others } = report.totals();
    expect([questions, questionsRefused, statuses, ignoredBecause]).toEqual([5, 4, {}, {}]);
    // Nothing was requested.
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
    expect(report.refusals()).toEqual([
      {
        origin: 'https://a.example',
        reason: 'rule',
        refused: 0,
        linksRefused: 0,
        questionsRefused: 3,
        example: {
          origin: 'https://a.example',
          reason: 'rule',
          url: 'https://a.example/private/1',
          rule: { directive: 'disallow', pattern: '/private', line: 2 },
        },
      },
      expect.objectContaining({
        reason: 'unreachable',
        questionsRefused: 1,
        example: expect.objectContaining({ url: 'https://down.example/', robots: '503' }),
      }),
    ]);
    expect(String(report)).toBe(
      '5 questions, 4 of them refused\n' +
        '  3  https://a.example  rule at line 2 (disallow: /private), such as https://a.example/private/1\n' +
        '  1  https://down.example/  unreachable (503)\n' +
        'ROBOTS.TXT UNREACHABLE: https://down.example (503, no try before 2026-01-15 12:00Z)\n',
    );
  });

  it.each([
    ['ECONNREFUSED', 0],
    ['ENOTFOUND', 0],
    ['UND_ERR_CONNECT_TIMEOUT', 0],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 0],
    ['ECONNRESET', 1],
    ['UND_ERR_HEADERS_TIMEOUT', 1],
  ])('counts as sent what the server may have seen: after %s %d', async (code, sent) => {
    const { client, report } = reported();
    const cause = Object.assign(new Error('no response'), { code });
    const get = guardFetch(
      (_url: string) => Promise.reject(new TypeError('fetch failed', { cause })),
      client,
    );
    await expect(get('https://a.example/')).rejects.toThrow('fetch failed');
    expect(report.totals()).toMatchObject({ sent, failed: 1 });
    expect(report.origins()).toMatchObject([
      { sent, pages: { page_error: code.includes('TIMEOUT') ? 0 : 1 } },
    ]);
  });

  it('does not count what is asked after `close`', async () => {
    const { client, report } = reported();
    await client.canFetch('https://a.example/');
    report.close();
    await client.canFetch('https://a.example/private');
    expect(report.totals()).toMatchObject({ questions: 1, questionsRefused: 0 });
    expect(decisionChannels.decision.hasSubscribers).toBe(false);
  });

  it('counts what guards refuse for a purpose, do not check, and defer', async () => {
    const { client, clock, report } = reported();
    await client.canFetch('https://a.example/');
    const training = guardFetch(page, client, { purpose: 'train-ai' });
    const searching = guardFetch(page, client, { purpose: 'search' });
    const robots = { ignore: true, because: 'a test' };
    await training('https://a.example/private', { robots } as RequestInit);
    for (const get of [() => training('https://a.example/own/a'), () => searching('https://a.example/b')]) {
      expect(refusalIn(await get().catch((error: unknown) => error))?.code).toBe('ERR_ROBOTS_USAGE');
    }
    const paced = guardFetch(page, client, {
      pacing: { defaultDelayMs: 60 * SECOND, maxDelayMs: SECOND },
      clock,
    });
    expect(refusalIn(await paced('https://a.example/c').catch((error: unknown) => error))?.code).toBe(
      'ERR_ROBOTS_DEFERRED',
    );
    await client.reserve('https://a.example/d', undefined, {
      defaultDelayMs: 60 * SECOND,
      maxDelayMs: SECOND,
    });
    expect(report.totals()).toMatchObject({
      sent: 2,
      allowed: 2,
      refused: 2,
      refusedByHeader: 1,
      deferred: 2,
      ignored: 1,
      questions: 2,
    });
    expect(report.totals().ignoredBecause).toEqual({ 'a test': 1 });
    expect(report.refusals().map(({ reason, example: { statement } }) => [reason, statement])).toEqual([
      ['usage', { directive: 'content-usage', value: 'train-ai=n', line: 4 }],
      ['usage', { directive: 'content-signal', value: 'search=no' }],
    ]);
    expect(String(report)).toContain(
      '2 requests sent, 2 refused, 2 deferred, 1 sent unchecked (a test: 1), 2 questions\n',
    );
    expect(String(report)).toContain(
      'https://a.example/own/a  usage at line 4 (content-usage: train-ai=n)\n',
    );
  });

  it('writes its totals at an interval, with rates since the last time', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const { client, report } = reported({ every: 30 * SECOND, write, onFirstRefused: false });
    for (let n = 0; n < 1_200; n++)
      await client.check(`https://a.example/${n % 100 === 0 ? 'private' : 'page'}`);
    vi.advanceTimersByTime(29 * SECOND);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(SECOND);
    await client.check('https://a.example/page');
    vi.advanceTimersByTime(30 * SECOND);
    expect(lines).toEqual([
      '1,200 questions (2,400 a minute), 12 of them refused (24 a minute)',
      '1,201 questions (2 a minute), 12 of them refused (0 a minute)',
    ]);
    report.close();
    vi.advanceTimersByTime(HOUR);
    expect(lines).toHaveLength(2);
  });

  it('names at most 100 reasons of requests that were sent unchecked, and counts all', async () => {
    const { client, report } = reported();
    const fetchPage = guardFetch(page, client);
    for (let n = 0; n < 150; n++) {
      const robots = { ignore: true, because: n < 120 ? `ticket ${n}` : 'ticket 7' };
      await fetchPage('https://a.example/', { robots } as RequestInit);
    }
    const { ignored, ignoredBecause } = report.totals();
    expect(ignored).toBe(150);
    expect(Object.keys(ignoredBecause)).toHaveLength(100);
    expect(ignoredBecause['ticket 7']).toBe(31);
  });

  it.each([{ every: 999 }, { every: 2 ** 31 }, { every: '1 min' }, { write: 'stderr' }, { onRefused: null }])(
    'refuses the options %j',
    (options) => {
      const { client } = scripted();
      expect(() => crawlReport(client, options as CrawlReportOptions)).toThrow(
        expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
      );
    },
  );

  it('counts a paced request once, however often it waited', async () => {
    const clock = lateClock();
    const { client, report } = reported({ clock });
    const paced = guardFetch(page, client, { pacing: { minDelayMs: SECOND }, clock });
    const read = async (number: number): Promise<string> =>
      (await paced(`https://a.example/${number}`)).text();
    const all = Promise.all([1, 2, 3].map(read));
    await clock.whenWaiting();
    await clock.advance(3 * SECOND);
    await all;
    await expect(paced('https://a.example/private')).rejects.toThrow('disallows');
    expect(report.totals()).toMatchObject({ sent: 3, allowed: 3, refused: 1, deferred: 0 });
  });

  it('has the pauses of each origin, with their status, and one that becomes longer once', async () => {
    const clock = lateClock();
    const { client, report } = reported({ answers: noDelay, clock });
    const answers = [
      new Response(null, { status: 429, headers: { 'retry-after': '10' } }),
      new Response(null, { status: 503, headers: { 'retry-after': '30' } }),
    ];
    const busy = (async () => answers.shift() ?? new Response('a page')) as typeof fetch;
    const paced = guardFetch(busy, client, { pacing: { concurrency: 2 }, clock });
    await Promise.all([paced('https://a.example/1'), paced('https://a.example/2')]);
    expect(report.totals()).toMatchObject({ sent: 2, statuses: { 429: 1, 503: 1 }, pauses: 1 });
    expect(report.origins()).toMatchObject([{ paused: 1, pausesAsked: 1, pausedMs: 10_000, busy: 2 }]);
    expect(String(report)).toContain('PAUSED, as the site asked: https://a.example (1 time, 10 s)\n');
    // Paused is not refused.
    expect(String(report)).not.toContain('REFUSED BY THE SITE');
    expect((await client.policy('https://a.example')).pacing?.pause).toMatchObject({
      status: 503,
      incident: 1,
      from: clock.now(),
      until: clock.now() + 30_000,
      delayFrom: 'retry-after',
    });
  });

  it('names the requested URL before the one that a redirect led to', async () => {
    const { client, report } = reported({ onFirstRefused: false });
    const redirecting: typeof fetch = async () =>
      new Response(null, { status: 302, headers: { location: '/private' } });
    await expect(guardFetch(redirecting, client)('https://a.example/start')).rejects.toThrow('redirects to');
    expect(report.totals()).toMatchObject({ sent: 1, statuses: { 302: 1 }, allowed: 1, refused: 1 });
    expect(report.refusals()[0]?.example).toMatchObject({
      requested: 'https://a.example/start',
      url: 'https://a.example/private',
    });
    expect(String(report)).toContain(
      'https://a.example/start redirects to https://a.example/private  rule at line 2',
    );
  });

  it('counts answers that ask for payment', async () => {
    const { client, report } = reported();
    const unpaid: typeof fetch = async () =>
      new Response(null, { status: 402, headers: { 'crawler-price': 'USD 0.01' } });
    const paid = guardFetch(unpaid, client);
    await paid('https://a.example/1');
    expect(report.origins()).toMatchObject([{ sent: 1, price: 'USD 0.01' }]);
    const booking = await client.reserve('https://a.example/2');
    if (booking.status === 'booked') booking.done({ status: 402, headers: { 'crawler-price': 'USD 0.02' } });
    expect(report.totals()).toMatchObject({ sent: 2, refused: 0, paymentRequired: 2 });
    expect(String(report)).toBe(
      '2 requests sent, 0 refused, 2 answered by 402 (payment required), 1 question\n' +
        'REFUSED BY THE SITE, although robots.txt did not refuse: https://a.example (2 × 402, price USD 0.02)\n',
    );
  });

  it('tells of each robots.txt that looks like something else, such as a login page', async () => {
    const login = '<!doctype html><title>Log in</title><form><input type="password"></form>';
    const { client, report } = reported({
      answers: ({ hostname }) =>
        hostname === 'a.example'
          ? new Response('User-agent: *\n')
          : new Response(login, { headers: { 'content-type': 'text/html' } }),
    });
    for (const host of ['a', 'b', 'b', 'c']) await client.canFetch(`https://${host}.example/`);
    const looks = report.origins().map(({ robots }) => robots.suspect);
    expect(looks).toEqual([undefined, 'login', 'login']);
    expect(String(report)).toContain(
      'NOT A ROBOTS.TXT, by its looks, at https://b.example (login), https://c.example (login)\n',
    );
  });

  it('counts what a last good copy decided', async () => {
    let fails = false;
    const { client, clock, report } = reported({
      answers: (url) => (fails ? new Response(null, { status: 503 }) : rules(url)),
    });
    await client.canFetch('https://a.example/');
    fails = true;
    clock.advance(25 * HOUR);
    await client.canFetch('https://a.example/');
    expect(report.totals()).toMatchObject({ questions: 2, lastGood: 1, questionsRefused: 0 });
    expect(String(report)).toContain('1 decided by a last good copy');
  });

  it('reports a refused first URL to the callback once, and in the first line', async () => {
    const onFirstRefused = vi.fn();
    const { client, report } = reported({ onFirstRefused });
    await client.canFetch('https://a.example/robots.txt');
    await client.canFetch('https://a.example/private');
    await client.canFetch('https://a.example/private/2');
    expect(onFirstRefused.mock.calls).toEqual([
      [expect.objectContaining({ url: 'https://a.example/private' })],
    ]);
    expect(String(report).split('\n')[0]).toBe(
      'THE FIRST DECISION WAS A REFUSAL: https://a.example/private  rule at line 2 (disallow: /private)',
    );
    expect(report.totals().firstRefused).toMatchObject({ reason: 'rule' });
  });

  it('has no report of the first URL with `false`, or where another was allowed before', async () => {
    const { client, report } = reported({ onFirstRefused: false });
    await client.canFetch('https://a.example/private');
    expect(report.totals()).not.toHaveProperty('firstRefused');
    expect(String(report)).toMatch(/^1 question, 1 of them refused\n/);
    const onFirstRefused = vi.fn();
    const later = opened(crawlReport(client, { onFirstRefused }));
    for (const path of ['/', '/private']) await client.canFetch(`https://a.example${path}`);
    expect(onFirstRefused).not.toHaveBeenCalled();
    expect(String(later)).not.toContain('FIRST');
  });

  it('without a callback the process is warned', async () => {
    const warned = warnings();
    const { client } = scripted();
    opened(crawlReport(client));
    await client.canFetch('https://a.example/private');
    await client.canFetch('https://a.example/private');
    expect(warned.mock.calls).toEqual([
      [
        'The first decision of the crawl is a refusal: https://a.example/private  rule at line 2 (disallow: /private)',
        { type: 'RobotsWarning', code: 'CANFETCH_FIRST_REFUSED' },
      ],
    ]);
  });

  it('is bounded in origins and in the length of what it keeps', async () => {
    const long = `/${'x'.repeat(5_000)}`;
    const { client, report } = reported({
      answers: ({ hostname }) =>
        new Response(`User-agent: *\nDisallow: ${hostname === '0.example' ? long : '/'}\n`),
    });
    for (let site = 0; site < 1_010; site++)
      await client.canFetch(`https://${site}.example${site === 0 ? long : '/'}`);
    expect(report.totals()).toMatchObject({ questions: 1_010, questionsRefused: 1_010, unlisted: 10 });
    expect(report.refusals()).toHaveLength(1_000);
    expect([...report.toNDJSON()]).toHaveLength(2_001);
    const { example } = report.refusals()[0] ?? {};
    expect(example?.url).toHaveLength(2_001);
    expect(example?.rule?.pattern).toHaveLength(201);
    expect(String(report).split('\n')).toHaveLength(1 + 1 + 20 + 1 + 1);
    expect(String(report)).toContain('\n  990  at other origins, or by other rules\n');
  });

  it('does not send control characters of a file to the terminal', async () => {
    const { client, report } = reported({
      answers: () =>
        new Response('User-agent: *\nDisallow: /\nDisallow: /*\u001B[31m\u202E$\nDisallow: /\u001B*\n'),
    });
    await client.canFetch('https://a.example/%1B[31m%E2%80%AE');
    expect(report.totals().questionsRefused).toBe(1);
    expect(String(report) + [...report.toNDJSON()].join('')).not.toMatch(/[\u001B\u202E]/);
  });

  it('counts what the servers saw: redirects, failures, and what a guard let through in a dry run', async () => {
    await using site = await fakeOrigin({
      robots: 'User-agent: *\nDisallow: /private\n',
      pages: {
        '/page': 'hello',
        '/old': { redirect: '/page' },
        '/gone': { status: 404 },
        '/lost': { fault: 'reset' },
        '/private': 'private',
        '/moved': { redirect: '/private' },
      },
    });
    await using client = new RobotsClient({ agent: 'ExampleBot' });
    using report = crawlReport(client, { onFirstRefused: false });
    const get = guardFetch(fetch, client);
    for (const path of ['/page', '/old', '/gone', '/lost', '/private', '/private', '/moved'])
      await get(site.url(path)).catch(() => undefined);
    expect(report.totals()).toMatchObject({
      sent: 6,
      failed: 1,
      statuses: { 200: 2, 302: 2, 404: 1 },
      refused: 3,
      refusedUrls: 1,
      questions: 0,
    });
    expect(site.pageCount).toBe(6);
    await guardFetch(fetch, client, { mode: 'report' })(site.url('/private'));
    expect(report.totals()).toMatchObject({ sent: 7, refused: 4 });
    expect(site.pageCount).toBe(7);
    expect(String(report)).toMatch(/^7 requests sent, 4 refused \(1 URL\), 1 failed\n/);
  });

  it('counts the requests of bookings, once each, and the questions before them', async () => {
    const { client, report } = reported();
    const headers = { 'cf-mitigated': 'challenge' };
    const ends = [{ status: 200 }, { status: 403, headers }, { error: new Error('lost') }, undefined];
    for (const [page, end] of ends.entries()) {
      const booking = await client.reserve(`https://a.example/${page}`, undefined, { ahead: 10 });
      if (booking.status !== 'booked') throw new Error('not booked');
      booking.done(end);
      booking.done({ status: 200 });
    }
    expect(report.totals()).toMatchObject({
      sent: 4,
      failed: 2,
      statuses: { 200: 1, 403: 1 },
      challenged: 1,
      questions: 4,
      allowed: 0,
    });
  });

  it('shows sites that refuse what their robots.txt allows, with challenges', async () => {
    const { client, report } = reported();
    const responses = [
      new Response(null, { status: 403, headers: { 'cf-mitigated': 'challenge' } }),
      new Response(null, { status: 429 }),
      new Response('a page'),
    ];
    const get = guardFetch((async () => responses.shift()) as unknown as typeof fetch, client);
    for (const page of [1, 2, 3]) await get(`https://a.example/${page}`);
    expect(report.origins()).toMatchObject([
      {
        sent: 3,
        statuses: { 200: 1, 403: 1, 429: 1 },
        refusedAtEdge: { cloudflare: 1 },
        pages: { success: 1, robots_disallowed: 0, timeout: 0, page_error: 2 },
      },
    ]);
    expect(String(report)).toContain(
      'REFUSED BY THE SITE, although robots.txt did not refuse: https://a.example (1 × 403, 1 × 429, 1 by cloudflare)\n',
    );
  });

  it('says that a site asked for a pause only where it named the time', async () => {
    const clock = lateClock();
    const { client, report } = reported({ answers: noDelay, clock });
    const busy = (async () => new Response(null, { status: 503 })) as typeof fetch;
    await guardFetch(busy, client, { pacing: true, clock })('https://a.example/1');
    expect(report.origins()).toMatchObject([{ paused: 1, pausesAsked: 0 }]);
    expect(String(report)).toContain(
      'PAUSED, for a time that the site did not name: https://a.example (1 time',
    );
  });

  it('has for each origin what its robots.txt says, and what became of its pages', async () => {
    const { client, report } = reported({
      answers: ({ hostname }) =>
        hostname === 'closed.example'
          ? new Response(null, { status: 403 })
          : rules(new URL('https://a.example')),
      onFirstRefused: false,
    });
    const site = async (url: string): Promise<Response> => {
      if (url.endsWith('/slow')) throw new DOMException('too slow', 'TimeoutError');
      if (url.endsWith('/lost')) throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      if (url.endsWith('/old')) return new Response(null, { status: 302, headers: { location: '/page' } });
      return new Response('a page', { status: url.endsWith('/gone') ? 404 : 200 });
    };
    const get = guardFetch(site, client, { purpose: 'train-ai' });
    const paths = ['/page', '/old', '/gone', '/slow', '/lost', '/private', '/own/x'];
    for (const path of paths) await get(`https://a.example${path}`).catch(() => undefined);
    await get('https://closed.example/');
    await client.check('https://down.example/');
    const none = { deferred: 0, paused: 0, pausedMs: 0, pausesAsked: 0, busy: 0, refusedAtEdge: {} };
    expect(report.origins()).toEqual([
      {
        ...none,
        origin: 'https://a.example',
        robots: { state: 'rules', status: 200 },
        sent: 6,
        allowed: 6,
        refused: 2,
        pages: { success: 2, robots_disallowed: 2, timeout: 1, page_error: 2 },
        statuses: { 200: 2, 302: 1, 404: 1 },
      },
      {
        ...none,
        origin: 'https://closed.example',
        robots: { state: 'allow-all', status: 403 },
        sent: 1,
        allowed: 1,
        refused: 0,
        pages: { success: 1, robots_disallowed: 0, timeout: 0, page_error: 0 },
        statuses: { 200: 1 },
      },
      expect.objectContaining({ origin: 'https://down.example', robots: { state: 'rules', status: 200 } }),
    ]);
    expect(String(report)).toContain(
      'WITHOUT RULES, because robots.txt itself is forbidden: https://closed.example (403)\n',
    );
  });

  it('counts a body that was cut as no success, and says so', async () => {
    await using site = await fakeOrigin({
      robots: 'User-agent: *\nCrawl-delay: 0\n',
      pages: { '/cut': { fault: 'truncate' }, '/page': 'whole' },
    });
    await using client = new RobotsClient({ agent: 'ExampleBot' });
    using report = crawlReport(client);
    const get = guardFetch(fetch, client, { pacing: { defaultDelayMs: 0 } });
    for (const path of ['/cut', '/page']) {
      const response = await get(site.url(path));
      await response.text().catch(() => undefined);
    }
    await (await get(site.url('/page'))).body?.cancel();
    expect(report.totals()).toMatchObject({ sent: 3, cut: 1 });
    expect(report.origins()[0]?.pages).toMatchObject({ success: 2, page_error: 1 });
    expect(String(report)).toContain('3 requests sent, 0 refused, 1 cut in the body\n');
  });

  it('names pages that stayed busy, and forgets those that came back', async () => {
    const clock = lateClock();
    const { client, report } = reported({ answers: noDelay, clock });
    const statuses = [503, 503, 200];
    const site = (async () => new Response(null, { status: statuses.shift() ?? 200 })) as typeof fetch;
    const get = guardFetch(site, client);
    for (const path of ['/1', '/2', '/1']) await get(`https://a.example${path}`);
    expect(report.totals().busy).toBe(1);
    expect(String(report)).toContain('STAYED BUSY at the last try: https://a.example (1 page)\n');
  });

  it('says what slows the crawl, how many requests wait, and until when, at intervals, too', async () => {
    const clock = { now: () => Date.now() };
    const lines: string[] = [];
    const { client, report } = reported({
      answers: ({ hostname }) =>
        hostname === 'down.example'
          ? new Response(null, { status: 503 })
          : new Response('User-agent: *\nCrawl-delay: 10\n'),
      clock,
      every: 1_000,
      write: (line) => lines.push(line),
    });
    const get = guardFetch(page, client, { pacing: true });
    await expect(get('https://down.example/')).rejects.toThrow();
    // The first one waits, too: the request for robots.txt counts as one.
    const waiting = [1, 2, 3].map((number) => get(`https://a.example/${number}`).catch(() => undefined));
    await eventually(() => expect(report.slowed()).toMatchObject([{ waiting: 3 }]));
    const [slowed] = report.slowed();
    const drainsAt = slowed?.drainsAt ?? 0;
    expect(slowed).toMatchObject({ scope: 'a.example', delayMs: 10_000 });
    expect(drainsAt - Date.now()).toBeGreaterThan(19_000);
    const until = new Date(drainsAt).toISOString().slice(0, 16).replace('T', ' ');
    expect(String(report)).toMatch(/^SLOWED by .*: a\.example, 3 waiting, until about /m);
    expect(String(report)).toContain(`until about ${until}Z\n`);
    expect([...report.toNDJSON()].at(-1)).toContain('"waiting":3');
    await eventually(() => expect(lines.at(-1)).toContain('SLOWED'));
    expect(lines.at(-1)).toMatch(
      /^\d.* 1 refused.*; SLOWED by Crawl-delay 10 s: a\.example, \d waiting, until about [\d-]+ [\d:]+Z; ROBOTS\.TXT UNREACHABLE: https:\/\/down\.example \(503, no try before [\d-]+ [\d:]+Z\)$/,
    );
    await client.close();
    await Promise.all(waiting);
    expect(report.slowed()).toEqual([]);
  });

  it('is its totals and lists in JSON, and a line of each in NDJSON', async () => {
    const { client, report } = reported();
    const get = guardFetch(page, client);
    for (const path of ['/1', '/private']) await get(`https://a.example${path}`).catch(() => undefined);
    expect(JSON.parse(JSON.stringify(report))).toEqual({
      totals: report.totals(),
      refusals: report.refusals(),
      origins: report.origins(),
      slowed: [],
    });
    expect(Array.from(report.toNDJSON(), (line) => JSON.parse(line))).toEqual([
      { schemaVersion: 1, ...report.totals() },
      { schemaVersion: 1, ...report.refusals()[0] },
      { schemaVersion: 1, ...report.origins()[0] },
    ]);
  });

  it('counts addresses that the policy refused, for robots.txt and for pages', async () => {
    const overrides = { 'http://127.0.0.1:9': { verdict: 'allow', because: 'ours' } } as const;
    const client = opened(new RobotsClient({ agent: 'ExampleBot', addressPolicy: 'public-only', overrides }));
    const report = opened(crawlReport(client, { onFirstRefused: false }));
    await client.canFetch('http://127.0.0.2:9/');
    expect(report.totals()).toMatchObject({ questionsRefused: 1, addressesRefused: 1 });
    const get = guardFetch(fetch, client, { addressPolicy: 'public-only' });
    await expect(get('http://127.0.0.1:9/')).rejects.toMatchObject({ code: 'ERR_ROBOTS_ADDRESS_REFUSED' });
    expect(report.totals()).toMatchObject({ sent: 0, addressesRefused: 2 });
    expect(String(report)).toContain('2 refused for their address');
  });

  it('refuses invalid clients', () => {
    expect(() => crawlReport(undefined as never)).toThrow(/RobotsClient/);
  });
});
