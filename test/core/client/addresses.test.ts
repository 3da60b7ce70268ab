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
