import { describe, expect, it } from 'vitest';
import { records } from '../cli/session.ts';
import { openedForAll, siteForAll } from '../../support/opened.ts';
import { ask, startService } from './service.ts';

const ROBOTS = `User-agent: *
Allow: /
Content-Usage: /no/ train-ai=n
Content-Signal: /yes/ ai-train=yes

User-agent: OtherBot
Disallow: /
`;

const site = await siteForAll({
  '/robots.txt': { body: ROBOTS, headers: { 'cache-control': 'max-age=3600' } },
});
const service = openedForAll(await startService(['--allow-private', '-a', 'ExampleBot/1.0']));

const get = async (path: string): Promise<Record<string, any>> =>
  JSON.parse((await ask(service.origin, path)).text);
const post = async (path: string, body: string): Promise<string> =>
  (await ask(service.origin, path, { method: 'POST', body })).text;
const at = (path: string): string => encodeURIComponent(site.url(path));
const BY_LINE_3 = {
  purpose: 'train-ai',
  preference: 'disallow',
  source: { directive: 'content-usage', path: '/no/', line: 3, value: 'train-ai=n' },
};

describe('a purpose in the service', () => {
  it('GET /v1/check tells the line that disallows it, and leaves `allowed` as it is: cold, then warm', async () => {
    const path = `/v1/check?url=${at('/no/a')}&purpose=train-ai`;
    for (const _ of ['cold', 'warm']) {
      expect(await get(path)).toMatchObject({ allowed: true, reason: 'rule', usage: BY_LINE_3 });
    }
    expect(site.requests).toHaveLength(1);
    expect(await get(`/v1/check?url=${at('/yes/a')}&purpose=train-ai`)).toMatchObject({
      usage: { preference: 'allow', source: { line: 4 } },
    });
    const unsaid = await get(`/v1/check?url=${at('/no/a')}&purpose=search`);
    expect(unsaid['usage']).toMatchObject({ preference: 'unknown', 'train-ai': 'disallow' });
    expect(unsaid['usage']).not.toHaveProperty('source');
  });

  it('without one the answer has no `usage`', async () => {
    expect(await get(`/v1/check?url=${at('/no/a')}`)).not.toHaveProperty('usage');
  });

  it.each([
    ['is none', 'fun', /one of train-ai, ai-use, ai-input, search, got "fun"/],
    ['is given twice', 'search&purpose=search', /one parameter `purpose`, got 2/],
    ['is empty', '', /one parameter `purpose`, got none/],
  ])('is a problem when it %s', async (_, purpose, detail) => {
    expect(await get(`/v1/check?url=${at('/')}&purpose=${purpose}`)).toMatchObject({
      status: 400,
      code: 'ERR_ROBOTS_INVALID_REQUEST',
      detail: expect.stringMatching(detail),
    });
  });

  it('POST /v1/check takes it for the stream, and for a line', async () => {
    const url = site.url('/no/a');
    const lines = [
      url,
      JSON.stringify({ url, purpose: 'search' }),
      JSON.stringify({ url, agent: 'OtherBot', purpose: 'train-ai' }),
      JSON.stringify({ url, purpose: 'fun' }),
      JSON.stringify({ url, purpose: ['search'] }),
    ];
    const answers = records(await post('/v1/check?purpose=train-ai', lines.join('\n')));
    expect(answers.slice(0, 3)).toMatchObject([
      { allowed: true, usage: BY_LINE_3 },
      { allowed: true, usage: { purpose: 'search', preference: 'unknown' } },
      { allowed: false, agent: 'OtherBot', usage: { purpose: 'train-ai', preference: 'unknown' } },
    ]);
    for (const wrong of answers.slice(3)) {
      expect(wrong).toMatchObject({ error: { code: 'ERR_ROBOTS_INVALID_REQUEST' } });
    }
    const plain = records(await post('/v1/check', lines.slice(0, 2).join('\n')));
    expect(plain[0]).not.toHaveProperty('usage');
    expect(plain[1]).toMatchObject({ usage: { purpose: 'search' } });
  });

  it('/v1/explain tells it, too', async () => {
    expect(await get(`/v1/explain?url=${at('/no/a')}&purpose=train-ai`)).toMatchObject({ usage: BY_LINE_3 });
  });
});
