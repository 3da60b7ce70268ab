import { describe, expect, it } from 'vitest';
import { context, PROFILE, TRANSPORTS } from './context.ts';

const to = (location: string, status = 302): { status: number; headers: { location: string } } => ({
  status,
  headers: { location },
});
const RULES = { body: 'User-agent: *\nDisallow: /\n' };

describe.each(TRANSPORTS)('redirects over %s', (_name, make) => {
  const { site, fetch } = context(make());

  it('stops at a loop at once', async () => {
    const loop = await site({ '/robots.txt': to('/a'), '/a': to('/robots.txt#again') });
    expect(await fetch(loop.origin)).toMatchObject({ kind: 'unavailable', reason: 'redirect-loop', hops: 1 });
    expect(loop.requests.length).toBe(2);
    const self = await site({ '/robots.txt': to('') });
    expect(await fetch(self.origin)).toMatchObject({ error: 'ERR_ROBOTS_REDIRECT_LOCATION' });
    const outcome = await fetch(loop.origin, { profile: { ...PROFILE, tooManyRedirects: 'unreachable' } });
    expect(outcome).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_REDIRECT_LOOP' });
  });

  it('drops userinfo and fragment, reads relative and protocol-relative references, dot segments and UTF-8', async () => {
    const { origin, requests } = await site((request, response) => {
      const next: Record<string, string> = {
        '/robots.txt': `http://user:secret@${request.headers.host}/a#top`,
        '/a': `//${request.headers.host}/b/c`,
        '/b/c': 'd?q=1',
        '/b/d?q=1': Buffer.from('/e/.cfg/../ö').toString('latin1'),
      };
      const location = next[request.url ?? ''];
      if (location === undefined) response.end(RULES.body);
      else response.writeHead(302, { location }).end();
    });
    const outcome = await fetch(origin);
    expect(outcome).toMatchObject({ kind: 'success', hops: 4, finalUrl: `${origin}/e/%C3%B6` });
    expect(requests.map(({ url }) => url)).toEqual(['/robots.txt', '/a', '/b/c', '/b/d?q=1', '/e/%C3%B6']);
    expect(requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });
});
