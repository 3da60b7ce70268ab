import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { siteForAll } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import { ask, startService } from './service.ts';

const site = await siteForAll((_request, response) =>
  answer(response, { body: 'User-agent: *\nDisallow: /private\n' }),
);

describe('serve', () => {
  it('--log writes a line of JSON for each request, without userinfo', async () => {
    await using service = await startService(['--allow-private', '--log']);
    const url = site.url('/private').replace('//', '//user:s3cret@');
    await ask(service.origin, `/v1/check?url=${encodeURIComponent(url)}`);
    await ask(service.origin, '/v1/check?url=nonsense%E2%80%AE');
    await ask(service.origin, '/nowhere', { method: 'DELETE' });
    await eventually(() => expect(service.stderr.text.match(/\n/g)).toHaveLength(3));
    const lines = service.stderr.text.split('\n', 3).map((line) => JSON.parse(line));
    const common = {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      address: '127.0.0.1',
      durationMs: expect.any(Number),
    };
    expect(lines).toEqual([
      {
        schemaVersion: 1,
        ...common,
        method: 'GET',
        path: '/v1/check',
        url: site.url('/private'),
        agent: 'canfetch',
        allowed: false,
        reason: 'rule',
        status: 200,
      },
      { schemaVersion: 1, ...common, method: 'GET', path: '/v1/check', url: 'nonsense\u202e', status: 400 },
      { schemaVersion: 1, ...common, method: 'DELETE', path: '/nowhere', status: 404 },
    ]);
    expect(service.stderr.text).not.toContain('\u202e');
  });

  it('writes failures always, and nothing else without --log', async () => {
    await using service = await startService(['--allow-private'], undefined, { largeAnswers: 0 });
    await ask(service.origin, '/healthz');
    const { status } = await ask(service.origin, `/v1/explain?url=${encodeURIComponent(site.url('/'))}`);
    expect(status).toBe(503);
    await eventually(() => expect(service.stderr.text).toContain('\n'));
    expect(JSON.parse(service.stderr.text)).toMatchObject({ path: '/v1/explain', status: 503 });
  });
});
