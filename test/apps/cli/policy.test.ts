import { describe, expect, it } from 'vitest';
import { attemptFields } from '../../../src/apps/answers/fields.ts';
import { testClient } from '../../support/client.ts';
import { siteForAll } from '../../support/opened.ts';
import { movedTo, startSite } from '../../support/site.ts';
import { cli, masked, records } from './session.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../../src/core/base/index.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Crawl-delay: 2
Request-rate: 1/5

User-agent: Googlebot
User-agent: Bingbot
Disallow: /search

Sitemap: https://example.com/sitemap.xml
`;

const site = await siteForAll({
  '/robots.txt': movedTo('/r.txt', 301),
  '/r.txt': {
    body: ROBOTS,
    headers: { 'content-type': 'text/plain', 'cache-control': 'max-age=60', etag: '"1"' },
  },
});
const busy = await siteForAll({ '/robots.txt': { status: 429, headers: { 'retry-after': '120' } } });
const closed = await siteForAll({ '/robots.txt': { status: 403 } });

describe('policy', () => {
  it('shows what is known of an origin, and why it is so', async () => {
    const { code, stdout, stderr } = await cli(['policy', site.url('/any')]);
    expect([code, stderr]).toEqual([0, '']);
    expect(masked(stdout, site).split('\n')).toEqual([
      'RULES  https://example.com  profile rfc9309',
      '  robots    https://example.com/robots.txt  301 → https://example.com/r.txt  200',
      '  fetched   just now (TIME)',
      '  fresh     until it ends in TIME (TIME)',
      expect.stringMatching(/^ {2}because {3}max-age=60 raised to the floor of 10 min/),
      '  next      in TIME (TIME), before it is stale, at the next question',
      `  file      ${ROBOTS.length} bytes of the 512,000 that are read (0.03 %), text/plain`,
      '  agent     canfetch → group "*" at line 1',
      '  delay     Crawl-delay 2 s (guards with `pacing` keep it)',
      '  rate      Request-rate: 5 s from one request to the next (guards with `pacing` keep it)',
      '  groups    "*" (1 rule) · "Googlebot", "Bingbot" (1 rule)',
      '  sitemaps  https://example.com/sitemap.xml',
      '',
    ]);
  });

  it('shows an outage, its history, and when the next try is due', async () => {
    const { code, stdout } = await cli(['policy', busy.origin]);
    expect(code).toBe(3);
    expect(masked(stdout, busy).split('\n')).toEqual([
      'DISALLOW-ALL  https://example.com  profile rfc9309',
      '  why     robots.txt is unreachable (429), so nothing may be fetched until it is back',
      '  robots  https://example.com/robots.txt  429',
      '  failed  1 time in a row since TIME, at last just now (429)',
      '  next    in TIME (TIME), as Retry-After asks: 2 min',
      '  paused  429 asked for a pause (incident 1) that ends in TIME (TIME)',
      '  agent   canfetch',
      '',
    ]);
  });

  it('names what the site states about use, and the specification', async () => {
    const signalling = await startSite({
      '/robots.txt': { body: 'User-agent: *\nAllow: /\nContent-Signal: search=yes, ai-train=no\n' },
    });
    const { stdout } = await cli(['policy', signalling.origin]);
    await signalling.close();
    expect(stdout).toMatch(
      /^ {2}use +train-ai no, search yes \(line 3, read by Cloudflare Content Signals Policy, 30 June 2026; reported, not enforced\)$/m,
    );
  });

  it('is about the agent and the profile that were asked for', async () => {
    const { stdout } = await cli(['policy', '-a', 'Bingbot/2.0', site.origin]);
    expect(stdout).toContain('agent     Bingbot → group "Bingbot" at line 7');
    const restricted = await cli(['policy', '--profile', 'koster-1996', closed.origin]);
    expect(restricted.code).toBe(0);
    expect(restricted.stdout).toContain('DISALLOW-ALL');
  });

  it('is one JSON object with all of it but the bytes', async () => {
    const { stdout } = await cli(['policy', '--json', site.origin]);
    const [policy = {}, ...others] = records(stdout);
    expect(others).toEqual([]);
    expect(policy).toMatchObject({
      schemaVersion: 1,
      origin: site.origin,
      state: 'rules',
      dialect: 'rfc9309',
      attempt: { kind: 'success', hops: [{ status: 301, location: '/r.txt' }, { status: 200 }] },
      lifetime: { why: { source: 'max-age', seconds: 60, clampedBy: 'min' } },
      nextAttempt: { why: 'refresh-ahead' },
      groups: [{ rules: [{ pattern: '/private', line: 2 }] }, { agentLines: [{ names: ['Googlebot'] }, {}] }],
      crawlDelayMs: 2_000,
      requestRateMs: 5_000,
      file: { sizeBytes: ROBOTS.length, limitBytes: DEFAULT_MAX_BODY_BYTES, truncated: false },
    });
    expect(policy).not.toHaveProperty('rules');
    expect(policy['file']).not.toHaveProperty('body');
  });

  it.each([
    ['no operand', [], 'Expected an origin, got nothing'],
    ['two operands', ['https://a.example', 'https://b.example'], 'got "https://b.example" too'],
    ['a host alone', ['example.com'], 'got "example.com"; did you mean "https://example.com"?'],
    ['another scheme', ['mailto:a@b.c'], 'Expected an absolute http, https or ftp URL, got "mailto:a@b.c"'],
  ])('refuses %s', async (_, argv, message) => {
    const { code, stderr } = await cli(['policy', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('why an answer holds for as long as it does', () => {
  const now = Date.now();
  const http = (ms: number): string => new Date(ms).toUTCString();

  it.each<[string, Record<string, string>, RegExp]>([
    ['nothing said', {}, /the response does not set it, so the profile's 24 h/],
    ['no-store', { 'cache-control': 'no-store' }, /no-store raised to the floor of 10 min/],
    ['Age', { 'cache-control': 's-maxage=7200', age: '600' }, /s-maxage=7200 less Age 600(?:,|$)/],
    [
      'nonsense',
      { 'cache-control': 'max-age=soon' },
      /max-age is not a whole number, which counts as 0 raised/,
    ],
    ['too long', { 'cache-control': 'max-age=999999' }, /max-age=999999 cut to the ceiling of 24 h/],
    ['Expires', { date: http(now), expires: http(now + 7_200_000) }, /Expires 2 h after Date(?:,|$)/],
    ['Expires in the past', { date: http(now), expires: http(now - 1_000) }, /Expires not after Date raised/],
    ['Expires: 0', { expires: '0' }, /Expires is not a date, which counts as past raised/],
  ])('%s', async (_, headers, reason) => {
    await using server = await startSite({ '/robots.txt': { body: ROBOTS, headers } });
    const { stdout } = await cli(['policy', server.origin]);
    expect(/because +(.*)/.exec(stdout)?.[1]).toMatch(reason);
  });
});

it('tells what the page requests of this process wait for, and until when', async () => {
  const { client, clock } = testClient();
  await using _ = client;
  const policy = await client.policy(site.url('/page'));
  const now = clock.now();
  const pacing = {
    scope: 'example.com',
    waiting: 180,
    inFlight: [],
    nextAt: now + 10_000,
    drainsAt: now + 1_800_000,
    gapMs: 10_000,
    delayFrom: 'crawl-delay',
  } as const;
  expect(new Map(attemptFields({ ...policy, pacing }, now)).get('queue')).toMatch(
    /^example\.com: 180 waiting, 0 in flight; the next may start in 10 s \([^)]+\) \(Crawl-delay\), the last about in 30 min \(/,
  );
});
