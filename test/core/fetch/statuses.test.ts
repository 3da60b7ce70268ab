import { describe, expect, it } from 'vitest';
import { AGENT, bodyOf, context, PROFILE, TRANSPORTS } from './context.ts';

describe.each(TRANSPORTS)('statuses over %s', (name, make) => {
  const { site, fetch } = context(make());
  const rules = 'User-agent: *\nDisallow: /x\n';

  it.each([200, 201, 203, 206, 299])('reads the body of %i', async (status) => {
    const { origin } = await site({ '/robots.txt': { status, body: rules } });
    const outcome = await fetch(origin);
    expect(outcome).toMatchObject({ kind: 'success', status, hops: 0, finalUrl: `${origin}/robots.txt` });
    expect(bodyOf(outcome)).toBe(rules);
  });

  it.each([204, 200])('takes an empty %i for an empty file', async (status) => {
    // Servers name a coding of empty bodies, too. Of a 200 the length has to say that it is empty.
    const headers = { 'content-encoding': 'gzip', ...(status === 200 && { 'content-length': '0' }) };
    const { origin } = await site({ '/robots.txt': { status, headers } });
    expect(await fetch(origin)).toMatchObject({ kind: 'success', status, truncated: false });
  });

  it.each([400, 401, 403, 404, 410, 451, 499])(
    'takes %i for unavailable and does not read it',
    async (status) => {
      const { origin, requests } = await site((_request, response) => {
        response.writeHead(status, { 'cache-control': 'max-age=60' });
        response.write('never finished');
      });
      expect(await fetch(origin)).toEqual({
        kind: 'unavailable',
        status,
        hops: 0,
        finalUrl: `${origin}/robots.txt`,
        headers: expect.objectContaining({ cacheControl: 'max-age=60' }),
      });
      expect(requests.length).toBe(1);
    },
  );

  it.each([429, 500, 502, 503, 599])('takes %i for unreachable and does not read it', async (status) => {
    const { origin, requests } = await site((_request, response) => {
      response.writeHead(status, { 'retry-after': '120' });
      response.write('never finished');
    });
    const outcome = await fetch(origin);
    expect(outcome).toMatchObject({
      kind: 'unreachable',
      status,
      error: 'ERR_ROBOTS_STATUS',
      retryAfterMs: 120_000,
    });
    expect(requests.length).toBe(1);
  });

  it('has no retryAfterMs where nothing asked for it', async () => {
    const { origin } = await site({ '/robots.txt': { status: 503 } });
    expect(await fetch(origin)).toEqual({
      kind: 'unreachable',
      status: 503,
      error: 'ERR_ROBOTS_STATUS',
      hops: 0,
      finalUrl: `${origin}/robots.txt`,
      headers: { date: expect.any(String) },
    });
  });

  it('reads statuses as the profile does', async () => {
    const { origin } = await site({
      '/robots.txt': [{ status: 503 }, { status: 403 }, { status: 404, body: rules }],
    });
    const profile = {
      ...PROFILE,
      status: { '503': 'unavailable', '403': 'restricted', '404': 'rules' },
    } as const;
    expect(await fetch(origin, { profile })).toMatchObject({ kind: 'unavailable', status: 503 });
    expect(await fetch(origin, { profile })).toMatchObject({ kind: 'restricted', status: 403 });
    expect(bodyOf(await fetch(origin, { profile }))).toBe(rules);
  });

  it('reads a date in Retry-After by the given clock', async () => {
    const headers = { 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT' };
    const { origin } = await site({ '/robots.txt': { status: 503, headers } });
    const clock = { now: () => Date.UTC(2026, 0, 1) };
    expect(await fetch(origin, { clock })).toMatchObject({ retryAfterMs: 90_000 });
  });

  it('reads the longest of several lines of Retry-After', async () => {
    const headers = { 'retry-after': ['3', '7', '0'] };
    const { origin } = await site({ '/robots.txt': { status: 503, headers } });
    expect(await fetch(origin)).toMatchObject({ retryAfterMs: 7_000 });
  });

  it('reports the header fields that matter, and ignores oversized ones', async () => {
    const long = `"${'e'.repeat(1_100)}"`;
    const fields = {
      'cache-control': ['max-age=60', 'public'],
      expires: '0',
      age: '7',
      etag: '"v1"',
      'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      'content-type': 'text/plain',
      date: 'Fri, 02 Jan 2026 00:00:00 GMT',
    };
    const { origin } = await site({
      '/robots.txt': [
        { headers: fields, body: rules },
        { headers: { ...fields, etag: long, 'content-type': long, 'last-modified': long }, body: rules },
      ],
    });
    const rest = { cacheControl: 'max-age=60, public', expires: '0', age: '7', date: fields.date };
    expect(await fetch(origin)).toMatchObject({
      headers: { ...rest, etag: '"v1"', lastModified: fields['last-modified'], contentType: 'text/plain' },
    });
    expect(await fetch(origin)).toHaveProperty('headers', rest);
  });

  it('sends what it must and nothing of the caller', async () => {
    const { origin, requests } = await site({
      '/robots.txt': { headers: { 'set-cookie': 'id=1; Path=/' }, body: rules },
    });
    await fetch(origin.replace('127', 'user:secret@127'));
    await fetch(origin);
    for (const { method, headers } of requests) {
      expect(method).toBe('GET');
      expect(headers['user-agent']).toBe(AGENT);
      expect(headers.accept).toMatch(/^text\/plain/);
      expect(headers['accept-encoding']).toBe(name.endsWith('fetch') ? 'identity' : 'gzip, deflate, br');
      for (const field of 'cookie authorization if-none-match if-modified-since referer origin'.split(' ')) {
        expect(headers).not.toHaveProperty(field);
      }
    }
    expect(requests.length).toBe(2);
  });
});

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
    const first = await site({
      '/robots.txt': { status: 301, headers: { location: issuer.url('/rules.txt') } },
    });
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
