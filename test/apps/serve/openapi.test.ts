import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApi } from '../../../src/apps/serve/openapi.ts';
import { type Site, startSite } from '../../support/site.ts';
import { ask, startService, type TestService } from './service.ts';

const { schemas } = openApi.components as { readonly schemas: Readonly<Record<string, object>> };

/** What is wrong with a value by a schema of the description. */
function problemsOf(schema: object, value: unknown): readonly string[] {
  const whole = JSON.stringify({ ...schema, $defs: schemas }).replaceAll('#/components/schemas/', '#/$defs/');
  const { success, error } = z.fromJSONSchema(JSON.parse(whole)).safeParse(value);
  return success ? [] : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** The body of a response, as the description has it. */
function bodyOf(path: string, method: string, status: string, type: string): { schema: object } {
  const operation = Reflect.get(Object(Reflect.get(openApi.paths, path)), method);
  return (operation.responses[status] ?? operation.responses.default).content[type];
}

it('each reference leads to a schema', () => {
  const references = JSON.stringify(openApi).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  for (const [, name = ''] of references) expect(Object.keys(schemas)).toContain(name);
});

it('operations have ids of their own', () => {
  const ids = Object.values(openApi.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

describe('answers fit the description', () => {
  let service: TestService;
  let site: Site;
  let down: Site;

  beforeAll(async () => {
    const body =
      'User-agent: *\nDisallow: /private\nAllow: /p\nContent-Signal: ai-train=no\nSitemap: https://a.example/\n';
    site = await startSite({ '/robots.txt': { body } });
    down = await startSite({ '/robots.txt': { status: 503 } });
    service = await startService();
  });

  afterAll(async () => {
    await service.terminate();
    await Promise.all([site.close(), down.close()]);
  });

  const JSON_TYPE = 'application/json';

  it.each([
    [
      'checkUrl',
      '/v1/check',
      '200',
      JSON_TYPE,
      () => `?url=${site.url('/private')}&agent=A&purpose=train-ai`,
    ],
    ['checkUrl of an outage', '/v1/check', '200', JSON_TYPE, () => `?url=${down.url('/')}`],
    ['getPolicy', '/v1/policy', '200', JSON_TYPE, () => `?origin=${site.origin}`],
    ['explainUrl', '/v1/explain', '200', JSON_TYPE, () => `?url=${site.url('/private')}&agent=B`],
    ['explainUrl of an outage', '/v1/explain', '200', JSON_TYPE, () => `?url=${down.url('/')}`],
    ['a problem', '/v1/check', '400', 'application/problem+json', () => '?url=foo'],
  ])('%s', async (_, path, status, type, query) => {
    const answer = await ask(service.origin, path + query());
    expect(String(answer.status)).toBe(status);
    expect(problemsOf(bodyOf(path, 'get', status, type).schema, JSON.parse(answer.text))).toEqual([]);
  });

  it('and one that does not is found', async () => {
    const { text } = await ask(service.origin, `/v1/policy?origin=${site.origin}`);
    const wrong = { ...JSON.parse(text), state: 'fine' };
    expect(problemsOf(bodyOf('/v1/policy', 'get', '200', JSON_TYPE).schema, wrong)).toHaveLength(1);
  });
});
