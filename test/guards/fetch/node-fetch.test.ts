import fetch from 'node-fetch';
import { describe, expect, it } from 'vitest';
import { guardFetch } from '../../../src/index.ts';
import {
  clientThatWaits,
  echo,
  endlessRedirect,
  Moment,
  pagesOf,
  redirecting,
  scriptedClient,
  site,
} from '../support.ts';

describe('guardFetch around node-fetch, whose bodies are streams of Node', () => {
  it('follows redirects, and refuses one by itself', async () => {
    const robots = scriptedClient();
    const server = await site(redirecting({ '/a': '/b', '/b': '/c', '/d': '/private' }));
    const guarded = guardFetch(fetch, robots);
    const response = await guarded(server.url('/a'));
    expect([response.url, response.redirected, response.clone().redirected]).toEqual([
      server.url('/c'),
      true,
      true,
    ]);
    expect(await response.json()).toMatchObject({ url: '/c' });
    await expect(guarded(server.url('/d'))).rejects.toMatchObject({
      decision: { url: server.url('/private') },
    });
    expect(pagesOf(server)).toEqual(['GET /a', 'GET /b', 'GET /c', 'GET /d']);
  });

  it('frees the socket of a redirect whose body never ends, before it asks about the next hop', async () => {
    const freed = new Moment();
    const other = await site(echo);
    const server = await site(endlessRedirect(other.url('/b'), freed));
    const robots = clientThatWaits(other.origin, freed);
    expect((await guardFetch(fetch, robots)(server.url('/a'))).status).toBe(200);
    expect([pagesOf(server), pagesOf(other)]).toEqual([['GET /a'], ['GET /b']]);
  });
});
