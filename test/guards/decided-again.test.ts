import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, it, onTestFinished } from 'vitest';
import { type DecisionMessage, guardFetch, RobotsClient } from '../../src/index.ts';
import { SECOND } from '../support/client.ts';
import { lateClock } from '../support/late-clock.ts';
import { opened, openedClient } from '../support/opened.ts';

const A = 'https://a.example';

it('a request that waited is decided by the rules that hold when its turn comes', async () => {
  let rules = 'User-agent: *\nCrawl-delay: 10\n';
  const clock = lateClock();
  const { robots } = openedClient({ clock, transport: { fetch: async () => new Response(rules) } });
  const sent: string[] = [];
  const page = async (url: string): Promise<Response> => {
    sent.push(url);
    return new Response('a page');
  };
  const get = guardFetch(page, robots, { pacing: true, clock });
  const first = get(`${A}/1`).then((response) => response.text());
  const second = get(`${A}/2`).catch((error: unknown) => error);
  await clock.whenWaiting();
  await clock.advance(10 * SECOND);
  await first;
  rules = 'User-agent: *\nDisallow: /2\n';
  await robots.invalidate(A);
  await clock.advance(10 * SECOND);
  expect(await second).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
  expect(sent).toEqual([`${A}/1`]);
});

it('the decision about a redirect is published with the URL that was requested', async () => {
  const robots = opened(
    new RobotsClient({
      agent: 'ExampleBot',
      transport: { fetch: async () => new Response('User-agent: *\nAllow: /\n') },
    }),
  );
  const published: object[] = [];
  const listener = (message: unknown): void => {
    const { client, decision, requested, redirects } = message as DecisionMessage;
    if (client === robots) published.push({ url: decision.url, requested, redirects });
  };
  subscribe('canfetch:decision', listener);
  onTestFinished(() => void unsubscribe('canfetch:decision', listener));
  const hops: Record<string, string> = { '/1': '/2', '/2': '/3' };
  const page = async (url: string): Promise<Response> => {
    const location = hops[new URL(url).pathname];
    return location === undefined
      ? new Response('a page')
      : new Response(null, { status: 302, headers: { location } });
  };
  await guardFetch(page, robots)(`${A}/1`);
  expect(published).toEqual([
    { url: `${A}/1`, requested: undefined, redirects: undefined },
    { url: `${A}/2`, requested: `${A}/1`, redirects: [] },
    { url: `${A}/3`, requested: `${A}/1`, redirects: [`${A}/2`] },
  ]);
});
