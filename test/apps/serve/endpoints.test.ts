import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/core/base/values.ts';
import { openedForAll, openedSite, siteForAll } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import { cli } from '../cli/session.ts';
import { ask, startService } from './service.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Allow: /private/press
Content-Signal: ai-train=no
Dissalow: /x

User-agent: OtherBot
Disallow: /

Sitemap: https://example.com/sitemap.xml
`;

const site = await siteForAll({
  '/robots.txt': { body: ROBOTS, headers: { 'cache-control': 'max-age=3600' } },
});
const down = await siteForAll((_, response) => answer(response, { status: 503 }));
const service = openedForAll(await startService(['--allow-private', '-a', 'ExampleBot/1.0']));

const get = async (path: string, headers: Record<string, string> = {}): Promise<Record<string, any>> => {
  const { status, text } = await ask(service.origin, path, { headers });
  return { status, ...JSON.parse(text) };
};
const at = (path: string): string => encodeURIComponent(site.url(path));

describe('GET /v1/check', () => {
  it('answers with the decision', async () => {
    expect(await get(`/v1/check?url=${at('/private/a?b#c')}`)).toMatchObject({
      status: 200,
      schemaVersion: 1,
      input: site.url('/private/a?b#c'),
      agent: 'ExampleBot',
      allowed: false,
      reason: 'rule',
      rule: { directive: 'disallow', pattern: '/private', line: 2 },
    });
  });

  it('asks for the agents given, of which the first that is named counts', async () => {
    const path = `/v1/check?url=${at('/a')}`;
    expect(await get(path)).toMatchObject({ allowed: true });
    expect(await get(`${path}&agent=Nobody&agent=OtherBot/2.0`)).toMatchObject({
      allowed: false,
      agent: 'OtherBot',
    });
  });

  it.each([
    ['no URL', '/v1/check', 'ERR_ROBOTS_INVALID_REQUEST'],
    ['two URLs', '/v1/check?url=http://a.example/&url=http://b.example/', 'ERR_ROBOTS_INVALID_REQUEST'],
    ['what is no URL', '/v1/check?url=foo', 'ERR_ROBOTS_INVALID_URL'],
    ['an agent without token', '/v1/check?url=http://a.example/&agent=%2B', 'ERR_ROBOTS_INVALID_OPTIONS'],
    ['a misspelt parameter', '/v1/check?url=http://a.example/&agnet=A', 'ERR_ROBOTS_INVALID_REQUEST'],
    [
      'too many agents',
      `/v1/check?url=http://a.example/${'&agent=A'.repeat(101)}`,
      'ERR_ROBOTS_INVALID_REQUEST',
    ],
  ])('answers %s with a problem (RFC 9457)', async (_, path, code) => {
    const { status, headers, text } = await ask(service.origin, path);
    expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
    const problem = JSON.parse(text);
    expect(problem).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      code,
      detail: expect.any(String),
    });
  });
});

describe('an unknown parameter is refused by', () => {
  it.each([
    ['GET', '/v1/check', 'the parameters url, agent, purpose only'],
    ['GET', '/v1/policy', 'the parameters origin, agent only'],
    ['GET', '/v1/explain', 'the parameters url, agent, purpose only'],
    ['POST', '/v1/check', 'the parameters agent, purpose only'],
    ['POST', '/v1/reserve', 'no parameters'],
    ['GET', '/healthz', 'no parameters'],
    ['GET', '/metrics', 'no parameters'],
  ])('%s %s', async (method, path, known) => {
    const { status, text } = await ask(service.origin, `${path}?agnet=A`, {
      method,
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { code: 'ERR_ROBOTS_INVALID_REQUEST', detail: `Expected ${known}, got "agnet"` },
    ]);
  });
});

describe('GET /v1/policy', () => {
  it('is about the agent given, or the one of the service', async () => {
    const path = `/v1/policy?origin=${at('')}`;
    expect(await get(path)).toMatchObject({ agent: 'ExampleBot', usage: { 'train-ai': 'disallow' } });
    const other = await get(`${path}&agent=OtherBot/2.0`);
    expect(other['agent']).toBe('OtherBot');
    expect(other).not.toHaveProperty('usage');
  });

  it('has everything known about the origin, with preferences', async () => {
    expect(await get(`/v1/policy?origin=${at('')}&agent=ExampleBot`)).toMatchObject({
      status: 200,
      origin: site.origin,
      state: 'rules',
      groups: [{ agentLines: [{ names: ['*'] }] }, { agentLines: [{ names: ['OtherBot'] }] }],
      sitemaps: [{ url: 'https://example.com/sitemap.xml', line: 10 }],
      usage: { 'train-ai': 'disallow' },
    });
  });

  it('has the failure and the next attempt of an outage', async () => {
    expect(await get(`/v1/policy?origin=${encodeURIComponent(down.origin)}`)).toMatchObject({
      state: 'disallow-all',
      reason: 'unreachable',
      failure: { status: 503, attempts: 1 },
      retryAt: expect.any(Number),
    });
  });
});

describe('answers about a hostile file', () => {
  const NAMES = Array.from({ length: 10_000 }, (_, index) => `a${index}`);
  const HOSTILE = `User-agent: ${NAMES.join(',')}\nDisallow: /${'*'.repeat(100_000)}\n${'Content-Signal: search=no\n'.repeat(2_000)}`;

  it('the policy grows with the file, not with its square', async () => {
    const hostile = await openedSite({ '/robots.txt': { body: HOSTILE } });
    const { status, text } = await ask(
      service.origin,
      `/v1/policy?origin=${encodeURIComponent(hostile.origin)}&agent=a1`,
    );
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(HOSTILE.length);
    expect(text.length).toBeLessThan(HOSTILE.length * 5);
  });

  it('a decision is bounded', async () => {
    const hostile = await openedSite({ '/robots.txt': { body: HOSTILE } });
    const url = encodeURIComponent(hostile.url('/x'));
    const { text } = await ask(service.origin, `/v1/check?url=${url}&agent=a1`);
    expect(JSON.parse(text)).toMatchObject({ allowed: false, rule: { line: 2 } });
    expect(text.length).toBeLessThan(4_000);
  });
});

describe('GET /v1/explain', () => {
  it('gives the line that decides, the runner-up, and the policy', async () => {
    expect(await get(`/v1/explain?url=${at('/private/press/1')}&agent=ExampleBot`)).toMatchObject({
      status: 200,
      allowed: true,
      rule: { line: 3 },
      runnerUp: { rule: { line: 2 }, lost: 'shorter' },
      policy: { origin: site.origin, state: 'rules' },
    });
  });
});

describe('the rest', () => {
  it('GET /healthz', async () => {
    expect(await get('/healthz')).toEqual({ status: 'ok', version: VERSION });
  });

  it('GET /metrics counts requests, decisions and fetches', async () => {
    const decided = (text: string): number =>
      Number(
        /^canfetch_decisions_total\{allowed="false",reason="rule",state="rules"\} (\d+)$/m.exec(text)?.[1] ??
          0,
      );
    const before = decided((await ask(service.origin, '/metrics')).text);
    await get(`/v1/check?url=${at('/private/a')}`);
    const { text, headers } = await ask(service.origin, '/metrics');
    expect(headers['content-type']).toContain('text/plain');
    expect(decided(text)).toBe(before + 1);
    expect(text).toMatch(/^canfetch_fetches_total\{outcome="success"\} \d+$/m);
    expect(text).toMatch(/^canfetch_origins \d+$/m);
    expect(text).toMatch(
      /^canfetch_http_requests_total\{route="\/v1\/check",method="GET",status="200"\} \d+$/m,
    );
  });

  it('GET /metrics without prom-client says what to install', async () => {
    await using bare = await startService(['--allow-private'], () => Promise.resolve(undefined));
    const { status, text } = await ask(bare.origin, '/metrics');
    expect([status, JSON.parse(text)]).toMatchObject([
      501,
      {
        code: 'ERR_ROBOTS_NO_METRICS',
        detail: expect.stringContaining('npm install prom-client'),
      },
    ]);
  });

  it('HEAD answers with the head of GET alone', async () => {
    const { status, headers, text } = await ask(service.origin, '/healthz', {
      method: 'HEAD',
    });
    expect([status, headers['content-type'], text]).toEqual([200, 'application/json', '']);
    expect(Number(headers['content-length'])).toBeGreaterThan(10);
  });

  it.each([
    ['DELETE', '/v1/check', 405, 'GET, HEAD, POST'],
    ['POST', '/healthz', 405, 'GET, HEAD'],
    ['POST', '/v1/diff', 404, undefined],
    ['OPTIONS', '/v1/explain', 405, 'GET, HEAD'],
    ['GET', '/v1/nothing', 404, undefined],
    ['GET', '//v1/check', 404, undefined],
  ])('%s %s → %i', async (method, path, status, allow) => {
    const reply = await ask(service.origin, path, { method });
    expect([reply.status, reply.headers['allow']]).toEqual([status, allow]);
  });

  it('leaves SIGHUP to the process where there is no evidence', () => {
    expect(service.hangUp()).toBe(false);
  });

  it('reports a port in use as wrong usage', async () => {
    expect(await cli(['serve', '--port', String(service.port)])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the port is in use'),
    });
  });
});
