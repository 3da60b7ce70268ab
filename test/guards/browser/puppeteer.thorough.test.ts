import type { Browser, BrowserContext, Page } from 'puppeteer';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/puppeteer.ts';
import type { Decision } from '../../../src/index.ts';
import { chromiumOptions, describeWithChromium, launchPuppeteer } from '../../support/chromium.ts';
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
      answer(response, { status: 307, headers: { location: url.slice('/to?'.length) } });
    } else if (url.endsWith('.js')) answer(response, { headers: js, body: pages[url] ?? '' });
    else if (url.endsWith('.rules')) {
      const headers = { 'content-type': 'application/speculationrules+json' };
      answer(response, { headers, body: pages[url] ?? '' });
    } else if (url.endsWith('.zip')) {
      const headers = { 'content-type': 'application/zip', 'content-disposition': 'attachment' };
      answer(response, { headers, body: 'PK' });
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

describeWithChromium('guardContext of Puppeteer', () => {
  let browser: Browser;
  beforeAll(async () => {
    // Frames of other sites are in processes of their own, as in browsers that people use.
    browser = await launchPuppeteer(chromiumOptions('shell', ['--site-per-process']));
  });
  afterAll(() => browser.close());

  async function context(): Promise<BrowserContext> {
    const made = await browser.createBrowserContext();
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

  it('follows redirects as the browser does: URL, history and the chain are right', async () => {
    const server = await site({ '/dir/page': '<a href="next">next</a>' });
    const { context: made } = await guarded();
    const page = await made.newPage();
    await page.goto(server.url('/first'));
    const response = await page.goto(server.url('/to?/to?/dir/page'));
    expect(page.url()).toBe(server.url('/dir/page'));
    expect(
      response
        ?.request()
        .redirectChain()
        .map((hop) => hop.url()),
    ).toEqual([server.url('/to?/to?/dir/page'), server.url('/to?/dir/page')]);
    await Promise.all([page.waitForNavigation(), page.click('a')]);
    expect(page.url()).toBe(server.url('/dir/next'));
    const next = server.requests.find(({ url }) => url === '/dir/next');
    expect(next?.headers).toMatchObject({ referer: server.url('/dir/page') });
    await page.goBack();
    await page.goBack();
    expect(page.url()).toBe(server.url('/first'));
  });

  it('blocks a navigation, returns the reason, and forgets it at the next', async () => {
    const server = await site();
    const onRefusal = vi.fn();
    const { context: made, guard } = await guarded({ onRefusal });
    const page = await made.newPage();
    expect((await failure(page.goto(server.url('/private')))).message).toContain(
      'net::ERR_BLOCKED_BY_CLIENT',
    );
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
      await page.click(selector);
      await eventually(async () =>
        expect(await guard.errorOf(page)).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' }),
      );
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

  it('blocks a download', async () => {
    const server = await site({ '/page': '<a href="/private/file.zip">file</a>' });
    const onRefusal = vi.fn();
    const { context: made } = await guarded({ onRefusal });
    const page = await made.newPage();
    await page.goto(server.url('/page'));
    await page.click('a');
    await eventually(() => expect(onRefusal).toHaveBeenCalledOnce());
    expect(pagesOf(server)).toEqual(['GET /page']);
  });

  describe.each([
    ['was set before the guard', true],
    ['is set after the guard', false],
  ])('an interceptor of a page that %s', (_name, isBefore) => {
    it('runs first: its responses are not checked, and what it continues is', async () => {
      const server = await site();
      const robots = new ScriptedClient();
      const made = await context();
      const page = await made.newPage();
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
      const guard = await guardContext(made, robots);
      if (!isBefore) await intercept();

      expect((await failure(page.goto(server.url('/to?/private')))).message).toContain(
        'ERR_BLOCKED_BY_CLIENT',
      );
      expect(await guard.errorOf(page)).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
      robots.peeked.length = 0;
      await page.goto(server.url('/private/made-up'));
      // On a busy machine the page of the error before may still be there.
      await expect.poll(() => page.content()).toContain('made up');
      expect((await failure(page.goto(server.url('/aborted')))).message).toContain('net::ERR_FAILED');
      expect(robots.peeked).toEqual([]);
      expect((await failure(page.goto(server.url('/moved')))).message).toContain('ERR_BLOCKED_BY_CLIENT');
      await page.goto(server.url('/page'));
      expect(pagesOf(server)).toEqual(['GET /to?/private', 'GET /page']);
    });
  });

  it('leaves other contexts of the browser alone, and keeps guards of two contexts apart', async () => {
    const server = await site({ '/page': '<iframe src="/private/frame"></iframe>' });
    const [one, two] = [
      await guarded(),
      await guarded({ filter: ({ pathname }) => pathname !== '/private/two' }),
    ];
    const free = await context();
    for (const page of [await free.newPage(), await browser.newPage()]) {
      await page.goto(server.url('/to?/private'));
      await page.goto(server.url('/page'));
      expect(page.frames()[1]?.url()).toBe(server.url('/private/frame'));
    }
    expect([one.robots.peeked, two.robots.peeked]).toEqual([[], []]);
    await (await two.context.newPage()).goto(server.url('/private/two'));
    await failure((await one.context.newPage()).goto(server.url('/private/two')));
    expect(one.robots.peeked).toEqual([server.url('/private/two')]);
  });

  it('guards the default context, and no other then', async () => {
    const server = await site({
      '/page': '<iframe src="/private/frame"></iframe>',
      '/worker':
        '<script>navigator.serviceWorker.register("/sw.js").catch(({ name }) => (document.title = name))</script>',
    });
    const robots = new ScriptedClient();
    const guard = await guardContext(browser.defaultBrowserContext(), robots);
    open.push(() => guard.dispose());
    const page = await browser.newPage();
    await failure(page.goto(server.url('/private')));
    await page.goto(server.url('/worker'));
    await page.waitForFunction('document.title === "SecurityError"');
    robots.peeked.length = 0;
    await (await (await context()).newPage()).goto(server.url('/page'));
    expect(robots.peeked).toEqual([]);
    expect(pagesOf(server)).toEqual(['GET /worker', 'GET /page', 'GET /private/frame']);
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
    const register =
      '<script>navigator.serviceWorker.register("/sw.js").catch(({ name }) => (document.title = name))</script>';
    const server = await site({
      '/static': inline,
      '/dynamic': `<script>document.head.append(Object.assign(document.createElement('script'),
        { type: 'speculationrules', textContent: ${JSON.stringify(rules)} }))</script>`,
      '/spec.rules': rules,
      '/worker': register,
      '/opener': '<script>window.open("/worker?popup"); window.open("", "blank")</script>',
      '/worker?popup': register,
    });
    const { context: made } = await guarded();
    const page = await made.newPage();
    for (const path of ['/static', '/dynamic', '/with-rules']) {
      await page.goto(server.url(path));
      // A prefetch would have been sent before this response.
      await page.evaluate(`fetch('/after${path}').then((response) => response.text())`);
    }
    await page.goto(server.url('/worker'));
    await page.waitForFunction('document.title === "SecurityError"');
    await page.goto(server.url('/opener'));
    await eventually(() => expect(pagesOf(server)).toContain('GET /worker?popup'));
    const popup = await made.waitForTarget((target) => target.url().endsWith('?popup'));
    await (await popup.page())?.waitForFunction('document.title === "SecurityError"');
    expect(pagesOf(server).filter((line) => /private|sw\.js/.test(line))).toEqual([]);
  });

  it('disables service workers in frames of other sites, too', async () => {
    const server = await site({
      '/frame': `<script>navigator.serviceWorker.register("/sw.js").catch(({ name }) =>
        parent.postMessage(name, '*'))</script>`,
    });
    const port = new URL(server.origin).port;
    const first = await site({
      '/page': `<script>onmessage = ({ data }) => (document.title = data)</script>
        <iframe src="http://localhost:${port}/frame"></iframe>`,
    });
    const { context: made } = await guarded();
    const page = await made.newPage();
    await page.goto(first.url('/page'));
    await page.waitForFunction('document.title === "SecurityError"');
    expect(pagesOf(server)).toEqual(['GET /frame']);
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
    await failure(page.goto(server.url('/private')));
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
    await page.goto(server.url('/private'));
    expect(pagesOf(server)).toEqual(['GET /private']);
    await guard[Symbol.asyncDispose]();
  });

  it('can be put on a page that is open', async () => {
    const server = await site();
    const made = await context();
    const page: Page = await made.newPage();
    await page.goto(server.url('/private'));
    await guardContext(made, new ScriptedClient());
    await failure(page.goto(server.url('/to?/private')));
    expect(pagesOf(server)).toEqual(['GET /private', 'GET /to?/private']);
  });

  it('works in a browser that Puppeteer did not start, and when contexts come and go', async () => {
    const { connect } = await import('puppeteer');
    const server = await site();
    const other = await connect({ browserWSEndpoint: browser.wsEndpoint() });
    open.push(() => other.disconnect());
    for (let round = 0; round < 5; round++) {
      const made = await other.createBrowserContext();
      await guardContext(made, new ScriptedClient());
      const page = await made.newPage();
      await failure(page.goto(server.url('/private')));
      await page.goto(server.url('/page'));
      await made.close();
    }
    expect(new Set(pagesOf(server))).toEqual(new Set(['GET /page']));
  });
});

describe('guardContext of Puppeteer', () => {
  const browser = {
    browserContexts: () => [],
    defaultBrowserContext: () => undefined,
    target: () => ({ createCDPSession: () => Promise.reject(new Error('not supported')) }),
    once: () => undefined,
  };
  const context = { browser: () => browser, targets: () => [], newPage: () => undefined };
  const call = (...given: unknown[]): Promise<unknown> => Reflect.apply(guardContext, undefined, given);
  const robots = new ScriptedClient();

  it.each([
    ['another browser', [context, robots], /Expected the browser to be Chromium/],
    [
      'a page',
      [{ goto: () => undefined }, robots],
      /Expected the context to be a BrowserContext of Puppeteer/,
    ],
    ['a browser', [browser, robots], /Expected the context to be a BrowserContext of Puppeteer/],
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
