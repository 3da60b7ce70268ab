import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../../support/site.ts';
import { ask, startService, type TestService } from './service.ts';

const OLD = 'User-agent: *\nDisallow: /private\nSitemap: https://a.example/old\n';
const NEW = 'User-agent: *\nDisallow: /private\nAllow: /private/press\n\nUser-agent: GPTBot\nDisallow: /\n';

describe('POST /v1/diff', () => {
  let service: TestService;
  let site: Site;
  let empty: Site;
  let down: Site;

  beforeAll(async () => {
    site = await startSite({ '/robots.txt': { body: OLD } });
    empty = await startSite({});
    down = await startSite({ '/robots.txt': { status: 503 } });
    service = await startService();
  });

  afterAll(async () => {
    await service.terminate();
    await Promise.all([site, empty, down].map((each) => each.close()));
  });

  const compare = async (body: object): Promise<{ status: number; answer: any }> => {
    const { status, text } = await ask(service.origin, '/v1/diff', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return { status, answer: JSON.parse(text) };
  };

  it('tells which rules changed for whom, which URLs flip, and what is outside of groups', async () => {
    const before = site.requests.length;
    const { status, answer } = await compare({ before: OLD, after: NEW });
    expect([status, site.requests.length]).toEqual([200, before]);
    expect(answer).toMatchObject({
      schemaVersion: 1,
      before: { name: 'before' },
      after: { name: 'after' },
      same: false,
      differences: [
        { agents: ['*'], rules: [{ kind: 'added', after: { pattern: '/private/press', line: 3 } }] },
        { agents: ['GPTBot'], groupBefore: '*', groupAfter: 'GPTBot' },
      ],
      everybody: [{ kind: 'removed', record: { key: 'sitemap', line: 3 } }],
      agentsLeftOut: 0,
    });
    const [everybody] = answer.differences;
    expect(everybody.flips).toContainEqual({
      target: '/private/press',
      before: { allowed: false, rule: { directive: 'disallow', pattern: '/private', line: 2 } },
      after: { allowed: true, rule: { directive: 'allow', pattern: '/private/press', line: 3 } },
    });
  });

  it('compares what a site serves with a file that is not served yet, for the agents and URLs asked about', async () => {
    const { answer } = await compare({
      before: { origin: site.origin },
      after: NEW,
      agents: ['GPTBot/1.2 (+https://openai.example)'],
      urls: ['/mine', 'https://a.example/yours'],
    });
    expect(answer.before).toEqual({ name: site.origin });
    expect(answer.differences).toHaveLength(1);
    expect(answer.differences[0].agents).toEqual(['GPTBot']);
    const flipped = answer.differences[0].flips.map(({ target }: { target: string }) => target);
    expect(flipped).toEqual(expect.arrayContaining(['/mine', 'https://a.example/yours']));
  });

  it('says that a site without robots.txt is compared as an empty file', async () => {
    const { answer } = await compare({ before: { origin: empty.origin }, after: 'User-agent: *\nAllow: /' });
    expect(answer.before.because).toContain('robots.txt is unavailable (404)');
  });

  it.each<[string, () => object, number, string, RegExp]>([
    [
      'a site whose robots.txt is unreachable',
      () => ({ before: { origin: down.origin }, after: '' }),
      502,
      'ERR_ROBOTS_UNREACHABLE',
      /`before`.*unreachable \(503\)/,
    ],
    [
      'what is no site',
      () => ({ before: { origin: 'foo' }, after: '' }),
      400,
      'ERR_ROBOTS_INVALID_URL',
      /"foo"/,
    ],
    ['one file', () => ({ before: '' }), 400, 'ERR_ROBOTS_INVALID_REQUEST', /`after`/],
    [
      'a URL that is none',
      () => ({ before: '', after: OLD, urls: ['foo'] }),
      400,
      'ERR_ROBOTS_INVALID_REQUEST',
      /"foo"/,
    ],
    [
      'too many agents',
      () => ({ before: '', after: '', agents: Array.from({ length: 101 }, () => 'a') }),
      400,
      'ERR_ROBOTS_INVALID_REQUEST',
      /`agents`.*at most 100/,
    ],
    [
      'more than two files can hold',
      () => ({ before: 'x'.repeat(2_097_152), after: '' }),
      413,
      'ERR_ROBOTS_TOO_LARGE',
      /at most 2097152 bytes/,
    ],
  ])('refuses %s', async (_, body, status, code, detail) => {
    const refused = await compare(body());
    expect(refused).toMatchObject({ status, answer: { code, detail: expect.stringMatching(detail) } });
  });

  it('reads of each file what is read of a fetched one', async () => {
    const long = `User-agent: *\n${'#'.repeat(512_000)}\nDisallow: /beyond\n`;
    expect((await compare({ before: 'User-agent: *\n', after: long })).answer.same).toBe(true);
  });
});
