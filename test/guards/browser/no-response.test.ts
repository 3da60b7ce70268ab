import { EventEmitter } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { type ContextGuard, guardContext } from '../../../src/guards/browser/playwright.ts';
import { type PacingOptions, RobotsClient } from '../../../src/index.ts';

/** A session of a browser in which `one` and `two` are the main frames of two pages. */
class BrowserSession extends EventEmitter {
  readonly continued: (string | undefined)[] = [];

  send = (method: string, parameters: { readonly requestId?: string } = {}): Promise<unknown> => {
    if (method === 'Fetch.continueRequest') this.continued.push(parameters.requestId);
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
    const paused = {
      requestId: frameId,
      networkId: frameId,
      frameId,
      request,
      resourceType: 'Document',
      ...response,
    };
    this.emit('Fetch.requestPaused', paused);
  }
}

afterEach(() => void vi.useRealTimers());

/** Resolves when the request has been continued. Modules are loaded in real time. */
async function isContinued(session: BrowserSession, requestId: string): Promise<void> {
  while (!session.continued.includes(requestId)) await new Promise((resolve) => void setImmediate(resolve));
}

interface Guarded extends AsyncDisposable {
  /** The error of the page whose main frame is `two`. */
  errorOfTwo(): Promise<unknown>;
  readonly context: EventEmitter;
  readonly session: BrowserSession;
  /** The session of a page. */
  readonly network: EventEmitter;
}

/** A guarded context with a page, in fake time. A pause of the process counts as time, too: gaps are seconds. */
async function guarded(pacing: PacingOptions): Promise<Guarded> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const session = new BrowserSession();
  const network = Object.assign(new EventEmitter(), {
    send: () => Promise.resolve({ targetInfo: { targetId: 'two' } }),
    detach: () => Promise.resolve(),
  });
  const page = Object.assign(new EventEmitter(), { context: () => context, frames: () => [] });
  const context: EventEmitter = Object.assign(new EventEmitter(), {
    browser: () => ({ contexts: () => [context], newBrowserCDPSession: () => Promise.resolve(session) }),
    pages: () => [],
    serviceWorkers: () => [],
    addInitScript: () => Promise.resolve(),
    newCDPSession: () => Promise.resolve(network),
  });
  const fetch = (): Promise<Response> => Promise.resolve(new Response(''));
  const robots = new RobotsClient({ agent: 'ExampleBot', transport: { fetch } });
  const guard: ContextGuard = await guardContext(context as never, robots, { pacing });
  context.emit('page', page);
  const errorOfTwo = (): Promise<unknown> => guard.errorOf(page as never);
  return { context, session, network, errorOfTwo, [Symbol.asyncDispose]: () => robots.close() };
}

it.each([
  ['does not come', undefined],
  ['begins and does not end', { responseStatusCode: 200 }],
])('a document that %s frees its permit after 30 seconds, while its page stays open', async (_, response) => {
  await using guard = await guarded({ defaultDelayMs: 0 });
  const { session } = guard;
  session.pause('one');
  await isContinued(session, 'one');
  if (response !== undefined) session.pause('one', response);
  session.pause('two');
  await vi.advanceTimersByTimeAsync(28_000);
  expect(session.continued).not.toContain('two');
  await vi.advanceTimersByTimeAsync(2_010);
  await isContinued(session, 'two');
});

it.each([204, 205])(
  'a document without content frees its permit at its header (%i)',
  async (responseStatusCode) => {
    await using guard = await guarded({ defaultDelayMs: 0 });
    const { session } = guard;
    session.pause('one');
    await isContinued(session, 'one');
    session.pause('two');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(session.continued).not.toContain('two');
    session.pause('one', { responseStatusCode });
    await vi.advanceTimersByTimeAsync(10);
    await isContinued(session, 'two');
  },
);

it('a navigation that times out while it waits for its permit says what it waits for', async () => {
  await using guard = await guarded({ defaultDelayMs: 60_000 });
  const { session } = guard;
  session.pause('one');
  await vi.advanceTimersByTimeAsync(60_100);
  await isContinued(session, 'one');
  session.pause('one', { responseStatusCode: 204 });
  session.pause('two');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await guard.errorOfTwo()).toMatchObject({
    code: 'ERR_ROBOTS_DEFERRED',
    delayFrom: 'default-delay',
    message: expect.stringContaining('set `maxDelayMs` below that'),
  });
  await vi.advanceTimersByTimeAsync(31_000);
  await isContinued(session, 'two');
  expect(await guard.errorOfTwo()).toBeUndefined();
});
