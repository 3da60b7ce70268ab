import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { folderForAll, openedForAll } from '../../support/opened.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { records } from '../cli/session.ts';
import { ask, startService } from './service.ts';

const folder = folderForAll();
const evidence = join(folder, 'evidence.ndjson');
const service = openedForAll(
  await startService(['--allow-private', '--log', '-a', 'ExampleBot/1.0', '--evidence', evidence]),
);

async function post(
  path: string,
  question: object,
): Promise<{ readonly status: number; readonly body: any }> {
  const { status, text } = await ask(service.origin, path, {
    method: 'POST',
    body: JSON.stringify(question),
  });
  return { status, body: JSON.parse(text) };
}

const siteWith = (robots: string): Promise<Site> => startSite({ '/robots.txt': { body: robots } });

describe('POST /v1/reserve and /v1/done', () => {
  it('books one request at a time at the pace of the site, and defers others until it has ended', async () => {
    await using site = await siteWith('User-agent: *\nCrawl-delay: 10\n');
    const first = await post('/v1/reserve', { url: site.url('/a') });
    expect(first.body).toMatchObject({
      schemaVersion: 1,
      input: site.url('/a'),
      status: 'booked',
      id: expect.any(String),
      delayMs: 10_000,
      delayFrom: expect.any(String),
      decision: { allowed: true, agent: 'ExampleBot' },
    });
    const second = await post('/v1/reserve', { url: site.url('/b') });
    expect(second.body).toMatchObject({ status: 'deferred' });
    expect(second.body.retryAt).toBeGreaterThan(Date.now());
    expect(second.body).not.toHaveProperty('id');
  });

  it('books several with `ahead`, a gap apart, and gives back the time of one that is not sent', async () => {
    await using site = await siteWith('User-agent: *\nCrawl-delay: 10\n');
    const book = async (): Promise<any> =>
      (await post('/v1/reserve', { url: site.url('/a'), ahead: 3 })).body;
    const [one, two, three] = [await book(), await book(), await book()];
    expect(Math.round((two.at - one.at) / 1_000)).toBe(10);
    expect(Math.round((three.at - two.at) / 1_000)).toBe(10);
    await post('/v1/done', { id: three.id, sent: false });
    expect((await book()).at).toBe(three.at);
  });

  it('refuses what robots.txt disallows, and says until when where that may change', async () => {
    await using site = await siteWith('User-agent: *\nDisallow: /private\n');
    const refused = await post('/v1/reserve', { url: site.url('/private') });
    expect(refused).toMatchObject({
      status: 200,
      body: { status: 'refused', decision: { reason: 'rule', rule: { line: 2 } } },
    });
    expect(refused.body).not.toHaveProperty('retryAt');
    await using down = await startSite({ '/robots.txt': { status: 503 } });
    const unknown = await post('/v1/reserve', { url: down.url('/'), agent: ['A', 'B'] });
    expect(unknown.body).toMatchObject({ status: 'refused', decision: { reason: 'unreachable' } });
    expect(unknown.body.retryAt).toBeGreaterThan(Date.now());
  });

  it('pauses the site for all, once a request ended with a 429 and Retry-After', async () => {
    await using site = await siteWith('User-agent: *\nCrawl-delay: 0\n');
    const { body } = await post('/v1/reserve', { url: site.url('/a') });
    expect(await post('/v1/done', { id: body.id, status: 429, retryAfter: '600' })).toMatchObject({
      status: 200,
      body: { id: body.id },
    });
    const other = (await post('/v1/reserve', { url: site.url('/b'), agent: 'OtherBot', maxDelayMs: 1_000 }))
      .body;
    expect(other).toMatchObject({ status: 'deferred', delayFrom: 'retry-after' });
    expect(Math.round((other.retryAt - Date.now()) / 60_000)).toBe(10);
    const patient = (await post('/v1/reserve', { url: site.url('/b') })).body;
    expect(Math.round(patient.waitMs / 60_000)).toBe(10);
  });

  it('writes evidence of the requests, counts them, and has decisions in the log', async () => {
    await using site = await siteWith('User-agent: *\nCrawl-delay: 0\n');
    const ends = [{ status: 204 }, { error: 'ECONNRESET' }, { error: 'it broke' }];
    for (const [index, end] of ends.entries()) {
      const { body } = await post('/v1/reserve', { url: site.url(`/${index}`), ahead: 5 });
      await post('/v1/done', { id: body.id, ...end });
    }
    const entries = (): Promise<readonly any[]> =>
      readFile(evidence, 'utf8').then((text) =>
        records(text).filter(({ type, url }) => type === 'request' && String(url).startsWith(site.origin)),
      );
    await expect.poll(entries).toMatchObject([
      { url: site.url('/0'), status: 204 },
      { url: site.url('/1'), error: 'ECONNRESET' },
      { url: site.url('/2'), error: 'ERR_ROBOTS_FETCH_FAILED' },
    ]);
    const { text } = await ask(service.origin, '/metrics');
    expect(text).toMatch(/^canfetch_requests_total\{status="204"\} 1$/m);
    expect(text).toMatch(/^canfetch_evidence_lost_entries 0$/m);
    const logged = records(
      service.stderr.text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .join('\n'),
    );
    expect(logged).toContainEqual(
      expect.objectContaining({ path: '/v1/reserve', agent: 'OtherBot', allowed: true, reason: 'no-rule' }),
    );
    expect(logged).toContainEqual(
      expect.objectContaining({ path: '/v1/reserve', agent: 'ExampleBot', allowed: false, reason: 'rule' }),
    );
  });

  it.each<[string, string, object, number, string, RegExp]>([
    ['no URL', '/v1/reserve', { url: 'foo' }, 400, 'ERR_ROBOTS_INVALID_URL', /absolute/],
    [
      'no name',
      '/v1/reserve',
      { url: 'http://a.example/', agent: '!!' },
      400,
      'ERR_ROBOTS_INVALID_OPTIONS',
      /token/,
    ],
    ['a misspelt field', '/v1/reserve', { uri: 'x' }, 400, 'ERR_ROBOTS_INVALID_REQUEST', /"uri"/],
    ['an unknown id', '/v1/done', { id: 'x' }, 404, 'ERR_ROBOTS_UNKNOWN_BOOKING', /not ended/],
    ['a wrong status', '/v1/done', { id: 'x', status: 'ok' }, 400, 'ERR_ROBOTS_INVALID_REQUEST', /status: /],
  ])('says what is wrong: %s', async (_, path, question, status, code, detail) => {
    const reply = await post(path, question);
    expect(reply).toMatchObject({ status, body: { code, detail: expect.stringMatching(detail) } });
  });

  it('ends a booking once', async () => {
    await using site = await siteWith('');
    const { body } = await post('/v1/reserve', { url: site.url('/a') });
    expect((await post('/v1/done', { id: body.id })).status).toBe(200);
    expect((await post('/v1/done', { id: body.id })).status).toBe(404);
  });
});

it('the Python program of the guide keeps the gap of each of three sites, and a pause after a 429', async () => {
  const guide = await readFile(new URL('../../../src/apps/serve/README.md', import.meta.url), 'utf8');
  const program = [...guide.matchAll(/^```python\n([^]*?)^```$/gm)].map(([, text = '']) => text).at(-1) ?? '';
  expect(program).toContain('/v1/reserve');
  const file = join(folder, 'crawl.py');
  await writeFile(file, program);
  const DELAYS = [0.6, 0.8, 1];
  const hits = DELAYS.map((): { readonly path: string; readonly at: number }[] => []);
  let refusedAt = 0;
  const sites = await Promise.all(
    DELAYS.map((delay, index) =>
      startSite((request, response) => {
        const path = request.url ?? '';
        if (path === '/robots.txt') {
          answer(response, { body: `User-agent: *\nCrawl-delay: ${delay}\nDisallow: /private\n` });
          return;
        }
        hits[index]?.push({ path, at: performance.now() });
        if (index === 0 && refusedAt === 0) {
          refusedAt = performance.now();
          answer(response, { status: 429, headers: { 'retry-after': '1' } });
        } else if (path === '/moved') answer(response, { status: 302, headers: { location: '/private' } });
        else answer(response, { body: 'page' });
      }),
    ),
  );
  const urls = sites.flatMap((site) => ['/1', '/2', '/private', '/moved'].map((path) => site.url(path)));
  const { stdout } = await promisify(execFile)('python3', [file, ...urls], {
    env: { ...process.env, CANFETCH: service.origin },
  });
  await Promise.all(sites.map((site) => site.close()));
  const results = new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ (.*)/) as [string, string]),
  );
  for (const site of sites) {
    expect(results.get(site.url('/1'))).toBe('4 bytes');
    expect(results.get(site.url('/2'))).toBe('4 bytes');
    expect(results.get(site.url('/private'))).toBe('refused: rule');
    expect(results.get(site.url('/moved'))).toBe('refused: rule');
  }
  for (const [index, delay] of DELAYS.entries()) {
    const starts = hits[index] ?? [];
    expect(starts.filter(({ path }) => path === '/private')).toEqual([]);
    expect(starts).toHaveLength(index === 0 ? 4 : 3);
    for (const [at, start] of starts.entries()) {
      const gapMs = at === 0 ? Infinity : start.at - (starts[at - 1]?.at ?? 0);
      // Half the gap: the program may start a request late, and its next one then comes sooner after it.
      expect(gapMs).toBeGreaterThan(delay * 500);
    }
  }
  expect((hits[0]?.[1]?.at ?? 0) - refusedAt).toBeGreaterThan(990);
}, 60_000);
