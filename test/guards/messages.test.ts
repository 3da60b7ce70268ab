import { expect, it } from 'vitest';
import { guardHttpClient } from '../../src/guards/crawlee/http-client.ts';
import { Guard } from '../../src/guards/shared/guard.ts';
import type { HttpResponse } from '../../src/guards/crawlee/types.ts';
import { readCall } from '../../src/guards/fetch/request.ts';
import { guardFetch } from '../../src/index.ts';
import { scriptedClient } from './support.ts';

const GIVEN = 'https://user:word@site.example/page';

it('an error about a URL that cannot be parsed has no password', async () => {
  const guarded = guardFetch(fetch, scriptedClient());
  const error: unknown = await guarded('https://user:word@:99999/').catch((reason) => reason);
  expect(String(error)).toContain('Failed to parse URL');
  expect(String(error)).not.toContain('word');
  expect(readCall(GIVEN, undefined).url).toBe(GIVEN);
});

it('an error about a fetch that follows redirects has no password', async () => {
  const following = (async () => ({
    ...{ status: 200, url: GIVEN, redirected: true, headers: new Headers(), body: null },
    clone: () => undefined,
  })) as unknown as typeof fetch;
  const error: unknown = await guardFetch(following, scriptedClient())(GIVEN).catch((reason) => reason);
  expect(String(error)).toMatch(/a redirect of https:\/\/site\.example\/page unchecked/);
});

it.each([
  ['that follows redirects', 0, /followed one from https:\/\/site\.example\/page/],
  ['that is redirected too often', 302, /another one from https:\/\/site\.example\/page/],
])('an error about an HTTP client of Crawlee %s has no password', async (_, statusCode, message) => {
  const headers = { location: '/page' };
  const response = {
    statusCode,
    headers,
    url: GIVEN,
    redirectUrls: statusCode === 0 ? [new URL(GIVEN)] : [],
  } as unknown as HttpResponse;
  const guard = new Guard(scriptedClient(), {});
  const client = guardHttpClient(
    { sendRequest: async () => response, stream: async () => response } as never,
    () => ({ guard, because: undefined }),
  );
  await expect(client.sendRequest({ url: GIVEN, maxRedirects: 0 })).rejects.toThrow(message);
});
