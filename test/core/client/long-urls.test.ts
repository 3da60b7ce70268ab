import { describe, expect, it } from 'vitest';
import { guardFetch } from '../../../src/index.ts';
import { parseRobots } from '../../../src/core/rules/index.ts';
import { openedClient } from '../../support/opened.ts';

const TOO_LONG = `https://example.com/${'a'.repeat(65_536)}`;
const refused = expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' });

describe('a URL of more than 65,536 bytes', () => {
  it('is refused by every question, and nothing is fetched for it', async () => {
    const fetched: string[] = [];
    const { robots: client } = openedClient({
      transport: {
        fetch: (url) => {
          fetched.push(url);
          return Promise.resolve(new Response('User-agent: *\nDisallow: /*a*b*c'));
        },
      },
    });
    for (const url of [TOO_LONG, new URL(TOO_LONG)]) {
      await expect(client.canFetch(url)).rejects.toEqual(refused);
      await expect(client.check(url)).rejects.toEqual(refused);
      await expect(client.policy(url)).rejects.toEqual(refused);
      await expect(client.reserve(url)).rejects.toEqual(refused);
      await expect(client.invalidate(url)).rejects.toEqual(refused);
      expect(() => client.peek(url)).toThrow(refused);
      expect(() => client.permits(url)).toThrow(refused);
      expect(() => client.report(url, { reachable: true })).toThrow(refused);
    }
    expect(await client.prefetch([TOO_LONG])).toMatchObject({ origins: 0, invalidCount: 1 });
    const page = (url: unknown): Promise<Response> => {
      fetched.push(String(url));
      return Promise.resolve(new Response());
    };
    await expect(guardFetch(page, client)(TOO_LONG)).rejects.toEqual(refused);
    expect(fetched).toEqual([]);
  });

  it('is refused by a file alone', () => {
    expect(() => parseRobots('User-agent: *\nDisallow: /').check(TOO_LONG, 'ExampleBot')).toThrow(refused);
  });
});
