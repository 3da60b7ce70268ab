import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import * as decisionSchemas from '../../../src/apps/answers/schema/decision.ts';
import { explanation } from '../../../src/apps/answers/schema/explanation.ts';
import { policy } from '../../../src/apps/answers/schema/policy.ts';
import { evidenceFile } from '../../../src/extras/evidence/index.ts';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import * as ofLines from './line-schemas.ts';
import { cli, records } from '../cli/session.ts';
import { ask, startService, type TestService } from '../serve/service.ts';
import { type Site, startSite } from '../../support/site.ts';

const schema = { ...decisionSchemas, explanation, policy };

const ROBOTS = [
  'User-agent: *',
  'Disallow: /private',
  'Allow: /p',
  'Crawl-delay: 0.01',
  'Content-Usage: train-ai=n',
  'Host: example.com',
  'Dissalow: /x',
  'Sitemap: https://example.com/map.xml',
  'User-agent: OtherBot',
  'Disallow: /',
].join('\n');

let site: Site;
let down: Site;

beforeAll(async () => {
  site = await startSite({
    '/robots.txt': { body: ROBOTS },
    '/page': {
      headers: { 'x-robots-tag': 'noai, max-snippet: 9', 'content-usage': 'search=n' },
      body: 'page',
    },
    '/elsewhere': { status: 302, headers: { location: '/private' } },
  });
  down = await startSite({ '/robots.txt': { status: 503 } });
});
afterAll(() => Promise.all([site.close(), down.close()]));

/** Objects of a schema drop what they do not know, at every depth that is described: so what differs there is not described. */
function expectFit(described: z.ZodType, answer: unknown): void {
  const { data, error } = described.safeParse(answer);
  expect(error?.issues ?? data).toEqual(answer);
}

/** Runs the command, whose lines must all fit. */
async function expectLines(described: z.ZodType, argv: readonly string[], stdin = ''): Promise<void> {
  const { stdout, stderr } = await cli(argv, { stdin });
  const lines = records(stdout);
  expect([lines.length > 0, stderr]).toEqual([true, expect.any(String)]);
  for (const line of lines) expectFit(described, line);
}

describe('every field of an answer of the service stands in its schema', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService(['--allow-private', '--log']);
  });
  afterAll(() => service.terminate());

  const answered = async (path: string, body?: string): Promise<string> => {
    const init = body === undefined ? {} : { method: 'POST', body };
    return (await ask(service.origin, path, init)).text;
  };

  it.each<[string, z.ZodType, () => string]>([
    ['a decision', schema.decision, () => `/v1/check?url=${site.url('/private')}&purpose=train-ai`],
    ['a decision without a file', schema.decision, () => `/v1/check?url=${down.url('/')}`],
    ['a policy', schema.policy, () => `/v1/policy?origin=${site.origin}`],
    ['a policy without a file', schema.policy, () => `/v1/policy?origin=${down.origin}`],
    ['an explanation', schema.explanation, () => `/v1/explain?url=${site.url('/private')}&purpose=search`],
    ['an explanation without a file', schema.explanation, () => `/v1/explain?url=${down.url('/')}`],
  ])('%s', async (_, described, path) => {
    expectFit(described, JSON.parse(await answered(path())));
  });

  it('a stream of decisions and errors', async () => {
    const [decided, failed] = records(await answered('/v1/check', `${site.url('/private')}\nfoo\n`));
    expectFit(schema.decision, decided);
    expectFit(schema.lineError, failed);
  });

  it('a line of its log', async () => {
    await answered(`/v1/policy?origin=${site.origin}`);
    await answered(`/v1/check?url=${site.url('/private')}`);
    const lines = records(service.stderr.text);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expectFit(ofLines.accessLine, line);
  });
});

describe('every field that the command prints in JSON stands in its schema', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'canfetch-schema-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('check', async () => {
    await expectLines(schema.decision, ['check', '--json', '--purpose', 'search', site.url('/private')]);
    await expectLines(schema.decision, ['check', '--json', down.url('/')]);
    await expectLines(ofLines.fileDecision, ['check', '--json', '--robots', '-', '/private', '/p'], ROBOTS);
    await expectLines(schema.lineError, ['check', '--json', '-'], 'foo\n');
  });

  it('explain', async () => {
    await expectLines(ofLines.explainedUrl, ['explain', '--json', site.url('/private')]);
    await expectLines(ofLines.explainedUrl, ['explain', '--json', down.url('/')]);
    await expectLines(ofLines.explainedByFile, ['explain', '--json', '--robots', '-', '/private'], ROBOTS);
  });

  it.each(['/page', '/elsewhere', '/private', '/broken'])('explain --page, of %s', async (path) => {
    await expectLines(ofLines.explainedUrl, ['explain', '--json', '--page', site.url(path)]);
  });

  it('policy', async () => {
    await expectLines(ofLines.policyLine, ['policy', '--json', site.origin]);
    await expectLines(ofLines.policyLine, ['policy', '--json', down.origin]);
  });

  it('lint', async () => {
    await expectLines(ofLines.lintLine, ['lint', '--json', '-'], ROBOTS);
  });

  it('test', async () => {
    const list = join(folder, 'expected.txt');
    writeFileSync(list, 'allow A /p/a\nallow A /private\nallow A /robots.txt\n');
    await expectLines(ofLines.testLine, ['test', '--json', '--expect', list, '-'], ROBOTS);
    const none = await startSite({ '/robots.txt': { status: 404 } });
    await expectLines(ofLines.testLine, ['test', '--json', '--expect', list, none.origin]);
    await none.close();
  });

  it('prefetch', async () => {
    const moved = await startSite({
      '/robots.txt': { status: 301, headers: { location: site.url('/robots.txt') } },
    });
    const list = [site, down, moved].map(({ origin }) => `${origin}/\n`).join('');
    await expectLines(ofLines.prefetchLine, ['prefetch', '-'], list);
    await expectLines(schema.lineError, ['prefetch', '-'], 'foo\n');
    await moved.close();
  });

  it('cache', async () => {
    const store = ['--store', join(folder, 'store')];
    await cli(['check', ...store, '-a', 'ExampleBot', site.url('/'), down.url('/')]);
    await expectLines(ofLines.storedLine, ['cache', 'ls', '--json', ...store]);
    await expectLines(ofLines.storedLine, ['cache', 'show', '--json', site.origin, ...store]);
  });

  it('replay', async () => {
    const file = join(folder, 'evidence.ndjson');
    await cli(['check', '--evidence', file, '-a', 'ExampleBot', site.url('/private'), site.url('/p')]);
    const described = ofLines.replayLine.or(ofLines.replayReportLine);
    await expectLines(described, ['replay', '--json', '-a', 'OtherBot', file]);
    await expectLines(ofLines.listedDecisionLine, ['replay', '--json', '--list', file]);
    await expectLines(ofLines.fileVersionLine, ['replay', '--json', '--versions', file]);
    const crawled = join(folder, 'crawled.ndjson');
    const evidence = await evidenceFile(crawled);
    const client = new RobotsClient({
      evidence,
      transport: { fetch: async () => new Response('User-agent: *\nDisallow: /private\nCrawl-delay: 60') },
    });
    const get = guardFetch(async (_url: string) => new Response('a page'), client, { mode: 'report' });
    for (const path of ['/1', '/2', '/private']) await get(`https://a.example${path}`);
    await client.close();
    await evidence.close();
    const conduct = ofLines.earlyStartLine.or(ofLines.althoughRefusedLine).or(ofLines.conductReportLine);
    await expectLines(conduct, ['replay', '--json', '--conduct', crawled]);
    await expectLines(ofLines.summaryLine, ['replay', '--json', '--summary', crawled]);
    // Without the response to the request for robots.txt.
    const lines = readFileSync(file, 'utf8').split('\n');
    const cut = lines.filter((line) => !line.includes('"type":"robots"')).join('\n');
    const { stdout } = await cli(['replay', '--json', '-'], { stdin: cut });
    const [first, ...others] = records(stdout);
    expect(first).toMatchObject({ kind: 'entry', fault: 'missing-lines' });
    for (const line of [first, ...others]) expectFit(described, line);
  });
});
