import { describe, expect, it } from 'vitest';
import { context, PROFILE, TRANSPORTS } from './context.ts';
import { movedTo } from '../../support/site.ts';

describe.each(TRANSPORTS)('conditional requests over %s', (_name, make) => {
  const { site, fetch } = context(make());
  const lastModified = 'Thu, 01 Jan 2026 00:00:00 GMT';

  it('is told that nothing changed', async () => {
    const { origin, requests, url } = await site({
      '/robots.txt': { status: 304, headers: { etag: '"v2"', 'cache-control': 'max-age=9' } },
    });
    const copy = { finalUrl: url('/robots.txt'), etag: '"v1"', lastModified };
    expect(await fetch(origin, { copy })).toEqual({
      kind: 'not-modified',
      status: 304,
      hops: 0,
      finalUrl: url('/robots.txt'),
      headers: expect.objectContaining({ etag: '"v2"', cacheControl: 'max-age=9' }),
    });
    expect(requests[0]?.headers).toMatchObject({
      'if-none-match': '"v1"',
      'if-modified-since': lastModified,
    });
  });

  it('sends validators to their issuer alone, even past a redirect', async () => {
    const issuer = await site({ '/rules.txt': { status: 304 } });
    const first = await site({ '/robots.txt': movedTo(issuer.url('/rules.txt'), 301) });
    const copy = { finalUrl: issuer.url('/rules.txt'), etag: '"v1"' };
    expect(await fetch(first.origin, { copy })).toMatchObject({ kind: 'not-modified', hops: 1 });
    expect(first.requests[0]?.headers).not.toHaveProperty('if-none-match');
    expect(issuer.requests[0]?.headers).toMatchObject({ 'if-none-match': '"v1"' });
    expect(issuer.requests[0]?.headers).not.toHaveProperty('if-modified-since');
  });

  it('does not believe a 304 it did not ask for', async () => {
    const { origin, requests, url } = await site({ '/robots.txt': { status: 304 } });
    const unasked = { kind: 'unreachable', status: 304, error: 'ERR_ROBOTS_NOT_MODIFIED' };
    const copy = { finalUrl: url('/robots.txt'), etag: '"v1"' };
    expect(await fetch(origin)).toMatchObject(unasked);
    expect(await fetch(origin, { copy: { ...copy, finalUrl: url('/other') } })).toMatchObject(unasked);
    expect(await fetch(origin, { copy: { finalUrl: copy.finalUrl } })).toMatchObject(unasked);
    const profile = { ...PROFILE, conditionalRequests: false };
    expect(await fetch(origin, { copy, profile })).toMatchObject(unasked);
    expect(requests.some(({ headers }) => 'if-none-match' in headers)).toBe(false);
    expect(requests.length).toBe(4);
  });
});
