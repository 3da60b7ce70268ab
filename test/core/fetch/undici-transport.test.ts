import { Agent, MockAgent } from 'undici';
import { describe, expect, it } from 'vitest';
import { undiciTransport } from '../../../src/core/fetch/undici-transport.ts';
import { lookupIn } from '../../support/internet.ts';
import { bodyOf, context } from './context.ts';

describe("undici over the caller's dispatcher", () => {
  const { site, fetch } = context(undiciTransport());

  it('uses it, leaves it open, and keeps its connection warm', async () => {
    const { origin, requests, connections } = await site({
      '/robots.txt': [{ body: 'Allow: /\n' }, { status: 404, body: 'nothing here' }],
      '/page': { body: 'page' },
    });
    const dispatcher = new Agent({ connections: 1 });
    const transport = undiciTransport({ dispatcher });
    expect(bodyOf(await fetch(origin, { transport }))).toBe('Allow: /\n');
    expect(await fetch(origin, { transport })).toMatchObject({ kind: 'unavailable' });
    await transport.close?.();
    const page = await dispatcher.request({ origin, path: '/page', method: 'GET' });
    expect(await page.body.text()).toBe('page');
    expect(requests.map(({ url }) => url)).toEqual(['/robots.txt', '/robots.txt', '/page']);
    expect(connections()).toBe(1);
    await dispatcher.close();
  });

  it('can be a mock', async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();
    const pool = dispatcher.get('https://example.com');
    pool
      .intercept({ path: '/robots.txt' })
      .reply(301, '', { headers: { location: 'https://www.example.com/robots.txt' } });
    const www = dispatcher.get('https://www.example.com');
    www.intercept({ path: '/robots.txt' }).reply(200, 'Disallow: /\n', { headers: { etag: '"1"' } });
    const transport = undiciTransport({ dispatcher });
    const outcome = await fetch('https://example.com', { transport });
    expect(outcome).toMatchObject({ kind: 'success', hops: 1, headers: { etag: '"1"' } });
    expect(bodyOf(outcome)).toBe('Disallow: /\n');
    expect(await fetch('https://unknown.example', { transport })).toMatchObject({
      kind: 'unreachable',
      error: 'UND_MOCK_ERR_MOCK_NOT_MATCHED',
    });
    dispatcher.assertNoPendingInterceptors();
    await dispatcher.close();
  });
});

describe('undici over an agent of its own', () => {
  const { site, fetch } = context(undiciTransport());

  it('takes a lookup', async () => {
    const { origin, requests } = await site({ '/robots.txt': { body: 'Allow: /\n' } });
    const lookup = lookupIn({ 'robots.test': ['127.0.0.1'] });
    const transport = undiciTransport({ lookup });
    expect(await fetch(origin.replace('127.0.0.1', 'robots.test'), { transport })).toMatchObject({
      kind: 'success',
    });
    expect(lookup.asked).toEqual(['robots.test']);
    expect(requests[0]?.headers.host).toMatch(/^robots\.test:/);
    await transport.close?.();
  });

  it('can be closed twice, used or not', async () => {
    const unused = undiciTransport();
    await unused.close?.();
    await unused.close?.();
    const { origin } = await site({ '/robots.txt': { body: 'Allow: /\n' } });
    const used = undiciTransport();
    await fetch(origin, { transport: used });
    await used.close?.();
    await used.close?.();
  });
});
