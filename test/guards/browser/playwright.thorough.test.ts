import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/playwright.ts';
import type { Decision } from '../../../src/index.ts';
import { describeWithChromium, launchChromium } from '../../support/chromium.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, type Site } from '../../support/site.ts';
import { Moment, ScriptedClient, site as plainSite } from '../support.ts';

const because = 'the owner asked for a copy';
const html = { 'content-type': 'text/html' };
const js = { 'content-type': 'text/javascript' };
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Redirects at `/to?<location>`, and has `pages`; those under `/private` are disallowed. */
function site(pages: Readonly<Record<string, string>> = {}): Promise<Site> {
  return plainSite((request, response) => {
    const url = request.url ?? '';
    if (url.startsWith('/to?')) {
      const location = url.slice('/to?'.length);
      answer(response, {
        status: 307,
        headers: { location, 'set-cookie': `via=${encodeURIComponent(url)}` },
      });
    } else if (url.endsWith('.js')) answer(response, { headers: js, body: pages[url] ?? '' });
    else if (url.endsWith('.rules')) {
      answer(response, {
        headers: { 'content-type': 'application/speculationrules+json' },
        body: pages[url] ?? '',
      });
    } else {
      const rules = url === '/with-rules' ? { 'speculation-rules': '"/spec.rules"' } : {};
      answer(response, { headers: { ...html, ...rules }, body: pages[url] ?? `<title>page ${url}</title>` });
    }
  });
}

/** What was requested of a site, but for its icon. */
const pagesOf = ({ requests }: Site): string[] =>
  requests.map(({ method, url }) => `${method} ${url}`).filter((line) => !line.endsWith('/favicon.ico'));

const failure = (pending: Promise<unknown>): Promise<Error> =>
  pending.then(
    () => expect.fail('expected to be blocked'),
    (error: Error) => error,
  );

/** Goes to a blocked page, and waits for Chromium's error page. */
async function goAstray(page: Page, url: string): Promise<Error> {
  const error = await failure(page.goto(url));
  await page.waitForURL('chrome-error://chromewebdata/');
  return error;
}

describeWithChromium('guardContext', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function context(): Promise<BrowserContext> {
    const made = await browser.newContext();
    open.push(() => made.close());
    return made;
  }

  /** A guarded context with its guard and client. */
  async function guarded(options: GuardContextOptions = {}): Promise<{
    context: BrowserContext;
    robots: ScriptedClient;
    guard: Awaited<ReturnType<typeof guardContext>>;
  }> {
    const robots = new ScriptedClient();
    const made = await context();
    return { context: made, robots, guard: await guardContext(made, robots, options) };
  }

  it('follows redirects as the browser does: URL, history, cookies, relative links and the chain are right', async () => {
    const server = await site({ '/dir/page': '<a href="next">next</a>' });
    const { context: made } = await guarded();
    const page = await made.newPage();
    await page.goto(server.url('/first'));
    const response = await page.goto(server.url('/to?/to?/dir/page'));
    expect(page.url()).toBe(server.url('/dir/page'));
    expect(response?.url()).toBe(server.url('/dir/page'));
    expect(response?.request().redirectedFrom()?.redirectedFrom()?.url()).toBe(
      server.url('/to?/to?/dir/page'),
    );
    expect(await made.cookies()).toMatchObject([{ name: 'via', value: encodeURIComponent('/to?/dir/page') }]);
    await page.click('a');
    await page.waitForURL(server.url('/dir/next'));
    const next = server.requests.find(({ url }) => url === '/dir/next');
    expect(next?.headers).toMatchObject({ referer: server.url('/dir/page') });
    await page.goBack();
    expect(page.url()).toBe(server.url('/dir/page'));
    await page.goBack();
    expect(page.url()).toBe(server.url('/first'));
  });

  it('blocks a navigation, returns the reason, and forgets it at the next', async () => {
    const server = await site();
    const onRefusal = vi.fn();
    const { context: made, guard } = await guarded({ onRefusal });
    const page = await made.newPage();
    expect((await goAstray(page, server.url('/private'))).message).toContain('net::ERR_BLOCKED_BY_CLIENT');
    expect(await guard.errorOf(page)).toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: { url: server.url('/private') },
    });
    await page.goto(server.url('/page'));
    expect(await guard.errorOf(page)).toBeUndefined();
    expect(onRefusal).toHaveBeenCalledOnce();
    expect(pagesOf(server)).toEqual(['GET /page']);
  });

  it('blocks what a click or a form leads to, with its redirects', async () => {
    const server = await site({
      '/page':
        '<a href="/to?/private">go</a><form action="/to?/private" method="post"><input type="submit"></form>',
    });
    const { context: made, guard } = await guarded();
    for (const selector of ['a', 'input']) {
      const page = await made.newPage();
      await page.goto(server.url('/page'));
      const blocked = made.waitForEvent('requestfailed');
      await page.click(selector);
      expect((await blocked).url()).toBe(server.url('/private'));
      expect(await guard.errorOf(page)).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    }
    expect(pagesOf(server).filter((line) => !line.endsWith('/page'))).toEqual([
      'GET /to?/private',
      'POST /to?/private',
    ]);
  });

  it('sees the redirects of popups, and of frames in frames of other sites', async () => {
    const server = await site({ '/inner': '<iframe src="/to?/private/3"></iframe>' });
    const port = new URL(server.origin).port;
    const page = {
      '/page': `<script>window.open('/to?/private/1')</script><iframe src="/to?/private/2"></iframe>
        <iframe src="http://localhost:${port}/inner"></iframe>`,
    };
    const first = await site(page);
    const received: string[] = [];
    const { context: made } = await guarded({ onRefusal: ({ url }: Decision) => void received.push(url) });
    await (await made.newPage()).goto(first.url('/page'));
    await eventually(() => expect(received).toHaveLength(3));
    expect(new Set(received)).toEqual(
      new Set([first.url('/private/1'), first.url('/private/2'), `http://localhost:${port}/private/3`]),
    );
    expect([...pagesOf(first), ...pagesOf(server)].filter((line) => / \/private/.test(line))).toEqual([]);
  });

  it('guards what routes continue, and does not ask about what they fulfill', async () => {
    const server = await site();
    const { context: made, robots } = await guarded();
    const page = await made.newPage();
    await page.route('**/*', (route) =>
      route.request().url().endsWith('/made-up') ? route.fulfill({ body: 'made up' }) : route.continue(),
    );
    expect((await goAstray(page, server.url('/to?/private'))).message).toContain('ERR_BLOCKED_BY_CLIENT');
    robots.peeked.length = 0;
    await page.goto(server.url('/private/made-up'));
    expect(await page.content()).toContain('made up');
    expect(robots.peeked).toEqual([]);
    await page.route('**/moved', (route) => route.continue({ url: server.url('/private/moved') }));
    expect((await goAstray(page, server.url('/moved'))).message).toContain('ERR_BLOCKED_BY_CLIENT');
    expect(pagesOf(server)).toEqual(['GET /to?/private']);
  });

  it('leaves other contexts of the browser alone, and keeps guards of two contexts apart', async () => {
    const server = await site({ '/page': '<iframe src="/private/frame"></iframe>' });
    const [one, two] = [
      await guarded(),
      await guarded({ filter: ({ pathname }) => pathname !== '/private/two' }),
    ];
    const free = await context();
    const page = await free.newPage();
    await page.goto(server.url('/to?/private'));
    await page.goto(server.url('/page'));
    expect(page.frames()[1]?.url()).toBe(server.url('/private/frame'));
    expect([one.robots.peeked, two.robots.peeked]).toEqual([[], []]);
    await (await two.context.newPage()).goto(server.url('/private/two'));
    await failure((await one.context.newPage()).goto(server.url('/private/two')));
    expect(one.robots.peeked).toEqual([server.url('/private/two')]);
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
    const loadedIn = async (made: BrowserContext): Promise<string[]> => {
      const page = await made.newPage();
      await page.goto(server.url('/page'));
      await page.waitForFunction('document.title === "done"');
      return pagesOf(server).filter((line) => line.includes(' /private'));
    };
    expect(await loadedIn(all.context)).toEqual([]);
    expect(new Set(await loadedIn(navigations.context))).toEqual(
      new Set(['GET /private/fetch', 'GET /private/image', 'GET /private/worker']),
    );
    expect(navigations.robots.peeked).toEqual([server.url('/page')]);
  });

  it('holds what browsers load ahead, and service workers', async () => {
    const rules = JSON.stringify({
      prefetch: [{ source: 'list', urls: ['/private'], eagerness: 'immediate' }],
    });
    const inline = `<script type="speculationrules">${rules}</script>`;
    const server = await site({
      '/static': inline,
      '/dynamic': `<script>document.head.append(Object.assign(document.createElement('script'),
        { type: 'speculationrules', textContent: ${JSON.stringify(rules)} }))</script>`,
      '/nested': `<div id="d"></div><script>d.innerHTML = '<p></p>'; const made = document.createElement('p');
        const script = document.createElement('script'); script.type = 'SpeculationRules';
        script.textContent = ${JSON.stringify(rules)}; made.append(script); d.append(made)</script>`,
      '/spec.rules': rules,
      '/worker':
        '<script>navigator.serviceWorker.register("/sw.js").catch(({ name }) => (document.title = name))</script>',
    });
    const { context: made } = await guarded();
    const page = await made.newPage();
    for (const path of ['/static', '/dynamic', '/nested', '/with-rules']) {
      await page.goto(server.url(path));
      // A prefetch would have been sent before this response.
      await page.evaluate(`fetch('/after${path}').then((response) => response.text())`);
    }
    await page.goto(server.url('/worker'));
    await page.waitForFunction('document.title === "SecurityError"');
    expect(pagesOf(server).filter((line) => /private|sw\.js|spec\.rules/.test(line))).toEqual([]);
  });

  it('in a dry run reports each request once, and blocks nothing', async () => {
    const server = await site();
    const received: string[] = [];
    const { context: made } = await guarded({
      mode: 'report',
      onRefusal: ({ url }) => void received.push(url),
    });
    const page = await made.newPage();
    await page.goto(server.url('/private/a'));
    await page.goto(server.url('/to?/private/b'));
    expect(received).toEqual([server.url('/private/a'), server.url('/private/b')]);
    expect(pagesOf(server)).toHaveLength(3);
  });

  it('lets one page go anywhere, with a reason, and no other', async () => {
    const server = await site();
    const onIgnored = vi.fn();
    const { context: made, guard } = await guarded({ onIgnored });
    const [page, other] = [await made.newPage(), await made.newPage()];
    await expect(guard.ignore(page, ' ')).rejects.toThrow(/`robots\.because`/);
    await guard.ignore(page, because);
    await page.goto(server.url('/to?/private'));
    await failure(other.goto(server.url('/private')));
    expect(onIgnored.mock.calls).toEqual(
      ['/to?/private', '/private'].map((path) => [{ url: server.url(path), because }]),
    );
    expect(pagesOf(server)).toEqual(['GET /to?/private', 'GET /private']);
  });

  it('blocks what cannot be decided, and keeps the error', async () => {
    const server = await site();
    const filter = (): never => {
      throw new Error('the filter broke');
    };
    const { context: made, guard } = await guarded({ filter });
    const page = await made.newPage();
    await goAstray(page, server.url('/private'));
    expect(await guard.errorOf(page)).toMatchObject({ message: 'the filter broke' });
    await page.close();
    expect(await guard.errorOf(page)).toBeUndefined();
    expect(pagesOf(server)).toEqual([]);
  });

  it('blocks what waits when it is disposed of, and then guards no more', async () => {
    const server = await site();
    const { context: made, robots, guard } = await guarded();
    const asked = new Moment();
    robots.pending = () => {
      asked.now();
      return new Promise(() => undefined);
    };
    const page = await made.newPage();
    const waiting = failure(page.goto(server.url('/page')));
    await asked.come;
    await guard.dispose();
    expect((await waiting).message).toContain('ERR_BLOCKED_BY_CLIENT');
    await page.waitForURL('chrome-error://chromewebdata/');
    await page.goto(server.url('/private'));
    expect(pagesOf(server)).toEqual(['GET /private']);
    await guard[Symbol.asyncDispose]();
  });

  it('can be put on a page that is open', async () => {
    const server = await site();
    const made = await context();
    const page = await made.newPage();
    await page.goto(server.url('/private'));
    await guardContext(made, new ScriptedClient());
    await goAstray(page, server.url('/to?/private'));
    expect(pagesOf(server)).toEqual(['GET /private', 'GET /to?/private']);
  });
});

describe('guardContext', () => {
  const context = {
    browser: (): object | null => ({
      contexts: () => [],
      newBrowserCDPSession: () => Promise.reject(new Error('CDP session is only available in Chromium')),
    }),
    pages: () => [],
    serviceWorkers: () => [],
    addInitScript: () => Promise.resolve(),
    newCDPSession: () => Promise.reject(new Error('no')),
    once: () => undefined,
  };
  const call = (...given: unknown[]): Promise<unknown> => Reflect.apply(guardContext, undefined, given);
  const robots = new ScriptedClient();

  it.each([
    ['another browser', [context, robots], /Expected the browser to be Chromium/],
    [
      'a context without a browser',
      [{ ...context, browser: () => null }, robots],
      /Expected the context to be a BrowserContext/,
    ],
    [
      'a page',
      [{ goto: () => undefined }, robots],
      /Expected the context to be a BrowserContext of a browser of Playwright/,
    ],
    ['no client', [context, {}], /Expected the client to be a RobotsClient/],
    ['onDisallow', [context, robots, { onDisallow: 'throw' }], /got `onDisallow`/],
    ['an unknown option', [context, robots, { images: true }], /got `images`/],
    [
      'subresources: 1',
      [context, robots, { subresources: 1 }],
      /Expected `subresources` to be true or false/,
    ],
    ['no options', [context, robots, null], /Expected the options to be an object, got null/],
  ])('refuses %s', async (_, given, message) => {
    const error = await failure(call(...given));
    expect(error).toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
    expect(error.message).toMatch(message);
  });
});
