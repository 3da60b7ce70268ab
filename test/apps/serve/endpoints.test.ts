import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi } from '../../../src/apps/serve/openapi.ts';
import { assets } from '../../../src/apps/serve/page/assets.ts';
import { routes } from '../../../src/apps/serve/server.ts';
import { VERSION } from '../../../src/core/base/defaults.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { cli } from '../cli/session.ts';
import { ask, startService, type TestService } from './service.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Allow: /private/press
Content-Signal: ai-train=no
Dissalow: /x

User-agent: OtherBot
Disallow: /

Sitemap: https://example.com/sitemap.xml
`;

let service: TestService;
let site: Site;
let down: Site;

beforeAll(async () => {
  site = await startSite({
    '/robots.txt': {
      body: ROBOTS,
      headers: { 'cache-control': 'max-age=3600' },
    },
  });
  down = await startSite((_, response) => answer(response, { status: 503 }));
  service = await startService(['--allow-private', '-a', 'ExampleBot/1.0']);
});

afterAll(async () => {
  await service.terminate();
  await site.close();
  await down.close();
});

const get = async (path: string, headers: Record<string, string> = {}): Promise<Record<string, any>> => {
  const { status, text } = await ask(service.origin, path, { headers });
  return { status, ...JSON.parse(text) };
};
const post = (path: string, body: string, headers: Record<string, string> = {}): ReturnType<typeof ask> =>
  ask(service.origin, path, { method: 'POST', body, headers });
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

  it('answers 200 when robots.txt is unreachable: that is a decision', async () => {
    const url = encodeURIComponent(down.url('/a'));
    expect(await get(`/v1/check?url=${url}`)).toMatchObject({
      status: 200,
      allowed: false,
      reason: 'unreachable',
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
    ['GET', '/v1/explain', 'the parameters url, agent, compare, purpose only'],
    ['POST', '/v1/check', 'the parameters agent, purpose only'],
    ['POST', '/v1/explain', 'no parameters'],
    ['GET', '/healthz', 'no parameters'],
    ['GET', '/metrics', 'no parameters'],
    ['GET', '/openapi.json', 'no parameters'],
  ])('%s %s', async (method, path, known) => {
    const { status, text } = await ask(service.origin, `${path}?agnet=A`, {
      method,
      ...(method === 'POST' ? { body: '{"robots":"","urls":["/"]}' } : {}),
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

  it('has everything known about the origin, with diagnostics, preferences and the timeline', async () => {
    const policy = await get(`/v1/policy?origin=${at('')}&agent=ExampleBot`);
    expect(policy).toMatchObject({
      status: 200,
      origin: site.origin,
      state: 'rules',
      groups: [{ agentLines: [{ names: ['*'] }] }, { agentLines: [{ names: ['OtherBot'] }] }],
      sitemaps: [{ url: 'https://example.com/sitemap.xml', line: 10 }],
      usage: { 'train-ai': 'disallow' },
    });
    expect(policy['diagnostics']).toContainEqual(
      expect.objectContaining({
        code: 'forgiven-key',
        line: 5,
        message: expect.stringContaining('Dissalow'),
      }),
    );
    expect(policy['timeline'].map(({ event }: { event: string }) => event)).toEqual([
      'answered',
      'refresh-ahead',
      'stale',
    ]);
  });

  it('has the start of an outage, the next attempt and the phases that follow', async () => {
    const policy = await get(`/v1/policy?origin=${encodeURIComponent(down.origin)}`);
    expect(policy).toMatchObject({
      state: 'disallow-all',
      reason: 'unreachable',
      diagnostics: [],
    });
    expect(policy['timeline']).toEqual([
      {
        at: policy['failure'].since,
        event: 'first-failure',
        detail: 'status 503',
      },
      { at: policy['retryAt'], event: 'retry' },
      {
        at: policy['failure'].since + 30 * 86_400_000,
        event: 'phase',
        detail: 'allow-all',
      },
    ]);
  });
});

describe('answers about a hostile file', () => {
  const NAMES = Array.from({ length: 10_000 }, (_, index) => `a${index}`);
  const HOSTILE = `User-agent: ${NAMES.join(',')}\nDisallow: /${'*'.repeat(100_000)}\n${'Content-Signal: search=no\n'.repeat(2_000)}`;
  let hostile: Site;

  beforeAll(async () => {
    hostile = await startSite({ '/robots.txt': { body: HOSTILE } });
  });

  afterAll(() => hostile.close());

  it('the policy grows with the file, not with its square', async () => {
    const { status, text } = await ask(
      service.origin,
      `/v1/policy?origin=${encodeURIComponent(hostile.origin)}&agent=a1`,
    );
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(HOSTILE.length);
    expect(text.length).toBeLessThan(HOSTILE.length * 5);
  });

  it('a decision is bounded', async () => {
    const url = encodeURIComponent(hostile.url('/x'));
    const { text } = await ask(service.origin, `/v1/check?url=${url}&agent=a1`);
    expect(JSON.parse(text)).toMatchObject({ allowed: false, rule: { line: 2 } });
    expect(text.length).toBeLessThan(4_000);
  });

  it('a thousand pasted verdicts are bounded together', async () => {
    const usages = Array.from({ length: 100 }, () => `Content-Usage: ${'search=n, '.repeat(100)}train-ai=n`);
    const { status, text } = await post(
      '/v1/explain',
      JSON.stringify({
        robots: ['User-agent: *', 'Allow: /', ...usages].join('\n'),
        urls: Array.from({ length: 1_000 }, (_, index) => `/${index}`),
        agents: ['ExampleBot'],
      }),
    );
    expect(status).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ code: 'ERR_ROBOTS_TOO_LARGE' });
  });
});

describe('GET /v1/explain', () => {
  it('gives the file with the line that decides, the runner-up, the group, and what others get', async () => {
    const explanation = await get(
      `/v1/explain?url=${at('/private/press/1')}&agent=ExampleBot&compare=OtherBot&compare=*`,
    );
    expect(explanation).toMatchObject({
      status: 200,
      allowed: true,
      rule: { line: 3 },
      runnerUp: { rule: { line: 2 }, lost: 'shorter' },
      // Those of every agent that is compared, once each.
      groupRanges: [
        { agent: '*', ranges: [[1, 5]] },
        { agent: 'OtherBot', ranges: [[7, 8]] },
      ],
      usage: { 'train-ai': 'disallow', sources: [{ line: 4 }] },
    });
    expect(explanation['lines']).toEqual(ROBOTS.trimEnd().split('\n'));
    expect(
      explanation['verdicts'].map((verdict: Record<string, any>) => [
        verdict['agent'],
        verdict['allowed'],
        verdict['rule']?.line,
      ]),
    ).toEqual([
      ['ExampleBot', true, 3],
      ['OtherBot', false, 8],
      ['*', true, 3],
    ]);
  });
});

describe('the reason for the lifetime in GET /v1/explain', () => {
  it('is that of the answer', async () => {
    const explained = await get(`/v1/explain?url=${at('/a')}`);
    expect(explained['lifetimeReason']).toMatch(/^max-age=3600/);
  });

  it('is absent without an answer', async () => {
    const explained = await get(`/v1/explain?url=${encodeURIComponent(down.url('/a'))}`);
    expect(explained).toMatchObject({ reason: 'unreachable', cause: expect.any(String) });
    expect(explained).not.toHaveProperty('lifetimeReason');
  });
});

describe('POST /v1/explain', () => {
  it('holds URLs and paths against a file, for several agents, without a request', async () => {
    const before = site.requests.length;
    const body = JSON.stringify({
      robots: ROBOTS,
      urls: ['/private/x', site.url('/a'), 'foo'],
      agents: ['A/1.0', 'OtherBot'],
    });
    const { status, text } = await post('/v1/explain', body);
    const { results, lines, diagnostics } = JSON.parse(text);
    expect([status, lines.length, diagnostics.length > 0]).toEqual([200, 10, true]);
    expect(results).toMatchObject([
      {
        input: '/private/x',
        verdicts: [
          { agent: 'A', allowed: false, rule: { line: 2 } },
          { allowed: false, rule: { line: 8 } },
        ],
      },
      {
        input: site.url('/a'),
        verdicts: [
          { allowed: true, reason: 'no-rule' },
          { agent: 'OtherBot', allowed: false },
        ],
      },
      { input: 'foo', error: { code: 'ERR_ROBOTS_INVALID_URL' } },
    ]);
    expect(site.requests.length).toBe(before);
  });

  it.each([
    ['no JSON', '{', 400, 'ERR_ROBOTS_INVALID_REQUEST'],
    ['no URLs', '{"robots":"","urls":[]}', 400, 'ERR_ROBOTS_INVALID_REQUEST'],
    ['an unknown field', '{"robots":"","urls":["/"],"agnets":[]}', 400, 'ERR_ROBOTS_INVALID_REQUEST'],
    [
      'an agent without token',
      '{"robots":"","urls":["/"],"agents":["+"]}',
      400,
      'ERR_ROBOTS_INVALID_OPTIONS',
    ],
    [
      'too many verdicts',
      JSON.stringify({
        robots: '',
        urls: Array(501).fill('/'),
        agents: ['A', 'B'],
      }),
      400,
      'ERR_ROBOTS_INVALID_REQUEST',
    ],
    ['a long body', `"${'x'.repeat(1_100_000)}"`, 413, 'ERR_ROBOTS_TOO_LARGE'],
  ])('refuses %s', async (_, body, status, code) => {
    const reply = await post('/v1/explain', body);
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([status, code]);
  });

  it('refuses a body that grows too long without having said so', async () => {
    const reply = await post('/v1/explain', 'x'.repeat(1_100_000), {
      'transfer-encoding': 'chunked',
    });
    expect(reply.status).toBe(413);
  });

  it('reads 500 KiB of a file and says when there was more', async () => {
    const robots = `User-agent: *\n${'#'.repeat(600_000)}\nDisallow: /\n`;
    const { text } = await post('/v1/explain', JSON.stringify({ robots, urls: ['/'] }));
    expect(JSON.parse(text)).toMatchObject({
      truncated: true,
      results: [{ verdicts: [{ allowed: true }] }],
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

  it('/openapi.json describes every route, and every schema it speaks of is there', async () => {
    expect(await get('/openapi.json')).toMatchObject({ openapi: '3.1.0' });
    const described = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = [...routes].flatMap(([path, methods]) =>
      [...assets.keys(), '/', '/try'].includes(path)
        ? []
        : Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(described.sort()).toEqual(served.sort());
    for (const [, name] of JSON.stringify(openApi).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(Object.keys(openApi.components.schemas)).toContain(name);
    }
  });

  it('every answer has the fields that its schema requires', async () => {
    const schema = (name: string): string[] =>
      (openApi.components.schemas[name] as { required: string[] }).required;
    const pasted = JSON.parse((await post('/v1/explain', '{"robots":"","urls":["/"]}')).text);
    expect(Object.keys(await get(`/v1/check?url=${at('/a')}`))).toEqual(
      expect.arrayContaining(schema('Decision')),
    );
    expect(Object.keys(await get(`/v1/policy?origin=${at('/a')}`))).toEqual(
      expect.arrayContaining(schema('Policy')),
    );
    expect(Object.keys(pasted)).toEqual(expect.arrayContaining(schema('PastedVerdicts')));
    expect(Object.keys(await get('/nothing'))).toEqual(expect.arrayContaining(schema('Problem')));
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
    ['OPTIONS', '/v1/explain', 405, 'GET, HEAD, POST'],
    ['GET', '/v1/nothing', 404, undefined],
    ['GET', '//v1/check', 404, undefined],
  ])('%s %s → %i', async (method, path, status, allow) => {
    const reply = await ask(service.origin, path, { method });
    expect([reply.status, reply.headers['allow']]).toEqual([status, allow]);
  });

  it('leaves SIGHUP to the process where there is no evidence', () => {
    expect(service.hangUp()).toBe(false);
  });

  it('reports wrong usage', async () => {
    expect(await cli(['serve', '--port', '70000'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('from 0 to 65535'),
    });
    expect(await cli(['serve', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no operand'),
    });
    expect(await cli(['serve', '--port', String(service.port)])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the port is in use'),
    });
  });
});
