import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as answers from '../../../src/apps/answers/schema/answers.ts';
import { records } from '../cli/session.ts';
import { ask, startService } from '../serve/service.ts';
import { openedForAll, siteForAll } from '../../support/opened.ts';

const { policyData, usage, runnerUp } = answers;
const schemaVersion = z.literal(1);
const asked = { schemaVersion, input: z.string(), line: z.int().optional() };
const decision = answers.decision.extend(asked);
const data = z.looseObject({}).optional();
const schema = {
  decision,
  policy: policyData.extend({ schemaVersion, usage: usage.optional() }),
  explanation: decision.extend({
    runnerUp: runnerUp.optional(),
    star: data,
    runsOn: data,
    nearMiss: data,
    policy: policyData.optional(),
  }),
  lineError: z.object({
    schemaVersion,
    input: z.string(),
    line: z.int(),
    error: z.object({ code: z.string(), message: z.string() }),
  }),
};

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

const site = await siteForAll({ '/robots.txt': { body: ROBOTS } });
const down = await siteForAll({ '/robots.txt': { status: 503 } });

/** Objects of a schema drop what they do not know, at every depth that is described: so what differs there is not described. */
function expectFit(described: z.ZodType, answer: unknown): void {
  const { data, error } = described.safeParse(answer);
  expect(error?.issues ?? data).toEqual(answer);
}

const service = openedForAll(await startService(['--allow-private', '--log']));

describe('every field of an answer of the service stands in its schema', () => {
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
});
