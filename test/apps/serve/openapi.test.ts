import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi } from '../../../src/apps/serve/openapi.ts';
import { type Site, startSite } from '../../support/site.ts';
import { ask, startService, type TestService } from './service.ts';

/** What the linter objects to: the rule, the place, and the message. */
async function problemsOf(description: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'no-unused-components': 'error',
      'operation-operationId-unique': 'error',
      'operation-operationId-url-safe': 'error',
      'operation-4xx-response': 'error',
    },
  });
  const source = JSON.stringify(description);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
}

/** The description with `example` in place of an example. */
function withExample(path: string, method: string, status: string, type: string, example: unknown): object {
  const description = structuredClone(openApi) as any;
  const response = description.paths[path][method].responses[status];
  expect(Object.keys(response.content)).toContain(type);
  response.content[type].example = example;
  return description;
}

it('the description passes a strict linter, and its examples fit their schemas', async () => {
  expect(await problemsOf(openApi)).toEqual([]);
});

it('every operation has an example of each parameter, body and response', () => {
  for (const methods of Object.values(openApi.paths)) {
    for (const { operationId, parameters = [], requestBody, responses } of Object.values(methods)) {
      for (const parameter of parameters)
        expect([operationId, parameter]).toEqual([
          operationId,
          expect.objectContaining({ example: expect.anything() }),
        ]);
      for (const body of [...(requestBody === undefined ? [] : [requestBody]), ...Object.values(responses)]) {
        for (const media of Object.values((body as { content: Record<string, object> }).content)) {
          expect([operationId, media]).toEqual([
            operationId,
            expect.objectContaining({ example: expect.anything() }),
          ]);
        }
      }
    }
  }
});

it('explanations and policies name the answer to one request too many', () => {
  for (const [path, method] of [
    ['/v1/policy', 'get'],
    ['/v1/explain', 'get'],
    ['/v1/explain', 'post'],
    ['/v1/diff', 'post'],
  ] as const) {
    expect(Object.keys(openApi.paths[path]?.[method]?.responses ?? {})).toContain('503');
  }
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
    ['explainUrl', '/v1/explain', '200', JSON_TYPE, () => `?url=${site.url('/private')}&compare=*&compare=B`],
    ['explainUrl of an outage', '/v1/explain', '200', JSON_TYPE, () => `?url=${down.url('/')}`],
    ['getHealth', '/healthz', '200', JSON_TYPE, () => ''],
    ['a problem', '/v1/check', '400', 'application/problem+json', () => '?url=foo'],
  ])('%s', async (_, path, status, type, query) => {
    const answer = await ask(service.origin, path + query());
    expect(String(answer.status)).toBe(status);
    expect(await problemsOf(withExample(path, 'get', status, type, JSON.parse(answer.text)))).toEqual([]);
  });

  it('explainPastedFile', async () => {
    const body = JSON.stringify({
      robots: 'User-agent: *\nDisallow: /a',
      urls: ['/a', 'foo'],
      agents: ['A'],
    });
    const answer = await ask(service.origin, '/v1/explain', { method: 'POST', body });
    const example = JSON.parse(answer.text);
    expect(await problemsOf(withExample('/v1/explain', 'post', '200', JSON_TYPE, example))).toEqual([]);
  });

  it('compareFiles', async () => {
    const body = JSON.stringify({ before: 'User-agent: *\nDisallow: /a', after: { origin: site.origin } });
    const answer = await ask(service.origin, '/v1/diff', { method: 'POST', body });
    expect(answer.status).toBe(200);
    const example = JSON.parse(answer.text);
    expect(await problemsOf(withExample('/v1/diff', 'post', '200', JSON_TYPE, example))).toEqual([]);
  });

  it('the linter reports one that does not', async () => {
    const { text } = await ask(service.origin, '/healthz');
    const wrong = { ...JSON.parse(text), status: 'fine' };
    expect(await problemsOf(withExample('/healthz', 'get', '200', JSON_TYPE, wrong))).toHaveLength(1);
  });
});
