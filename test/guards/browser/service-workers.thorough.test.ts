import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import { guardContext } from '../../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../../src/guards/browser/puppeteer.ts';
import { chromiumOptions, describeWithChromium, launchPuppeteer } from '../../support/chromium.ts';
import { opened } from '../../support/opened.ts';
import { answer, type Site } from '../../support/site.ts';
import { scriptedClient, site } from '../support.ts';
import { guardedPage, inBothBrowsers, type OpenContext } from './contexts.ts';

// As on a page that has got hold of `register` before the init script has run, such as by a popup.
vi.mock('../../../src/guards/browser/init-script.ts', () => ({ INIT_SCRIPT: '' }));

/** Responds to navigations with what the browser loads while the worker starts. */
const WORKER = `
  addEventListener('activate', (event) =>
    event.waitUntil(registration.navigationPreload.enable().then(() => clients.claim())));
  addEventListener('fetch', (event) => event.respondWith(event.preloadResponse));
`;

/** `register` in the browser, which fulfils a promise with what becomes of it. */
const register = (options = '{}'): string =>
  `navigator.serviceWorker.register('/worker.js', ${options}).then(() => 'registered', ({ name }) => name)`;

async function siteWithWorker(): Promise<Site & { readonly page: string; readonly disallowed: string }> {
  const server = await site(({ url }, response) => {
    const isWorker = url === '/worker.js';
    const headers = { 'content-type': isWorker ? 'text/javascript' : 'text/html' };
    answer(response, { headers, body: isWorker ? WORKER : '<title>a page</title>' });
  });
  // Service workers need HTTPS, or this name.
  const at = (path: string): string => server.url(path).replace('127.0.0.1', 'localhost');
  return Object.assign(server, { page: at('/page'), disallowed: at('/private') });
}

function serviceWorkers(open: OpenContext): void {
  it.each([
    ['a script', register()],
    ['a module', register("{ type: 'module' }")],
    [
      'a frame',
      `(async () => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.src = '/framed';
      await new Promise((resolve) => (frame.onload = resolve));
      return frame.contentWindow.${register()};
    })()`,
    ],
    [
      'a script that the browser has cached',
      `fetch('/worker.js', { cache: 'force-cache' }).then(() => ${register("{ updateViaCache: 'all' }")})`,
    ],
  ])('%s cannot be registered', async (_name, script) => {
    const server = await siteWithWorker();
    const { page, guard } = await guardedPage(open);
    await page.goto(server.page);
    expect(await page.evaluate(script)).toBe('TypeError');
    await expect(page.goto(server.disallowed)).rejects.toThrow('ERR_BLOCKED_BY_CLIENT');
    expect(await guard.errorOf(page)).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    expect(server.requests.map(({ url }) => url)).not.toContain('/private');
    expect(server.requests.filter(({ headers }) => headers['service-worker'] === 'script')).toEqual([]);
  });
}

inBothBrowsers('a service worker of a guarded page', serviceWorkers, 'whole');

describeWithChromium('service workers that a profile already has', () => {
  it('are passed by in Puppeteer, by pages that are open, new ones, and popups', async () => {
    const server = await siteWithWorker();
    const browser = await launchPuppeteer(chromiumOptions('whole'));
    opened({ [Symbol.asyncDispose]: () => browser.close() });
    const context = browser.defaultBrowserContext();
    const page = await browser.newPage();
    await page.goto(server.page);
    expect(await page.evaluate(register())).toBe('registered');
    await page.evaluate('navigator.serviceWorker.ready');
    const refused: string[] = [];
    await guardPuppeteer(context, scriptedClient(), { onRefusal: ({ url }) => void refused.push(url) });
    const pages = [page, await browser.newPage()];
    for (const each of pages)
      await expect(each.goto(server.disallowed)).rejects.toThrow('ERR_BLOCKED_BY_CLIENT');
    await page.goto(server.page);
    await page.evaluate(`void open('/private/popup')`);
    await expect.poll(() => refused).toHaveLength(3);
    expect(server.requests.filter(({ url }) => url.startsWith('/private'))).toEqual([]);
  });

  it('are a reason to refuse the context in Playwright, also when they do not run', async () => {
    const server = await siteWithWorker();
    const profile = await mkdtemp(join(tmpdir(), 'canfetch-'));
    opened({ [Symbol.asyncDispose]: () => rm(profile, { recursive: true, maxRetries: 5 }) });
    const launch = async (): Promise<BrowserContext> =>
      chromium.launchPersistentContext(profile, chromiumOptions('whole'));
    const first = await launch();
    const page = await first.newPage();
    await page.goto(server.page);
    expect(await page.evaluate(register())).toBe('registered');
    await first.close();
    const second = opened(await launch());
    expect(second.serviceWorkers()).toEqual([]);
    await expect(guardContext(second, scriptedClient())).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining(`got ${new URL('/', server.page).href}: `),
    });
  });
});
