import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  describeDecision,
  guardFetch,
  type Profile,
  profiles,
  refusalIn,
  type RobotsClientOptions,
} from '../../../src/index.ts';
import { DAY, HOUR, MINUTE, START } from '../../support/client.ts';
import { movedTo, type Script, type Site } from '../../support/site.ts';
import { answering, openedSite as site, openedClient as client } from '../../support/opened.ts';
import { eventually } from '../../support/eventually.ts';

const RULES = 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\n\nUser-agent: OtherBot\nDisallow: /other\n';

describe('a decision', () => {
  it('names the rule, the group, the file and where the answer came from', async () => {
    const { robots, clock, server } = await answering({
      body: RULES,
      headers: { 'cache-control': 'max-age=3600' },
    });
    const decision = await robots.check(server.url('/private/a?b'));
    expect(decision).toEqual({
      url: server.url('/private/a?b'),
      origin: server.origin,
      agent: 'ExampleBot',
      profile: 'rfc9309',
      state: 'rules',
      allowed: false,
      reason: 'rule',
      rule: { directive: 'disallow', pattern: '/private', line: 2 },
      group: { agent: '*', lines: [1] },
      crawlDelayMs: 2000,
      robots: {
        url: server.url('/robots.txt'),
        finalUrl: server.url('/robots.txt'),
        hops: 0,
        status: 200,
        fetchedAt: START,
        staleAt: START + HOUR,
        sha256: createHash('sha256').update(RULES).digest('hex'),
        source: 'network',
      },
    });
    clock.advance(MINUTE);
    expect(robots.peek(server.url('/'))).toMatchObject({
      allowed: true,
      reason: 'no-rule',
      robots: { source: 'memory' },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is for the agent asked about: token, User-Agent string, list in order of preference', async () => {
    const { robots, server } = await answering({ body: RULES });
    const url = server.url('/other');
    expect(await robots.canFetch(url)).toBe(true);
    expect(await robots.canFetch(url, 'OTHERBOT')).toBe(false);
    expect(await robots.canFetch(url, 'Mozilla/5.0 (compatible; OtherBot/2.1; +http://x.example)')).toBe(
      false,
    );
    expect(await robots.check(url, ['FirstBot', 'OtherBot'])).toMatchObject({
      agent: 'OtherBot',
      allowed: false,
    });
    expect(await robots.check(url, ['FirstBot', 'SecondBot'])).toMatchObject({
      agent: 'FirstBot',
      allowed: true,
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers['user-agent']).toBe('ExampleBot/1.0 (+https://example.com/bot)');
  });

  it('about /robots.txt itself needs no request, whatever is known', async () => {
    const { robots, server } = await answering({ body: 'User-agent: *\nDisallow: /' });
    expect(await robots.check(server.url('/robots.txt#x'))).toMatchObject({
      allowed: true,
      reason: 'robots-txt',
      state: 'unknown',
    });
    expect(robots.permits(server.url('/robots.txt#x'))).toBe(true);
    expect(server.requests).toHaveLength(0);
    expect(await robots.canFetch(server.url('/robots.txt?x'))).toBe(false);
    expect(await robots.canFetch(server.url('/robots%2Etxt'))).toBe(false);
    expect(await robots.check(server.url('/robots.txt'))).toMatchObject({
      reason: 'robots-txt',
      state: 'rules',
    });
    expect(await robots.canFetch(server.url('/robots.txt'))).toBe(true);
    expect(robots.permits(server.url('/robots.txt'))).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('is about the URL without dot segments, also where the URL parser of the runtime leaves them', async () => {
    const { robots, server } = await answering({ body: 'User-agent: *\nDisallow: /docs/private' });
    for (const path of ['/docs/.cfg/../private', '/docs/.a/./.b/%2e%2E/../private?x#y']) {
      const url = server.url(path);
      const plain = new URL(url.replace(/\/docs.*private/, '/docs/private')).href;
      expect(await robots.check(url)).toMatchObject({ allowed: false, url: plain });
      expect(robots.permits(url)).toBe(false);
      expect(robots.permits(new URL(url))).toBe(false);
    }
    expect(await robots.canFetch(server.url('/docs/private/.cfg/../..'))).toBe(true);
    expect(await robots.canFetch(server.url('/docs/private/.cfg/..'))).toBe(false);
  });

  it('of an ftp URL without a transport for it is unreachable', async () => {
    const { robots, clock } = client({ profile: 'google' });
    await robots.check('ftp://ftp.example.com/pub');
    robots.report('ftp://ftp.example.com/', { reachable: true });
    clock.advance(40 * DAY);
    expect(await robots.policy('ftp://ftp.example.com')).toMatchObject({ state: 'disallow-all' });
    expect(await robots.canFetch('ftp://ftp.example.com/pub')).toBe(false);
    expect(await robots.check('ftp://ftp.example.com/pub')).toMatchObject({
      allowed: false,
      reason: 'unreachable',
      state: 'disallow-all',
      robots: { error: 'ERR_ROBOTS_NO_FTP_TRANSPORT' },
      retryAt: expect.any(Number),
    });
  });
});

describe('redirects under google', () => {
  const moved = (to: Site): Script => ({ '/robots.txt': movedTo(to.url('/files/robots.txt'), 301) });

  it('a hop of an origin that is unreachable is no disallowed one', async () => {
    const { robots } = client({ profile: 'google' });
    const other = await site({
      '/robots.txt': { status: 503 },
      '/files/robots.txt': { body: 'User-agent: *\nDisallow: /\n' },
    });
    const server = await site(moved(other));
    await robots.check(other.url('/'));
    expect(await robots.check(server.url('/'))).toMatchObject({ allowed: false, reason: 'rule' });
  });

  it('a file moved into a folder it disallows itself stays in force when it is asked for again', async () => {
    const { robots, clock } = client({ profile: 'google' });
    const server = await site({
      '/robots.txt': movedTo('/static/robots.txt', 301),
      '/static/robots.txt': { body: 'User-agent: *\nDisallow: /static\nDisallow: /secret\n' },
    });
    expect(await robots.canFetch(server.url('/secret'))).toBe(false);
    clock.advance(23 * HOUR);
    await robots.check(server.url('/secret'));
    clock.advance(HOUR);
    expect(await robots.check(server.url('/secret'))).toMatchObject({ allowed: false, reason: 'rule' });
  });
});

describe('an answer that a redirect led to', () => {
  it('ends the failure of the origin that served it', async () => {
    const { robots } = client();
    const other = await site({
      '/robots.txt': [{ status: 503, headers: { 'retry-after': '3600' } }, { body: RULES }],
    });
    const server = await site({ '/robots.txt': movedTo(other.url('/robots.txt'), 301) });
    expect(await robots.canFetch(other.url('/'))).toBe(false);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    expect(robots.peek(other.url('/'))).toMatchObject({ allowed: true, state: 'rules' });
  });

  const SHARED = 'https://shared.example';

  /** A client that has asked a site which redirects to the robots.txt of `SHARED`. */
  async function redirected(respond: (init: RequestInit) => Response, options: RobotsClientOptions) {
    const fetch = async (url: string, init: RequestInit): Promise<Response> =>
      url === `${SHARED}/robots.txt`
        ? respond(init)
        : new Response(null, movedTo(`${SHARED}/robots.txt`, 301));
    const { robots } = client({ ...options, transport: { fetch } });
    await robots.check('https://moved.example/');
    return robots;
  }

  const rules = (): Response => new Response(RULES);

  it.each<[string, RobotsClientOptions]>([
    ['no settings of its own', {}],
    ['no header fields of its own', { headersForRobots: () => ({}) }],
    ['the same profile', { overrides: { [SHARED]: { profile: 'rfc9309' } } }],
  ])('is shared with an origin that has %s', async (_, options) => {
    const robots = await redirected(rules, options);
    expect(robots.peek(`${SHARED}/private`)).toMatchObject({ allowed: false, robots: { hops: 0 } });
  });

  it('is asked for, and shared, with the header fields of the origin that serves it', async () => {
    const robots = await redirected(
      ({ headers }) =>
        new Headers(headers).has('authorization')
          ? new Response('User-agent: *\nDisallow: /\n')
          : new Response('<html>Log in</html>', { headers: { 'content-type': 'text/html' } }),
      { headersForRobots: (origin) => (origin === SHARED ? { authorization: 'Bearer token' } : undefined) },
    );
    expect(robots.peek(`${SHARED}/`)).toMatchObject({ allowed: false, reason: 'rule' });
    expect(robots.peek('https://moved.example/')).toMatchObject({ allowed: false, reason: 'rule' });
  });

  it('is an error where `headersForRobots` fails for the origin that a redirect leads to', async () => {
    const headersForRobots = (origin: string): undefined => {
      if (origin === SHARED) throw new Error('no token');
    };
    await expect(redirected(rules, { headersForRobots })).rejects.toThrow(
      '`headersForRobots` failed for "https://shared.example"',
    );
  });

  it.each<[string, Response, Partial<Profile>]>([
    [
      'challenges',
      new Response('<html>', { headers: { 'cf-mitigated': 'challenge' } }),
      { challenge: 'unreachable' },
    ],
    ['statuses', new Response('', { status: 203 }), { status: { '203': 'unreachable' } }],
  ])('opens no origin whose own profile reads %s differently', async (_, response, differing) => {
    const profile = { ...profiles.rfc9309, name: 'strict', ...differing };
    const robots = await redirected(() => response.clone(), { overrides: { [SHARED]: { profile } } });
    expect(await robots.check(`${SHARED}/`)).toMatchObject({ allowed: false, reason: 'unreachable' });
  });

  it('is not kept for an origin that has a verdict of the caller', async () => {
    const overrides = { [SHARED]: { verdict: 'allow', because: 'ours' } } as const;
    expect((await redirected(rules, { overrides })).stats()).toMatchObject({ origins: 1 });
  });
});

describe('profiles', () => {
  it('status changes of one origin leave the rest of the profile as it is', async () => {
    const server = await site({ '/robots.txt': [{ status: 503 }, { body: RULES }] });
    const status: Record<string, 'unavailable'> = { '503': 'unavailable' };
    const { robots, clock } = client({
      overrides: { [server.origin]: { profile: { ...profiles.rfc9309, name: 'odd', status } } },
    });
    // What was checked is what holds.
    status['5xx'] = 'unavailable';
    expect(await robots.check(server.url('/private'))).toMatchObject({
      allowed: true,
      reason: 'unavailable',
      profile: 'odd',
    });
    clock.advance(DAY);
    expect(await robots.canFetch(server.url('/private'))).toBe(false);
  });
});

describe('an outage', () => {
  it('ends with the next answer, asked for when the pause is over', async () => {
    const { robots, clock, server } = await answering([
      { status: 503, headers: { 'retry-after': '120' } },
      { body: RULES },
    ]);
    expect(await robots.check(server.url('/'))).toMatchObject({
      allowed: false,
      retryAt: START + 2 * MINUTE,
    });
    clock.advance(2 * MINUTE - 1);
    expect(await robots.canFetch(server.url('/'))).toBe(false);
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  it('accepts a report for URLs, and for nothing else', async () => {
    const { robots } = client();
    const wrong = expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' });
    expect(() => robots.report('', { reachable: true })).toThrow(wrong);
    await robots.check('https://example.com/', undefined, { signal: AbortSignal.abort() }).catch(() => {});
    for (const text of ['', '/page', 'example.com']) {
      expect(() => robots.report(text, { reachable: true })).toThrow(wrong);
      expect(() => robots.peek(text)).toThrow(wrong);
    }
  });

  it('counts for the origin told of, also when another was asked about in between', async () => {
    const { robots } = client({ profile: 'google' });
    robots.peek('https://a.example/page');
    robots.peek('https://b.example/page');
    robots.report('https://a.example/page', { reachable: true });
    // Memory loads its library for the first of them.
    await eventually(() => expect(robots.stats().origins).toBe(1));
    expect(() => robots.report('https://', { reachable: true })).toThrow();
    robots.report('https://b.example/page', { reachable: true });
    robots.report('https://b.example/page', { reachable: true });
    expect(robots.stats().origins).toBe(2);
  });
});

describe('a fetch of the caller that throws', () => {
  it('is not the site: its message is in the sentence, and it is the cause of the refusal, from memory too', async () => {
    const error = new Error('set the token: API_TOKEN is empty');
    const throwing: typeof fetch = async () => {
      throw error;
    };
    const { robots } = client({ transport: { fetch: throwing } });
    const guarded = guardFetch(throwing, robots);
    for (let time = 0; time < 2; time++) {
      const refusal = refusalIn(await guarded('https://example.com/').catch((reason: unknown) => reason));
      expect(refusal).toMatchObject({ code: 'ERR_ROBOTS_UNREACHABLE', cause: error });
      expect(refusal?.cause).toBe(error);
      expect(refusal?.message).toContain(
        'is unreachable (the request failed: "set the token: API_TOKEN is empty", ERR_ROBOTS_FETCH_FAILED), so',
      );
    }
    const decision = robots.peek('https://example.com/');
    expect(JSON.parse(JSON.stringify(decision?.robots))).toEqual(decision?.robots);
    expect(decision?.robots).toMatchObject({ detail: 'set the token: API_TOKEN is empty' });
  });

  it('by a mistake of its own, or with a text, says so; nothing is said of what has no message', async () => {
    const why = async (thrown: unknown): Promise<string> => {
      const fetch = async (): Promise<Response> => {
        throw thrown;
      };
      return describeDecision(await client({ transport: { fetch } }).robots.check('https://example.com/'));
    };
    expect(await why(new TypeError('pool.get is not a function'))).toContain(
      '"pool.get is not a function", ERR_',
    );
    expect(await why('no\u202eroute')).toContain('(the request failed: "no\\u{202e}route", ERR_');
    expect(await why(undefined)).toContain('(the connection failed, ERR_ROBOTS_FETCH_FAILED)');
  });

  it('a 503 or a 429 of the site is a cause, too, from memory as from the network', async () => {
    for (const status of [503, 429]) {
      const { robots, server } = await answering({ status });
      for (let time = 0; time < 2; time++) {
        const rejected = await guardFetch(fetch, robots)(server.url('/')).catch((reason: unknown) => reason);
        expect(refusalIn(rejected)?.cause).toMatchObject({ code: 'ERR_ROBOTS_STATUS', status });
      }
    }
  });
});

describe('overrides', () => {
  it('text, verdict and profile of an origin are the caller’s', async () => {
    const server = await site({ '/robots.txt': { status: 403 } });
    const other = await site({ '/robots.txt': { body: RULES } });
    const { robots } = client({
      overrides: {
        'https://text.example': { text: RULES, because: 'agreed by mail' },
        'https://closed.example': { verdict: 'disallow', because: 'asked us to stay away' },
        'https://open.example': { verdict: 'allow', because: 'our own site' },
        [server.origin]: { profile: 'koster-1996' },
      },
    });
    expect(await robots.check('https://text.example/private')).toMatchObject({
      allowed: false,
      reason: 'override',
      because: 'agreed by mail',
      rule: { line: 2 },
      robots: { source: 'override' },
    });
    expect(await robots.canFetch('https://text.example/')).toBe(true);
    expect(robots.peek('https://closed.example/')).toMatchObject({
      allowed: false,
      reason: 'override',
      state: 'disallow-all',
    });
    expect(robots.peek('https://open.example/private')).toMatchObject({
      allowed: true,
      reason: 'override',
      state: 'allow-all',
      because: 'our own site',
    });
    expect(await robots.check(server.url('/'))).toMatchObject({
      allowed: false,
      reason: 'restricted',
      profile: 'koster-1996',
    });
    expect(await robots.check(other.url('/'))).toMatchObject({ profile: 'rfc9309', allowed: true });
  });

  it('end at `until`: then the rules of the origin hold, in every question', async () => {
    const server = await site({ '/robots.txt': { body: 'User-agent: *\nDisallow: /theirs\n' } });
    const text = await site({ '/robots.txt': { body: RULES } });
    const until = START + HOUR;
    const { robots, clock } = client({
      overrides: {
        [server.origin]: { verdict: 'allow', because: 'contract of 2026', until },
        [text.origin]: { text: 'User-agent: *\nDisallow: /ours\n', until },
      },
    });
    expect(await robots.canFetch(server.url('/theirs'))).toBe(true);
    expect(robots.peek(text.url('/ours'))).toMatchObject({ allowed: false, reason: 'override' });
    clock.advance(HOUR - 1);
    expect(await robots.policy(server.url('/'))).toMatchObject({ reason: 'override' });
    expect(await robots.canFetch(server.url('/theirs'))).toBe(true);
    clock.advance(1);
    expect(robots.permits(server.url('/theirs'))).toBeUndefined();
    expect(await robots.check(server.url('/theirs'))).toMatchObject({ allowed: false, reason: 'rule' });
    expect(robots.permits(server.url('/theirs'))).toBe(false);
    expect(await robots.policy(server.url('/'))).toMatchObject({ state: 'rules', robots: { status: 200 } });
    expect(await robots.prefetch([text.origin])).toMatchObject({ states: { rules: 1 } });
    expect(robots.peek(text.url('/private'))).toMatchObject({ allowed: false, reason: 'rule' });
    expect(robots.permits(text.url('/ours'))).toBe(true);
    expect([server.requests.length, text.requests.length]).toEqual([1, 1]);
  });

  it('that are profiles end at `until`, one after the other: the site is asked again, once', async () => {
    const sites = await Promise.all([1, 2].map(() => site({ '/robots.txt': { status: 403 } })));
    const { robots, clock } = client({
      overrides: Object.fromEntries(
        sites.map(({ origin }, at) => [origin, { profile: 'koster-1996', until: START + (at + 1) * HOUR }]),
      ),
    });
    const verdicts = (): Promise<boolean[]> =>
      Promise.all(sites.map((each) => robots.canFetch(each.url('/'))));
    expect(await verdicts()).toEqual([false, false]);
    clock.advance(HOUR - 1);
    expect(await verdicts()).toEqual([false, false]);
    clock.advance(1);
    expect(await verdicts()).toEqual([true, false]);
    clock.advance(HOUR);
    expect(await verdicts()).toEqual([true, true]);
    expect(robots.peek(sites[1]!.url('/'))).toMatchObject({ profile: 'rfc9309', reason: 'unavailable' });
    expect(sites.map(({ requests }) => requests.length)).toEqual([2, 2]);
  });

  it('with a text decide about redirects of robots.txt, while they hold', async () => {
    const target = await site({ '/rules/robots.txt': { body: 'User-agent: *\nDisallow: /x\n' } });
    const moved = await site({ '/robots.txt': movedTo(target.url('/rules/robots.txt')) });
    const { robots, clock } = client({
      profile: 'google',
      overrides: { [target.origin]: { text: 'User-agent: *\nDisallow: /rules\n', until: START + DAY } },
    });
    expect(await robots.check(moved.url('/x'))).toMatchObject({
      allowed: true,
      robots: { unavailable: 'disallowed-redirect' },
    });
    expect(target.requests).toHaveLength(0);
    clock.advance(DAY);
    expect(await robots.check(moved.url('/x'))).toMatchObject({ allowed: false, reason: 'rule' });
  });
});
