import { invalid } from '../../core/base/index.ts';
import { askOnce, requestsByBrowser, targetOf } from './browser-requests.ts';
import { type BrowserContextGuard, guardWith, type GuardContextOptions } from './context-guard.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import {
  type BrowserContextLike,
  type BrowserLike,
  type PageLike,
  PuppeteerDriver,
} from './puppeteer-driver.ts';

export type { BrowserContextGuard, GuardContextOptions } from './context-guard.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../shared/options.ts';
export type { BrowserContextLike, BrowserLike, PageLike } from './puppeteer-driver.ts';

/** The guard of a browser context of Puppeteer. */
export type ContextGuard = BrowserContextGuard<PageLike>;

/**
 * Guards a browser context of Puppeteer with Chromium: `browser.defaultBrowserContext()`, or one that
 * `browser.createBrowserContext()` made. Each navigation of its pages, popups and frames, and each redirect, is checked
 * against the robots.txt of its own origin before it is sent. `subresources: true` also checks what pages load.
 *
 * A refused navigation is aborted: `page.goto` rejects with `net::ERR_BLOCKED_BY_CLIENT`, and `errorOf` returns
 * the reason. Requests are paused, never repeated, so cookies, `page.url()` and the history stay as the browser makes
 * them. Interceptors of pages (`page.setRequestInterception`) run before the guard, which sees the request
 * that they continue. What they respond to themselves is not checked.
 *
 * With `pacing` a page holds a permit until its document has loaded, at most 30 s without a response; frames and
 * subresources need none. A navigation waits for its permit within its own timeout, so set `maxDelayMs` below that.
 *
 * Service workers are bypassed, and can no longer be registered in the context. Speculation rules are removed, because
 * their requests cannot be paused. The guide lists what is not held. Guard the context before it loads pages: of pages that are already open, only navigations are certain
 * to be checked.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the browser is Firefox, or controlled by WebDriver
 *   BiDi, where redirects cannot be seen.
 *
 * @example
 * ```ts
 * import puppeteer from 'puppeteer';
 * import { RobotsClient } from 'canfetch';
 * import { guardContext } from 'canfetch/puppeteer';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const browser = await puppeteer.launch();
 * const guard = await guardContext(browser.defaultBrowserContext(), robots);
 * const page = await browser.newPage();
 * await page.goto('https://example.com/private').catch(() => undefined);
 * await guard.errorOf(page); // RobotsDisallowedError
 * ```
 */
export async function guardContext(
  context: BrowserContextLike,
  client: RobotsClient,
  options: GuardContextOptions = {},
): Promise<ContextGuard> {
  const browser = browserOf(context);
  return guardWith(client, options, async () => {
    const requests = await requestsOf(browser);
    const { driver } = requests;
    return {
      context,
      requests,
      prepare: (userAgent) => driver.guard(context, userAgent),
      // Puppeteer has no event for a context that closes. The driver notices it when another context is guarded.
      onceClosed: (listener) => void browser.once('disconnected', listener),
      onNavigation: (listener) =>
        driver.onRequest(context, (event, id) => listener(event, ({ networkId }) => networkId === id)),
      mainFrameOf: async (page) => (await askOnce(page.createCDPSession(), targetOf))?.targetId,
    };
  });
}

const requestsOf = requestsByBrowser(PuppeteerDriver.open);

function browserOf(context: unknown): BrowserLike {
  const given = Object(context);
  const isContext = ['browser', 'targets', 'newPage'].every(
    (name) => typeof Reflect.get(given, name) === 'function',
  );
  if (!isContext) throw invalid('the context', 'a BrowserContext of Puppeteer', context);
  return (context as BrowserContextLike).browser();
}
