import { invalid, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import {
  askOnce,
  type BrowserDriver,
  hasFrame,
  requestsByBrowser,
  type Session,
  targetOf,
} from './browser-requests.ts';
import { type BrowserContextGuard, guardWith, type GuardContextOptions } from './context-guard.ts';
import { INIT_SCRIPT } from './init-script.ts';
import type { RobotsClient } from '../../core/client/index.ts';

export type { BrowserContextGuard, GuardContextOptions } from './context-guard.ts';
export type { ThrowingGuardOptions } from '../shared/options.ts';

/** The part of Playwright's `Page` that the guard uses. */
export interface PageLike {
  context(): BrowserContextLike;
  frames(): readonly object[];
  once(event: 'close', listener: () => void): unknown;
}

/** The part of Playwright's `BrowserContext` that the guard uses. */
export interface BrowserContextLike {
  browser(): BrowserLike | null;
  pages(): readonly PageLike[];
  serviceWorkers(): readonly { url(): string }[];
  addInitScript(script: { readonly content: string }): Promise<unknown>;
  setExtraHTTPHeaders(headers: { readonly [name: string]: string }): Promise<void>;
  newCDPSession(pageOrFrame: never): Promise<unknown>;
  once(event: 'close', listener: () => void): unknown;
  on(event: 'requestfinished' | 'requestfailed', listener: (request: RequestLike) => void): unknown;
  off(event: 'requestfinished' | 'requestfailed', listener: (request: RequestLike) => void): unknown;
}

/** The part of Playwright's `Request` that the guard uses. */
export interface RequestLike {
  url(): string;
  isNavigationRequest(): boolean;
  failure(): { readonly errorText: string } | null;
}

/** The part of Playwright's `Browser` that the guard uses. */
export interface BrowserLike {
  contexts(): readonly BrowserContextLike[];
  newBrowserCDPSession(): Promise<unknown>;
}

/** The guard of a browser context of Playwright. */
export type ContextGuard = BrowserContextGuard<PageLike>;

/**
 * Guards a browser context of Playwright with Chromium. Each navigation of its pages, popups and frames, and each redirect,
 * is checked against the robots.txt of its own origin before it is sent. `subresources: true` also checks what pages load.
 *
 * A refused navigation is aborted: `page.goto` rejects with `net::ERR_BLOCKED_BY_CLIENT`, and `errorOf` returns
 * the reason. Requests are paused, never repeated, so cookies, `page.url()` and the history stay as the browser makes
 * them. Routes run before the guard, which sees the request that they continue.
 *
 * With `pacing` a page holds a permit until its document has loaded, at most 30 s without a response; frames and
 * subresources need none. A navigation waits for its permit within its own timeout, so set `maxDelayMs` below that.
 *
 * Service workers can no longer be registered in the context, and speculation rules are removed, because their requests
 * cannot be paused. The guide lists what is not held.
 * Guard the context before it loads pages: of pages that are already open, only navigations are certain to be checked.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the browser is Firefox or WebKit, whose redirects
 *   cannot be seen, or the profile of the context has service workers.
 *
 * @example
 * ```ts
 * import { chromium } from 'playwright';
 * import { RobotsClient } from 'canfetch';
 * import { guardContext } from 'canfetch/playwright';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const browser = await chromium.launch();
 * const context = await browser.newContext();
 * const guard = await guardContext(context, robots);
 * const page = await context.newPage();
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
  return guardWith(client, options, async () => ({
    context,
    requests: await requestsOf(browser),
    async prepare(userAgent) {
      await assertNoServiceWorkers(context);
      await context.addInitScript({ content: INIT_SCRIPT });
      if (userAgent !== undefined) await context.setExtraHTTPHeaders({ 'user-agent': userAgent });
    },
    onceClosed: (listener) => void context.once('close', listener),
    onNavigation(listener) {
      // Playwright does not show the id of a request. Of two for the same URL the older one counts as ended.
      const end = (how: 'finished' | 'failed', request: RequestLike): void => {
        const url = request.url().split('#', 1)[0];
        if (request.isNavigationRequest()) listener(how, ({ request: paused }) => paused.url === url);
      };
      const finish = (request: RequestLike): void => end('finished', request);
      const fail = (request: RequestLike): void => {
        // A blocked request has ended already. Another page may have requested the same URL.
        if (request.failure()?.errorText !== BLOCKED) end('failed', request);
      };
      context.on('requestfinished', finish);
      context.on('requestfailed', fail);
      return () => {
        context.off('requestfinished', finish);
        context.off('requestfailed', fail);
      };
    },
    mainFrameOf: async (page) => (await askPage(page, targetOf))?.targetId,
  }));
}

const BLOCKED = 'net::ERR_BLOCKED_BY_CLIENT';

class PlaywrightDriver implements BrowserDriver {
  readonly session: Session;
  readonly #browser: BrowserLike;
  readonly #contextIds = new WeakMap<BrowserContextLike, string>();

  static readonly open = async (browser: BrowserLike): Promise<PlaywrightDriver> =>
    new PlaywrightDriver(browser, (await browser.newBrowserCDPSession()) as Session);

  constructor(browser: BrowserLike, session: Session) {
    this.#browser = browser;
    this.session = session;
  }

  async contextsWithId(id: string): Promise<readonly BrowserContextLike[]> {
    const anonymous: BrowserContextLike[] = [];
    for (const context of this.#browser.contexts()) {
      const known = await this.#idOf(context);
      if (known === id) return [context];
      if (known === undefined) anonymous.push(context);
    }
    return anonymous;
  }

  async contextIdOfFrame(frameId: string): Promise<string | undefined> {
    // All at once: a page that is navigating replies only afterwards.
    const searches = this.#browser.contexts().flatMap((context) =>
      context.pages().flatMap((page) =>
        [page, ...page.frames()].map(async (scope) => {
          const opening = context.newCDPSession(scope as never);
          const isHere = await askOnce(opening, (session) => hasFrame(session, frameId));
          if (isHere !== true) throw new Error('not here');
          return this.#idOf(context);
        }),
      ),
    );
    return Promise.any(searches).catch(() => undefined);
  }

  async #idOf(context: BrowserContextLike): Promise<string | undefined> {
    const known = this.#contextIds.get(context);
    if (known !== undefined) return known;
    for (const page of context.pages()) {
      const id = (await askPage(page, targetOf))?.browserContextId;
      if (id === undefined) continue;
      this.#contextIds.set(context, id);
      return id;
    }
    return undefined;
  }
}

const requestsOf = requestsByBrowser(PlaywrightDriver.open);

function askPage<Result>(
  page: PageLike,
  ask: (session: Session) => Promise<Result>,
): Promise<Result | undefined> {
  return askOnce(page.context().newCDPSession(page as never), ask);
}

/** Playwright shows a page too late to send its navigations past service workers. */
async function assertNoServiceWorkers(context: BrowserContextLike): Promise<void> {
  const [page] = context.pages();
  const stored = page === undefined ? undefined : await askPage(page, registrationsOf);
  const workers = [...context.serviceWorkers().map((worker) => worker.url()), ...(stored ?? [])];
  if (workers.length === 0) return;
  throw new RobotsInvalidOptionsError(
    'Expected a context without service workers, because pages that they answer cannot be checked, ' +
      `got ${[...new Set(workers)].join(', ')}: create it with \`serviceWorkers: 'block'\`, guard it before it ` +
      'loads pages, or clear the site data of the profile',
  );
}

/** The scopes of the service workers that the profile of a page has. */
async function registrationsOf(session: Session): Promise<readonly string[]> {
  const listed = new Promise<ListedWorkers>(
    (resolve) => void session.on('ServiceWorker.workerRegistrationUpdated', resolve),
  );
  // The first event lists all of them. It comes also when there are none.
  await session.send('ServiceWorker.enable');
  return (await listed).registrations.map(({ scopeURL }) => scopeURL);
}

interface ListedWorkers {
  readonly registrations: readonly { readonly scopeURL: string }[];
}

function browserOf(context: unknown): BrowserLike {
  const names = ['browser', 'pages', 'newCDPSession', 'addInitScript', 'serviceWorkers', 'once'];
  const isContext = names.every((name) => typeof Reflect.get(Object(context), name) === 'function');
  const browser = isContext ? (context as BrowserContextLike).browser() : null;
  if (browser === null) throw invalid('the context', 'a BrowserContext of a browser of Playwright', context);
  return browser;
}
