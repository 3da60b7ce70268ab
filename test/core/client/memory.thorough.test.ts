import { afterEach, describe, expect, it, vi } from 'vitest';
import { RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { RobotsFile } from '../../../src/core/rules/file.ts';
import { usedBytes } from '../../support/garbage.ts';
import { opened } from '../../support/opened.ts';

afterEach(() => void vi.restoreAllMocks());

/** A client to which every origin answers with `body`. */
function clientFor(body: string | Uint8Array, options: RobotsClientOptions = {}): RobotsClient {
  const answer = typeof body === 'string' ? body : Uint8Array.from(body);
  return opened(
    new RobotsClient({
      agent: 'ExampleBot/1.0',
      transport: {
        fetch: async () => new Response(answer, { headers: { 'cache-control': 'max-age=86400' } }),
      },
      ...options,
    }),
  );
}

const origins = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://site${index}.example`);

const rules = (count: number): string =>
  Array.from({ length: count }, (_, index) => `Disallow: /folder-${index}/*/page\n`).join('');

const BODY = `User-agent: Named\n${rules(20)}\nUser-agent: *\n${rules(60)}`;

describe('what memory is reckoned to take', () => {
  it.each([
    ['a 404', null, { status: 404 }],
    ['a file of 50 bytes', 'User-agent: *\nDisallow: /private\nAllow: /x/y/z/abc', {}],
  ] as const)('is right within a tenth for origins that have %s', async (_, body, init) => {
    let responses = 0;
    // As servers send them: each response has strings of its own.
    const own = (text: string): string => Buffer.from(text).toString('latin1');
    const fetch = async (): Promise<Response> =>
      new Response(body, {
        ...init,
        headers: {
          'content-type': own('text/plain'),
          date: own(new Date(++responses * 1_000).toUTCString()),
        },
      });
    await clientFor('', { transport: { fetch } }).prefetch(origins(300));
    const client = clientFor('', { transport: { fetch } });
    const before = await usedBytes();
    await client.prefetch(origins(20_000));
    const ratio = client.stats().bytes / ((await usedBytes()) - before);
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  });

  it('evicts origins for rules that are compiled later', async () => {
    const maxBytes = 2 ** 20;
    const client = clientFor(BODY, { cache: { maxBytes } });
    const sites = origins(1_000);
    await client.prefetch(sites);
    const { origins: prefetched } = client.stats();
    for (const site of sites) client.peek(`${site}/a`);
    client.peek('https://other.example/');
    expect(client.stats().bytes).toBeLessThanOrEqual(maxBytes);
    expect(client.stats().origins).toBeLessThan(prefetched);
  });
});

describe('what memory holds', () => {
  it('is no description: prefetch makes none, and one that was asked for goes', async () => {
    const described = vi.spyOn(RobotsFile.prototype, 'groups', 'get');
    const client = clientFor(BODY);
    await client.prefetch(['https://example.com/']);
    expect(described).not.toHaveBeenCalled();
    described.mockRestore();
    const groups = new WeakRef((await client.policy('https://example.com/')).groups);
    await usedBytes();
    expect(groups.deref()).toBeUndefined();
  });

  it('is no URL that was asked about', async () => {
    const client = clientFor('');
    const query = 'x'.repeat(15_000);
    const before = await usedBytes();
    for (const site of origins(500)) await client.canFetch(Buffer.from(`${site}/?${query}`).toString());
    expect((await usedBytes()) - before).toBeLessThan(500 * 5_000);
  });
});
