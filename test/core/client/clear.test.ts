import { expect, it } from 'vitest';
import { guardFetch } from '../../../src/index.ts';
import { answer, startSite } from '../../support/site.ts';
import { opened, openedClient, openedSite } from '../../support/opened.ts';

const RULES = 'User-agent: *\nDisallow: /x\n';

it('`clear` forgets every origin, and the next question fetches anew', async () => {
  const site = await openedSite({
    '/robots.txt': [{ body: RULES }, { body: 'User-agent: *\nDisallow: /y\n' }],
  });
  const { robots } = openedClient();
  expect(await robots.canFetch(site.url('/x'))).toBe(false);
  robots.clear();
  expect(robots.peek(site.url('/x'))).toBeUndefined();
  expect(robots.stats()).toMatchObject({ origins: 0, bytes: 0 });
  expect(await robots.canFetch(site.url('/x'))).toBe(true);
});

it('who waits for a robots.txt is answered, and its record is not kept', async () => {
  let respond = (): void => undefined;
  const site = opened(
    await startSite((_request, response) => {
      respond = () => answer(response, { body: RULES });
    }),
  );
  const { robots } = openedClient();
  const asked = robots.canFetch(site.url('/x'));
  await expect.poll(() => site.requests.length).toBe(1);
  robots.clear();
  respond();
  expect(await asked).toBe(false);
  expect(robots.stats().origins).toBe(0);
});

it('a pause is forgotten, and a request that waits in it goes on', async () => {
  const site = await openedSite({
    '/robots.txt': { body: RULES },
    '/busy': { status: 503, headers: { 'retry-after': '3600' }, body: '' },
    '/page': { body: 'a page' },
  });
  const { robots } = openedClient();
  const get = guardFetch(fetch, robots, { pacing: { defaultDelayMs: 0, maxDelayMs: 7_200_000 } });
  await (await get(site.url('/busy'))).text();
  const page = get(site.url('/page'));
  await expect.poll(async () => (await robots.policy(site.origin)).pacing?.waiting).toBe(1);
  robots.clear();
  expect(await (await page).text()).toBe('a page');
});
