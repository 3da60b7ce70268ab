import { describe, expect, it } from 'vitest';
import { context, DECODED, UNDECODED } from './context.ts';
import { movedTo } from '../../support/site.ts';

const RULES = { body: 'User-agent: *\nDisallow: /\n' };

/** The hops and fields that outcomes of every kind have. */
describe.each([UNDECODED[0]!, DECODED[0]!])(
  'the redirects and fields of an attempt over %s',
  (_name, make) => {
    const { site, fetch } = context(make());

    it('include a Location that was not followed', async () => {
      const { origin } = await site({ '/robots.txt': movedTo('gopher://x/') });
      const outcome = await fetch(origin);
      expect(outcome).toMatchObject({
        kind: 'unreachable',
        status: 302,
        headers: { location: 'gopher://x/' },
      });
      expect(outcome).not.toHaveProperty('redirects');
    });

    it('include the fields that explain a failure', async () => {
      const headers = { 'retry-after': 'soon', date: 'Mon, 01 Jun 2026 00:00:00 GMT', 'x-other': 'y' };
      const { origin } = await site({ '/robots.txt': { status: 503, headers } });
      expect(await fetch(origin)).toMatchObject({ headers: { retryAfter: 'soon', date: headers.date } });
    });

    it('are those of the last hop when its body never ends', async () => {
      const slow = await site((_, response) => {
        response.writeHead(200, { etag: '"slow"' }).write('User-agent: *\n');
      });
      const { origin } = await site({
        '/robots.txt': { status: 302, headers: { location: slow.url('/'), etag: '"before"' } },
      });
      expect(await fetch(origin, { deadlineMs: 2_000 })).toMatchObject({
        error: 'ERR_ROBOTS_DEADLINE',
        headers: { etag: '"slow"' },
      });
    });

    it('are bounded in size', async () => {
      const long = `/${'x'.repeat(4_000)}`;
      const { origin } = await site({
        '/robots.txt': movedTo(long),
        [long]: { ...RULES, headers: { etag: `"${'y'.repeat(4_000)}"` } },
      });
      const outcome = await fetch(origin);
      expect(outcome).toMatchObject({ kind: 'success', finalUrl: origin + long });
      expect(outcome.redirects?.[0]?.location).toBe(`${long.slice(0, 1_024)}…`);
      expect(outcome.headers).not.toHaveProperty('etag');
    });
  },
);
