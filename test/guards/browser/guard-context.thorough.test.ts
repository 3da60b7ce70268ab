import { connect } from 'puppeteer';
import { describe, expect, it, vi } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../../src/guards/browser/puppeteer.ts';
import type { Decision } from '../../../src/index.ts';
import { describeWithChromium, launchChromium, launchPuppeteer } from '../../support/chromium.ts';
import { eventually } from '../../support/eventually.ts';
import { Moment } from '../../support/moment.ts';
import { opened } from '../../support/opened.ts';
import { answer, type Site } from '../../support/site.ts';
import { decidedBy, never, scriptedClient, sentUnchecked, site as plainSite } from '../support.ts';
import {
  type GuardedContext,
  type Guarding,
  inBothBrowsers,
  type OpenContext,
  type Page,
} from './contexts.ts';

const because = 'the owner asked for a copy';

/** Redirects at `/to?<location>`, and has `pages`; those under `/private` are disallowed. */
function site(pages: Readonly<Record<string, string>> = {}): Promise<Site> {
  return plainSite(({ url = '' }, response) => {
    if (url.startsWith('/to?')) {
      const headers = { location: url.slice('/to?'.length), 'set-cookie': `via=${encodeURIComponent(url)}` };
      return answer(response, { status: 307, headers });
    }
    const type = url.endsWith('.js')
      ? 'text/javascript'
      : url.endsWith('.zip')
        ? 'application/zip'
        : 'text/html';
    answer(response, { headers: { 'content-type': type }, body: pages[url] ?? `<title>page ${url}</title>` });
  });
}

/** What was requested of a site, but for its icon. */
const pagesOf = ({ requests }: Site): string[] =>
  requests.map(({ method, url }) => `${method} ${url}`).filter((line) => !line.endsWith('/favicon.ico'));

async function isBlocked(pending: Promise<unknown>): Promise<void> {
  await expect(pending).rejects.toThrow('net::ERR_BLOCKED_BY_CLIENT');
}

/** Goes to a blocked page, and waits for Chromium's error page. */
async function goAstray(page: Page, url: string): Promise<void> {
  await isBlocked(page.goto(url));
  await eventually(() => expect(page.url()).toBe('chrome-error://chromewebdata/'));
}

function guardedContexts(open: OpenContext): void {
  async function guarded(
    options: GuardContextOptions = {},
    robots = scriptedClient(),
  ): Promise<{ context: GuardedContext; decided: string[]; guard: Guarding }> {
    const decided = decidedBy(robots);
    const context = await open(robots, [options]);
    opened({ [Symbol.asyncDispose]: () => context.close() });
    return { context, decided, guard: context.guards[0]! };
  }

  it('follows redirects as the browser does: URL, history, cookies and relative links are right', async () => {
    const server = await site({ '/dir/page': '<a href="next">next</a>' });
    const { context } = await guarded();
    const page = await context.newPage();
    await page.goto(server.url('/first'));
    await page.goto(server.url('/to?/to?/dir/page'));
    expect(page.url()).toBe(server.url('/dir/page'));
    expect(await context.cookies()).toMatchObject([
      { name: 'via', value: encodeURIComponent('/to?/dir/page') },
    ]);
    await page.click('a');
    await eventually(() => expect(page.url()).toBe(server.url('/dir/next')));
    const next = server.requests.find(({ url }) => url === '/dir/next');
    expect(next?.headers).toMatchObject({ referer: server.url('/dir/page') });
    await page.goBack();
    await page.goBack();
    expect(page.url()).toBe(server.url('/first'));
  });

  it('blocks a navigation, returns the reason, and forgets it at the next', async () => {
    const server = await site();
    const onRefusal = vi.fn();
    const { context, guard } = await guarded({ onRefusal });
    const page = await context.newPage();
    await goAstray(page, server.url('/private'));
    const decision = { url: server.url('/private') };
    expect(await guard.errorOf(page)).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED', decision });
    await page.goto(server.url('/page'));
    expect(await guard.errorOf(page)).toBeUndefined();
    expect(onRefusal).toHaveBeenCalledOnce();
    expect(pagesOf(server)).toEqual(['GET /page']);
  });

  it('blocks what a click, a form or a download leads to, with its redirects', async () => {
    const body = `<a href="/to?/private">go</a><p><a href="/private/file.zip">file</a></p>
      <form action="/to?/private" method="post"><input type="submit"></form>`;
    const server = await site({ '/page': body });
    const refused: string[] = [];
    const { context } = await guarded({ onRefusal: ({ url }: Decision) => void refused.push(url) });
    for (const [index, selector] of ['a', 'p a', 'input'].entries()) {
      const page = await context.newPage();
      await page.goto(server.url('/page'));
      await page.click(selector);
      await eventually(() => expect(refused).toHaveLength(index + 1));
    }
    const sent = pagesOf(server).filter((line) => !line.endsWith('/page'));
    expect(sent).toEqual(['GET /to?/private', 'POST /to?/private']);
  });

  it('sees the redirects of popups, and of frames in frames of other sites', async () => {
    const server = await site({ '/inner': '<iframe src="/to?/private/3"></iframe>' });
    const elsewhere = server.origin.replace('127.0.0.1', 'localhost');
    const first = await site({
      '/page': `<script>window.open('/to?/private/1')</script><iframe src="/to?/private/2"></iframe>
        <iframe src="${elsewhere}/inner"></iframe>`,
    });
    const refused: string[] = [];
    const { context } = await guarded({ onRefusal: ({ url }: Decision) => void refused.push(url) });
    await (await context.newPage()).goto(first.url('/page'));
    await eventually(() => expect(refused).toHaveLength(3));
    expect(new Set(refused)).toEqual(
      new Set([first.url('/private/1'), first.url('/private/2'), `${elsewhere}/private/3`]),
    );
    expect([...pagesOf(first), ...pagesOf(server)].filter((line) => / \/private/.test(line))).toEqual([]);
  });

  it('leaves other contexts of the browser alone, and keeps guards of two contexts apart', async () => {
    const server = await site();
    const one = await guarded();
    const two = await guarded({ filter: ({ pathname }) => pathname !== '/private/two' });
    const free = await open(scriptedClient(), []);
    await (await free.newPage()).goto(server.url('/to?/private'));
    expect([one.decided, two.decided]).toEqual([[], []]);
    await (await two.context.newPage()).goto(server.url('/private/two'));
    await isBlocked((await one.context.newPage()).goto(server.url('/private/two')));
    expect(one.decided).toEqual([server.url('/private/two')]);
    await free.close();
  });

  it('asks about what a page loads only with `subresources`', async () => {
    const server = await site({
      '/page': `<img src="/to?/private/image"><script>
        const fetched = fetch('/to?/private/fetch').catch(() => undefined);
        const worked = new Promise((resolve) => (new Worker('/worker.js').onmessage = resolve));
        Promise.all([fetched, worked]).then(() => (document.title = 'done'));
      </script>`,
      '/worker.js': `fetch('/private/worker').catch(() => undefined).then(() => postMessage(''));`,
    });
    // Side by side, in one browser.
    const [all, navigations] = [await guarded({ subresources: true }), await guarded()];
    const loadedIn = async (context: GuardedContext): Promise<string[]> => {
      const page = await context.newPage();
      await page.goto(server.url('/page'));
      await page.waitForFunction('document.title === "done"');
      return pagesOf(server).filter((line) => line.includes(' /private'));
    };
    expect(await loadedIn(all.context)).toEqual([]);
    expect(new Set(await loadedIn(navigations.context))).toEqual(
      new Set(['GET /private/fetch', 'GET /private/image', 'GET /private/worker']),
    );
    expect(navigations.decided).toEqual([server.url('/page')]);
  });

  it('lets no service worker be registered, by pages, popups, and frames of other sites', async () => {
    const register = `<script>navigator.serviceWorker.register('/sw.js').catch(({ name }) =>
      (opener ?? parent).postMessage(name, '*'))</script>`;
    const server = await site({ '/worker': register });
    const frame = `${server.origin.replace('127.0.0.1', 'localhost')}/worker`;
    const first = await site({
      '/worker': register,
      '/page': `<script>let names = []; onmessage = ({ data }) => names.push(data);
        open('/worker'); open('', 'blank')</script><iframe src="/worker"></iframe><iframe src="${frame}"></iframe>`,
    });
    const { context } = await guarded();
    const page = await context.newPage();
    await page.goto(first.url('/page').replace('127.0.0.1', 'localhost'));
    await eventually(async () =>
      expect(await page.evaluate('String(names)')).toBe('SecurityError,SecurityError,SecurityError'),
    );
    expect([...pagesOf(first), ...pagesOf(server)].filter((line) => line.endsWith('sw.js'))).toEqual([]);
  });

  it('in a dry run reports each request once, and blocks nothing', async () => {
    const server = await site();
    const reported: string[] = [];
    const onRefusal = ({ url }: Decision): void => void reported.push(url);
    const { context } = await guarded({ mode: 'report', onRefusal });
    const page = await context.newPage();
    await page.goto(server.url('/private/a'));
    await page.goto(server.url('/to?/private/b'));
    expect(reported).toEqual([server.url('/private/a'), server.url('/private/b')]);
    expect(pagesOf(server)).toHaveLength(3);
  });

  it('lets one page go anywhere, with a reason, and no other', async () => {
    const server = await site();
    const ignored = sentUnchecked();
    const { context, guard } = await guarded({});
    const [page, other] = [await context.newPage(), await context.newPage()];
    await expect(guard.ignore(page, ' ')).rejects.toThrow(/`robots\.because`/);
    await guard.ignore(page, because);
    await page.goto(server.url('/to?/private'));
    await isBlocked(other.goto(server.url('/private')));
    expect(ignored).toEqual(['/to?/private', '/private'].map((path) => ({ url: server.url(path), because })));
    expect(pagesOf(server)).toEqual(['GET /to?/private', 'GET /private']);
  });

  it('blocks what cannot be decided, and keeps the error', async () => {
    const server = await site();
    const filter = (): never => {
      throw new Error('the filter broke');
    };
    const { context, guard } = await guarded({ filter });
    const page = await context.newPage();
    await goAstray(page, server.url('/private'));
    expect(await guard.errorOf(page)).toMatchObject({ message: 'the filter broke' });
    await page.close();
    expect(await guard.errorOf(page)).toBeUndefined();
    expect(pagesOf(server)).toEqual([]);
  });

  it('blocks what waits when it is disposed of, and then guards no more', async () => {
    const server = await site();
    const asked = new Moment();
    const waits = scriptedClient('', { transport: { fetch: () => never(asked) } });
    const { context, guard } = await guarded({}, waits);
    const page = await context.newPage();
    const waiting = goAstray(page, server.url('/page'));
    await asked.come;
    await guard.dispose();
    await waiting;
    await page.goto(server.url('/private'));
    expect(pagesOf(server)).toEqual(['GET /private']);
  });

  it('can be put on a page that is open', async () => {
    const server = await site();
    const context = await open(scriptedClient(), []);
    const page = await context.newPage();
    await page.goto(server.url('/private'));
    await context.guard(scriptedClient());
    await goAstray(page, server.url('/to?/private'));
    expect(pagesOf(server)).toEqual(['GET /private', 'GET /to?/private']);
    await context.close();
  });
}

inBothBrowsers('guardContext', guardedContexts);

describeWithChromium('guardContext, behind interceptors', () => {
  it('guards what routes of Playwright continue, and does not ask about what they fulfill', async () => {
    const server = await site();
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const context = await opened(await launchChromium()).newContext();
    await guardContext(context, robots);
    const page = await context.newPage();
    await page.route('**/*', (route) =>
      route.request().url().endsWith('/made-up') ? route.fulfill({ body: 'made up' }) : route.continue(),
    );
    await goAstray(page, server.url('/to?/private'));
    decided.length = 0;
    await page.goto(server.url('/private/made-up'));
    expect(await page.content()).toContain('made up');
    expect(decided).toEqual([]);
    await page.route('**/moved', (route) => route.continue({ url: server.url('/private/moved') }));
    await goAstray(page, server.url('/moved'));
    expect(pagesOf(server)).toEqual(['GET /to?/private']);
  });

  it.each([
    ['was set before the guard', true],
    ['is set after the guard', false],
  ])('guards what an interceptor of Puppeteer continues that %s', async (_, isBefore) => {
    const server = await site();
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const browser = await launchPuppeteer();
    opened({ [Symbol.asyncDispose]: () => browser.close() });
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const intercept = async (): Promise<void> => {
      await page.setRequestInterception(true);
      page.on('request', (request) => {
        const url = request.url();
        if (url.endsWith('/made-up')) void request.respond({ contentType: 'text/html', body: 'made up' });
        else if (url.endsWith('/moved')) void request.continue({ url: server.url('/private/moved') });
        else if (url.endsWith('/aborted')) void request.abort();
        else void request.continue();
      });
    };
    if (isBefore) await intercept();
    await guardPuppeteer(context, robots);
    if (!isBefore) await intercept();
    await isBlocked(page.goto(server.url('/to?/private')));
    decided.length = 0;
    await page.goto(server.url('/private/made-up'));
    // On a busy machine the page of the error before may still be there.
    await expect.poll(() => page.content()).toContain('made up');
    await expect(page.goto(server.url('/aborted'))).rejects.toThrow('net::ERR_FAILED');
    expect(decided).toEqual([]);
    await isBlocked(page.goto(server.url('/moved')));
    await page.goto(server.url('/page'));
    expect(pagesOf(server)).toEqual(['GET /to?/private', 'GET /page']);
  });
});

describeWithChromium('guardContext of Puppeteer', () => {
  it('guards the default context and no other, also in a browser that it did not start, as contexts come and go', async () => {
    const server = await site();
    const browser = await launchPuppeteer();
    opened({ [Symbol.asyncDispose]: () => browser.close() });
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    await guardPuppeteer(browser.defaultBrowserContext(), robots);
    await isBlocked((await browser.newPage()).goto(server.url('/private')));
    await (await (await browser.createBrowserContext()).newPage()).goto(server.url('/page'));
    expect(decided).toEqual([server.url('/private')]);
    const other = await connect({ browserWSEndpoint: browser.wsEndpoint() });
    for (let round = 0; round < 3; round++) {
      const made = await other.createBrowserContext();
      await guardPuppeteer(made, scriptedClient());
      const page = await made.newPage();
      await isBlocked(page.goto(server.url('/private')));
      await page.goto(server.url('/page'));
      await made.close();
    }
    await other.disconnect();
    expect(new Set(pagesOf(server))).toEqual(new Set(['GET /page']));
  });
});

describe('guardContext refuses', () => {
  const noSession = (): Promise<never> => Promise.reject(new Error('not supported'));
  const nothing = (): void => undefined;
  const context = {
    browser: (): object | null => ({ contexts: () => [], newBrowserCDPSession: noSession }),
    pages: () => [],
    serviceWorkers: () => [],
    addInitScript: () => Promise.resolve(),
    newCDPSession: noSession,
    once: nothing,
  };
  const browser = {
    browserContexts: () => [],
    defaultBrowserContext: nothing,
    target: () => ({ createCDPSession: noSession }),
    once: nothing,
  };
  const ofPuppeteer = { browser: () => browser, targets: () => [], newPage: nothing };
  const robots = scriptedClient();

  it.each<[what: string, guard: unknown, given: unknown[], message: RegExp]>([
    ['another browser', guardContext, [context, robots], /Expected the browser to be Chromium/],
    [
      'another browser in Puppeteer',
      guardPuppeteer,
      [ofPuppeteer, robots],
      /Expected the browser to be Chromium/,
    ],
    [
      'a context without a browser',
      guardContext,
      [{ ...context, browser: () => null }, robots],
      /Expected the context to be a BrowserContext of a browser of Playwright/,
    ],
    ['a page', guardContext, [{ goto: nothing }, robots], /Expected the context to be a BrowserContext/],
    [
      'a browser',
      guardPuppeteer,
      [browser, robots],
      /Expected the context to be a BrowserContext of Puppeteer/,
    ],
    ['an unknown option', guardPuppeteer, [ofPuppeteer, robots, { images: true }], /got `images`/],
    [
      'subresources: 1',
      guardContext,
      [context, robots, { subresources: 1 }],
      /`subresources` to be true or false/,
    ],
  ])('%s', async (_, guard, given, message) => {
    const error = await Reflect.apply(guard as typeof guardContext, undefined, given).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringMatching(message),
    });
  });
});
