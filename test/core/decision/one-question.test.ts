import { afterEach, describe, expect, it, vi } from 'vitest';
import { guardFetch, type RobotsClient } from '../../../src/index.ts';
import { LocatedUrl } from '../../../src/core/url/index.ts';
import { openedClient } from '../../support/opened.ts';

/** A client of a web whose robots.txt all disallow `/private`, and how many of them were fetched. */
function client(): { readonly robots: RobotsClient; readonly fetched: string[] } {
  const fetched: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    fetched.push(url);
    return new Response('User-agent: *\nDisallow: /private\n');
  };
  return { robots: openedClient({ transport: { fetch } }).robots, fetched };
}

afterEach(() => void vi.restoreAllMocks());

describe('a question', () => {
  it.each([
    // A cold `canFetch` reads it for `permits`, too, which must not leave its URL to what waits.
    ['canFetch', [2, 1, 2]],
    ['check', [1, 1, 1]],
  ] as const)('%s reads its URL once when it is warm', async (method, times) => {
    const { robots, fetched } = client();
    const read = vi.spyOn(LocatedUrl.prototype, 'read');
    const urls = ['https://example.com/private', 'https://example.com/ä', 'https://other.example/ö'];
    const counts = [];
    for (const url of urls) {
      read.mockClear();
      await robots[method](url);
      counts.push(read.mock.calls.filter(([input]) => input === url).length);
    }
    expect(counts).toEqual(times);
    expect(fetched).toHaveLength(2);
  });

  it('keeps its own URL while it waits and others are checked', async () => {
    const { robots } = client();
    const late = robots.check('https://example.com/private');
    expect(robots.peek('https://other.example/a')).toBeUndefined();
    const other = robots.check('https://other.example/b');
    await expect(late).resolves.toMatchObject({ url: 'https://example.com/private', allowed: false });
    await expect(other).resolves.toMatchObject({ url: 'https://other.example/b', allowed: true });
  });
});

it('a guard asks once for each request and each redirect', async () => {
  const { robots, fetched } = client();
  const others = (['check', 'peek', 'permits', 'canFetch'] as const).map((name) => vi.spyOn(robots, name));
  const page = async (url: string | URL | Request): Promise<Response> =>
    String(url).endsWith('/moved')
      ? new Response(null, { status: 302, headers: { location: '/page' } })
      : new Response('page');
  const guarded = guardFetch(page, robots);
  for (const path of ['a', 'b', 'moved']) await guarded(`https://example.com/${path}`);
  await expect(guarded('https://example.com/private')).rejects.toMatchObject({
    code: 'ERR_ROBOTS_DISALLOWED',
  });
  expect(robots.stats()).toMatchObject({ hits: 4, misses: 1 });
  for (const other of others) expect(other).not.toHaveBeenCalled();
  expect(fetched).toHaveLength(1);
});
