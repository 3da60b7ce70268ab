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

it('tells of failed navigations until the listener is removed', async () => {
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
  const remove = driver.onNavigationFailure(context, (id) => void removed.push(id));
  driver.onNavigationFailure(context, (id) => void kept.push(id));
  page.emit('Network.loadingFailed', { requestId: 'a', type: 'Document' });
  remove();
  page.emit('Network.loadingFailed', { requestId: 'b', type: 'Document' });
  expect([removed, kept]).toEqual([['a'], ['a', 'b']]);
});
