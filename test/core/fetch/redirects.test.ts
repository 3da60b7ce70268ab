import { describe, expect, it } from 'vitest';
import { context, bodyOf, PROFILE, TRANSPORTS } from './context.ts';

const to = (location: string, status = 302): { status: number; headers: { location: string } } => ({
  status,
  headers: { location },
});
const RULES = { body: 'User-agent: *\nDisallow: /\n' };

describe.each(TRANSPORTS)('redirects over %s', (_name, make) => {
  const { site, fetch } = context(make());

  /** n redirects that change between two authorities, then rules. */
  async function chain(redirects: number): Promise<{ origin: string; count(): number }> {
    const other = await site((request, response) => step(request.url ?? '', response));
    const first = await site((request, response) => step(request.url ?? '', response));
    const step = (path: string, response: import('node:http').ServerResponse): void => {
      const done = path === '/robots.txt' ? 0 : Number(path.slice(2));
      if (done === redirects) {
        response.end(RULES.body);
        return;
      }
      const authority = done % 2 === 0 ? other : first;
      response.writeHead(301, { location: authority.url(`/r${done + 1}`) }).end('moved');
    };
    return { origin: first.origin, count: () => first.requests.length + other.requests.length };
  }

  it('follows five across authorities', async () => {
    const { origin, count } = await chain(5);
    const outcome = await fetch(origin);
    expect(outcome).toMatchObject({
      kind: 'success',
      hops: 5,
      status: 200,
      finalUrl: expect.stringMatching(/\/r5$/),
    });
    expect(bodyOf(outcome)).toBe(RULES.body);
    expect(count()).toBe(6);
  });

  it('takes the sixth for unavailable, or unreachable if the profile says so', async () => {
    const { origin, count } = await chain(6);
    expect(await fetch(origin)).toMatchObject({
      kind: 'unavailable',
      reason: 'too-many-redirects',
      status: 301,
      hops: 5,
    });
    expect(count()).toBe(6);
    const outcome = await fetch(origin, { profile: { ...PROFILE, tooManyRedirects: 'unreachable' } });
    expect(outcome).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_REDIRECT_LIMIT', status: 301 });
  });

  it('stops at a loop at once', async () => {
    const loop = await site({ '/robots.txt': to('/a'), '/a': to('/robots.txt#again') });
    expect(await fetch(loop.origin)).toMatchObject({ kind: 'unavailable', reason: 'redirect-loop', hops: 1 });
    expect(loop.requests.length).toBe(2);
    const self = await site({ '/robots.txt': to('') });
    expect(await fetch(self.origin)).toMatchObject({ error: 'ERR_ROBOTS_REDIRECT_LOCATION' });
    const outcome = await fetch(loop.origin, { profile: { ...PROFILE, tooManyRedirects: 'unreachable' } });
    expect(outcome).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_REDIRECT_LOOP' });
  });

  it.each([301, 302, 303, 307, 308])('follows %i', async (status) => {
    const { origin, requests } = await site({ '/robots.txt': to('/moved', status), '/moved': RULES });
    expect(await fetch(origin)).toMatchObject({ kind: 'success', hops: 1 });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /robots.txt', 'GET /moved']);
  });

  it.each([300, 305, 306, 310, 399])('does not follow %i', async (status) => {
    const { origin, requests } = await site({ '/robots.txt': to('/moved', status), '/moved': RULES });
    expect(await fetch(origin)).toMatchObject({
      kind: 'unreachable',
      error: 'ERR_ROBOTS_STATUS',
      status,
      hops: 0,
    });
    expect(requests.length).toBe(1);
  });

  it('drops userinfo and fragment, reads relative and protocol-relative references and UTF-8', async () => {
    const { origin, requests } = await site((request, response) => {
      const next: Record<string, string> = {
        '/robots.txt': `http://user:secret@${request.headers.host}/a#top`,
        '/a': `//${request.headers.host}/b/c`,
        '/b/c': 'd?q=1',
        '/b/d?q=1': Buffer.from('/ö').toString('latin1'),
      };
      const location = next[request.url ?? ''];
      if (location === undefined) response.end(RULES.body);
      else response.writeHead(302, { location }).end();
    });
    const outcome = await fetch(origin);
    expect(outcome).toMatchObject({ kind: 'success', hops: 4, finalUrl: `${origin}/%C3%B6` });
    expect(requests.map(({ url }) => url)).toEqual(['/robots.txt', '/a', '/b/c', '/b/d?q=1', '/%C3%B6']);
    expect(requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  it('asks about a disallowed hop only under a profile that cares', async () => {
    const { origin, requests, url } = await site({ '/robots.txt': to('/private'), '/private': RULES });
    const asked: string[] = [];
    const isRedirectDisallowed = (hop: string): boolean => asked.push(hop) > 0;
    expect(await fetch(origin, { isRedirectDisallowed })).toMatchObject({ kind: 'success' });
    expect(asked).toEqual([]);
    const profile = { ...PROFILE, disallowedRedirect: 'unavailable' } as const;
    const outcome = await fetch(origin, { profile, isRedirectDisallowed });
    expect(outcome).toMatchObject({
      kind: 'unavailable',
      reason: 'disallowed-redirect',
      hops: 0,
      status: 302,
    });
    expect(asked).toEqual([url('/private')]);
    expect(requests.length).toBe(3);
    expect(await fetch(origin, { profile, isRedirectDisallowed: () => false })).toMatchObject({
      kind: 'success',
    });
  });
});
