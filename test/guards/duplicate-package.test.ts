import { expect, it, vi } from 'vitest';
import { guardFetch } from '../../src/index.ts';
import { opened, openedSite } from '../support/opened.ts';

const ignoring: object = { robots: { ignore: true, because: 'a test' } };

it('a guard works with a client of another copy of the package as with one of its own', async () => {
  vi.resetModules();
  const { RobotsClient } = await import('../../src/index.ts');
  const site = await openedSite({
    '/robots.txt': { body: 'User-agent: *\nDisallow: /no\n' },
    '/page': {},
    '/no': {},
  });
  const received: string[] = [];
  const robots = opened(
    new RobotsClient({
      agent: 'ExampleBot',
      evidence: (entry) =>
        void received.push('url' in entry ? `${entry.type} ${new URL(entry.url).pathname}` : ''),
    }),
  );
  const guarded = guardFetch(fetch, robots);
  expect((await guarded(site.url('/page'))).status).toBe(200);
  expect((await guarded(site.url('/no'), ignoring)).status).toBe(200);
  await expect(guarded(site.url('/no'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
  expect(received.filter((line) => line !== '')).toEqual([
    'decision /page',
    'request /page',
    'ignored /no',
    'request /no',
    'decision /no',
  ]);
});
