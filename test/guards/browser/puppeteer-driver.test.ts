import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { PuppeteerDriver } from '../../../src/guards/browser/puppeteer-driver.ts';

/** A session that answers every command, and has one of a page. */
class FakeSession extends EventEmitter {
  readonly page: FakeSession | undefined;

  constructor(page?: FakeSession) {
    super();
    this.page = page;
  }

  send = (): Promise<unknown> => Promise.resolve({});
  detach = (): Promise<void> => Promise.resolve();
  connection = () => ({ session: (): FakeSession | null => this.page ?? null });
}

it('tells when requests end, until the listener is removed', async () => {
  const page = new FakeSession();
  const session = new FakeSession(page);
  const context = { browser: () => browser, targets: () => [] };
  const browser = {
    browserContexts: () => [context],
    defaultBrowserContext: () => context,
    target: () => ({ createCDPSession: () => Promise.resolve(session) }),
    once: () => undefined,
  };
  const driver = await PuppeteerDriver.open(browser);
  session.emit('Target.attachedToTarget', { sessionId: '1', targetInfo: { type: 'page' } });
  const [removed, kept]: [string[], string[]] = [[], []];
  const remove = driver.onRequest(context, (event, id) => void removed.push(`${event} ${id}`));
  driver.onRequest(context, (event, id) => void kept.push(`${event} ${id}`));
  page.emit('Network.loadingFailed', { requestId: 'a' });
  remove();
  page.emit('Network.loadingFinished', { requestId: 'b' });
  expect([removed, kept]).toEqual([['failed a'], ['failed a', 'finished b']]);
});
