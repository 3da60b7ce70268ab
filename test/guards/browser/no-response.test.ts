import { EventEmitter } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { guardContext } from '../../../src/guards/browser/playwright.ts';
import { RobotsClient } from '../../../src/index.ts';

/** A session of a browser in which `one` and `two` are the main frames of two pages. */
class BrowserSession extends EventEmitter {
  readonly continued: (string | undefined)[] = [];

  send = (method: string, parameters: { readonly requestId?: string } = {}): Promise<unknown> => {
    if (method === 'Fetch.continueRequest') this.continued.push(parameters.requestId);
    if (method === 'Target.createTarget') return Promise.reject(new Error('no page of settings'));
    const targetInfos = ['one', 'two'].map((targetId) => ({
      targetId,
      type: 'page',
      browserContextId: 'all',
    }));
    return Promise.resolve({ targetInfos });
  };
  detach = (): Promise<void> => Promise.resolve();

  /** A navigation begins in the frame, or responds. */
  pause(frameId: string, response: object = {}): void {
    const request = { url: `https://example.com/${frameId}`, headers: {} };
    const paused = { requestId: frameId, frameId, request, resourceType: 'Document', ...response };
    this.emit('Fetch.requestPaused', paused);
  }
}

afterEach(() => void vi.useRealTimers());

/** Resolves when the request has been continued. Modules are loaded in real time. */
async function isContinued(session: BrowserSession, requestId: string): Promise<void> {
  while (!session.continued.includes(requestId)) await new Promise((resolve) => void setImmediate(resolve));
}

it.each([
  ['does not come', undefined],
  ['begins and does not end', { responseStatusCode: 200 }],
])('a document that %s frees its permit after 30 seconds, while its page stays open', async (_, response) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const session = new BrowserSession();
  const context = Object.assign(new EventEmitter(), {
    browser: () => ({ contexts: () => [context], newBrowserCDPSession: () => Promise.resolve(session) }),
    pages: () => [],
    serviceWorkers: () => [],
    addInitScript: () => Promise.resolve(),
    newCDPSession: () => Promise.resolve(session),
  });
  const fetch = (): Promise<Response> => Promise.resolve(new Response(''));
  await using robots = new RobotsClient({ agent: 'ExampleBot', transport: { fetch } });
  await guardContext(context as never, robots, { pacing: { defaultDelayMs: 0 } });
  session.pause('one');
  await isContinued(session, 'one');
  if (response !== undefined) session.pause('one', response);
  session.pause('two');
  await vi.advanceTimersByTimeAsync(29_000);
  expect(session.continued).not.toContain('two');
  await vi.advanceTimersByTimeAsync(1_010);
  await isContinued(session, 'two');
});
