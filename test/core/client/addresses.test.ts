import { MockAgent } from 'undici';
import { describe, expect, it } from 'vitest';
import { RobotsClient } from '../../../src/index.ts';
import { lookupIn } from '../../support/internet.ts';
import { startSite } from '../../support/site.ts';

const RULES = { '/robots.txt': { body: 'User-agent: *\nDisallow: /private' } };
const REFUSED = {
  state: 'disallow-all',
  reason: 'unreachable',
  allowed: false,
  robots: expect.objectContaining({ error: 'ERR_ROBOTS_ADDRESS_REFUSED' }),
};

describe('a client', () => {
  it('requests private addresses by default, from any `lookup`', async () => {
    await using site = await startSite(RULES);
    const lookup = lookupIn({ 'intranet.example': ['127.0.0.1'] });
    await using client = new RobotsClient({ lookup });
    const url = site.url('/page').replace('127.0.0.1', 'intranet.example');
    expect(await client.check(url)).toMatchObject({ state: 'rules', allowed: true });
    expect(await client.check(site.url('/private'))).toMatchObject({ state: 'rules', allowed: false });
    expect(lookup.asked).toEqual(['intranet.example']);
    expect(site.requests.length).toBe(2);
  });

  it("requests public ones alone under 'public-only', and a refusal disallows", async () => {
    await using site = await startSite(RULES);
    const lookup = lookupIn({ 'intranet.example': ['127.0.0.1', '::1', '10.0.0.1'] });
    await using client = new RobotsClient({ lookup, addressPolicy: 'public-only' });
    const named = site.url('/page').replace('127.0.0.1', 'intranet.example');
    for (const url of [named, site.url('/page'), site.url('/page').replace('127.0.0.1', 'localhost')]) {
      const decision = await client.check(url);
      expect(decision).toMatchObject(REFUSED);
      // Asking again changes nothing.
      expect(decision).not.toHaveProperty('retryAt');
      const policy = await client.policy(url);
      expect([policy.retryAt, policy.nextAttempt]).toEqual([undefined, undefined]);
      // Remembered like any failure: it is not looked up again for every question.
      expect(await client.canFetch(url)).toBe(false);
    }
    expect(lookup.asked).toEqual(['intranet.example']);
    expect(site.connections()).toBe(0);
  });

  it('takes addresses one by one from a `lookup` that does not know of `all`', async () => {
    await using site = await startSite(RULES);
    const answers = { 'intranet.example': '127.0.0.1', 'nonsense.example': 'nonsense' };
    await using client = new RobotsClient({
      addressPolicy: 'public-only',
      lookup: (hostname, _options, callback) => callback(null, Reflect.get(answers, hostname) ?? '', 4),
    });
    const { port } = new URL(site.origin);
    expect(await client.check(`http://intranet.example:${port}/`)).toMatchObject(REFUSED);
    const { robots, allowed } = await client.check(`http://absent.example:${port}/`);
    expect({ error: robots.error, allowed }).toEqual({ error: 'ENOTFOUND', allowed: false });
    const nonsense = client.check(`http://nonsense.example:${port}/`);
    await expect(nonsense).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
    expect(site.connections()).toBe(0);
  });

  it.each(['no-public-to-private', 'public-only'] as const)(
    'disallows when its `lookup` throws or fails, under %s',
    async (addressPolicy) => {
      const failure = Object.assign(new Error('no'), { code: 'EAI_AGAIN' });
      await using throwing = new RobotsClient({
        addressPolicy,
        lookup: () => {
          throw failure;
        },
      });
      await using failing = new RobotsClient({
        addressPolicy,
        lookup: (_hostname, _options, callback) => {
          callback(failure, '');
          callback(null, '127.0.0.1', 4);
        },
      });
      for (const client of [throwing, failing]) {
        const { allowed, robots } = await client.check('http://a.example/');
        expect({ allowed, error: robots.error }).toEqual({ allowed: false, error: 'EAI_AGAIN' });
      }
    },
  );

  it('counts the name of a site as public where it cannot see its address', async () => {
    await using site = await startSite(RULES);
    const location = site.url('/robots.txt');
    const dispatcher = new MockAgent();
    dispatcher.enableNetConnect(/127\.0\.0\.1/);
    const redirect = (): void =>
      void dispatcher
        .get('https://example.com')
        .intercept({ path: '/robots.txt' })
        .reply(302, '', { headers: { location } });
    redirect();
    await using client = new RobotsClient({ dispatcher });
    expect(await client.check('https://example.com/')).toMatchObject(REFUSED);
    expect(site.connections()).toBe(0);
    redirect();
    await using anywhere = new RobotsClient({ dispatcher, addressPolicy: 'any' });
    expect(await anywhere.check('https://example.com/')).toMatchObject({ state: 'rules' });
    expect(site.requests.length).toBe(1);
    await dispatcher.close();
  });
});
