import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, it } from 'vitest';
import { guardFetch, refusalIn, RobotsClient } from '../../src/index.ts';
import { openedClient, openedSite } from '../support/opened.ts';
import { scriptedClient } from './support.ts';

const withSecret = (url: string): string => url.replace('://', '://someone:s3cret%20key@');
const SECRETS = /someone|s3cret/;

const CHANNELS = [
  ...['fetch', 'decision', 'usage', 'deferred', 'pause', 'ignored', 'request', 'body', 'cache'],
  ...['check', 'attempt', 'robots-request'].flatMap((name) => [`${name}:start`, `${name}:asyncEnd`]),
].map((name) => (name.includes(':') ? `tracing:canfetch:${name}` : `canfetch:${name}`));

it('user names and passwords of URLs stand in no decision, event, refusal or evidence', async () => {
  const other = await openedSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private\n' } });
  const site = await openedSite({
    '/robots.txt': { body: 'User-agent: *\nContent-Signal: ai-train=no\n' },
    '/moved': { status: 302, headers: { location: withSecret(other.url('/private')) } },
    '/paid': { status: 402, headers: { 'crawler-price': '1' } },
    '/busy': { status: 503, headers: { 'retry-after': '60' } },
  });
  const said: unknown[] = [];
  const listen = (message: unknown): void => {
    const { client: _, ...facts } = Object(message);
    said.push(facts);
  };
  for (const name of CHANNELS) subscribe(name, listen);
  const { robots } = openedClient({ evidence: (entry) => void said.push(entry) });
  const events = {
    onRefusal: (...facts: unknown[]) => void said.push(facts),
    onPaymentRequired: (facts: unknown) => void said.push(facts),
  };
  const guarded = guardFetch(fetch, robots, { ...events, pacing: { defaultDelayMs: 0, maxDelayMs: 0 } });
  const training = guardFetch(fetch, robots, { ...events, purpose: 'train-ai' });
  // A `fetch` refuses credentials in a URL, so the guard is asked about them by other libraries: here without one.
  const answer402: typeof fetch = async () => new Response(null, { status: 402 });
  const unsent = guardFetch(answer402, robots, events);
  const ask = async (call: () => Promise<unknown>): Promise<void> => {
    const refusal = await call().catch((error: unknown) => refusalIn(error) ?? error);
    said.push(refusal, JSON.parse(JSON.stringify(refusal)), String(Object(refusal).message ?? ''));
  };
  await ask(() => robots.check(withSecret(site.url('/page'))));
  await ask(() => guarded(site.url('/moved')));
  await ask(() => guarded(site.url('/paid'), { headers: { 'user-agent': 'Other/1' } }));
  await ask(() => guarded(site.url('/busy')));
  await ask(() => guarded(site.url('/page')));
  await ask(() => training(withSecret(site.url('/page'))));
  await ask(() => unsent(withSecret(other.url('/private'))));
  await ask(() => unsent(withSecret(other.url('/page'))));
  await ask(() =>
    unsent(withSecret(other.url('/private')), { robots: { ignore: true, because: 'test' } } as RequestInit),
  );
  await ask(async () => robots.policy(withSecret(site.url('/'))));
  for (const name of CHANNELS) unsubscribe(name, listen);
  expect(said.length).toBeGreaterThan(40);
  expect(said.map((fact) => JSON.stringify(fact)).filter((text) => SECRETS.test(text ?? ''))).toEqual([]);
});

it.each([
  'http://someone:s3cret key@:99999/',
  'https://someone:s3cret/k?e#y@example.com:port/',
  'someone:s3cret@example.com/page',
  '//someone:s3cret@example.com/page',
  'gopher://someone:s3cret@example.com/',
  `https://someone:s3cret@example.com/${'x'.repeat(70_000)}`,
])('nor in the error of a URL that is none: %#', async (url) => {
  const robots = new RobotsClient({ agent: 'ExampleBot' });
  const error: unknown = await robots.check(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ERR_ROBOTS_INVALID_URL' });
  const { message, input, cause } = Object(error);
  expect(`${message} ${input} ${String(cause)} ${JSON.stringify(cause)}`).not.toMatch(SECRETS);
  await robots.close();
});

it.each<[location: string, init?: RequestInit]>([
  ['ftp://someone:s3cret@other.example/'],
  ['//someone:s3cret@other.example:99999/'],
  ['https://other.example/', { mode: 'same-origin' }],
])('nor in the error of a redirect to %s', async (location, init) => {
  const send = async (_url: string, _init?: RequestInit): Promise<Response> =>
    new Response(null, { status: 302, headers: { location } });
  const pending = guardFetch(send, scriptedClient())('https://someone:s3cret@site.example/page', init);
  const error: unknown = await pending.catch((reason: unknown) => reason);
  expect(String(error)).toMatch(/redirect of https:\/\/site\.example\/page/);
  expect(String(error)).not.toMatch(SECRETS);
});
