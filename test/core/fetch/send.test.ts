import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { LightAbortController } from '../../../src/core/base/index.ts';
import { StaleSocketRetry } from '../../../src/core/fetch/stale-socket-retry.ts';
import { OWN_REQUEST } from '../../../src/core/fetch/transport.ts';

/** The options that a dispatcher is called with. */
async function sent(url: string) {
  let options: (Dispatcher.RequestOptions & { readonly maxRedirections?: number }) | undefined;
  const dispatcher = {
    request: async (given: Dispatcher.RequestOptions) => {
      options = given;
    },
  } as unknown as Dispatcher;
  const signal = new LightAbortController();
  const init = { headers: { accept: 'text/plain' }, signal, publicOnly: false };
  await new StaleSocketRetry().send(dispatcher, new URL(url), init);
  return { options: options!, signal };
}

describe('a request over undici', () => {
  it('has the path and the query of the URL, and no fragment', async () => {
    const { options, signal } = await sent('https://example.com:8080/robots.txt?a=b#c');
    expect(options).toMatchObject({
      origin: 'https://example.com:8080',
      path: '/robots.txt?a=b',
      method: 'GET',
      headers: { accept: 'text/plain' },
    });
    expect(options.signal).toBe(signal);
  });

  it('is marked as our own, and follows no redirect', async () => {
    const { options } = await sent('https://example.com/robots.txt');
    expect(Reflect.get(options, OWN_REQUEST)).toBe(true);
    expect(options.maxRedirections).toBe(0);
  });

  it('takes 32 interim responses, and no more', async () => {
    const { options } = await sent('https://example.com/robots.txt');
    const interim = (): void => options.onInfo?.({ statusCode: 103, headers: {} });
    for (let count = 0; count < 32; count++) interim();
    expect(interim).toThrow(expect.objectContaining({ code: 'ERR_ROBOTS_MALFORMED' }));
  });
});
