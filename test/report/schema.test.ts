import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  comparison,
  decision,
  explanation,
  fileDecision,
  lineError,
  pastedAnswer,
  policy,
  policyData,
} from '../../src/report/schema.ts';
import { cli, records } from '../cli/session.ts';
import { ask, startService, type TestService } from '../serve/service.ts';
import { type Site, startSite } from '../support/site.ts';

const ROBOTS = [
  'User-agent: *',
  'Disallow: /private',
  'Allow: /p',
  'Crawl-delay: 2',
  'Content-Usage: train-ai=n',
  'Host: example.com',
  'Dissalow: /x',
  'Sitemap: https://example.com/map.xml',
].join('\n');

/** The names of the fields that the schema does not know. */
function unknownFields(schema: z.ZodObject, answer: unknown): unknown {
  const { error } = schema.strict().safeParse(answer);
  return error?.issues ?? [];
}

describe('every field of an answer stands in its schema', () => {
  let service: TestService;
  let site: Site;
  let down: Site;

  beforeAll(async () => {
    site = await startSite({ '/robots.txt': { body: ROBOTS } });
    down = await startSite({ '/robots.txt': { status: 503 } });
    service = await startService();
  });

  afterAll(async () => {
    await service.terminate();
    await Promise.all([site.close(), down.close()]);
  });

  it.each<[string, z.ZodObject, () => string]>([
    ['a decision', decision, () => `/v1/check?url=${site.url('/private')}&purpose=train-ai`],
    ['a decision without a file', decision, () => `/v1/check?url=${down.url('/')}`],
    ['a policy', policy, () => `/v1/policy?origin=${site.origin}`],
    ['a policy without a file', policy, () => `/v1/policy?origin=${down.origin}`],
    ['an explanation', explanation, () => `/v1/explain?url=${site.url('/private')}&purpose=search&compare=A`],
    ['an explanation without a file', explanation, () => `/v1/explain?url=${down.url('/')}`],
  ])('of the service: %s', async (_, schema, path) => {
    const { text } = await ask(service.origin, path());
    expect(unknownFields(schema, JSON.parse(text))).toEqual([]);
  });

  it('of the service: verdicts of a pasted file', async () => {
    const body = JSON.stringify({ robots: ROBOTS, urls: ['/private', '/p', 'foo'], agents: ['A', '*'] });
    const { text } = await ask(service.origin, '/v1/explain', { method: 'POST', body });
    expect(unknownFields(pastedAnswer, JSON.parse(text))).toEqual([]);
  });

  it('of the service and the command: a comparison', async () => {
    const before = `${ROBOTS}\nUser-agent: B\nAllow: /b`;
    const body = JSON.stringify({ before, after: { origin: site.origin } });
    const { text } = await ask(service.origin, '/v1/diff', { method: 'POST', body });
    expect(unknownFields(comparison, JSON.parse(text))).toEqual([]);
    const { stdout } = await cli(['diff', '--json', '-', site.origin], { stdin: before });
    const [printed] = records(stdout);
    expect(unknownFields(comparison, printed)).toEqual([]);
    expect({ ...printed, before: null }).toEqual({ ...JSON.parse(text), before: null });
  });

  it('of the service: a stream of decisions and errors', async () => {
    const body = `${site.url('/private')}\nfoo\n`;
    const { text } = await ask(service.origin, '/v1/check', { method: 'POST', body });
    const [decided, failed] = records(text);
    expect(unknownFields(decision, decided)).toEqual([]);
    expect(unknownFields(lineError, failed)).toEqual([]);
  });

  it('of the command: decisions, with and without the site, and a policy', async () => {
    const { stdout } = await cli(['check', '--json', site.url('/private')]);
    expect(unknownFields(decision, records(stdout)[0])).toEqual([]);
    const offline = await cli(['check', '--json', '--robots', '-', '/private'], { stdin: ROBOTS });
    expect(unknownFields(fileDecision, records(offline.stdout)[0])).toEqual([]);
    const [shown] = records((await cli(['policy', '--json', site.origin])).stdout);
    expect(unknownFields(policyData.extend({ schemaVersion: policy.shape.schemaVersion }), shown)).toEqual(
      [],
    );
  });
});
