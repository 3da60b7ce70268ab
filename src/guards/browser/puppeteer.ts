import { invalid } from '../../core/base/index.ts';
import {
  askOnce,
  requestsByBrowser,
  targetOf,
  type BrowserDriver,
  hasFrame,
  type Session,
} from './browser-requests.ts';
import {
  type BrowserContextGuard,
  guardWith,
  type GuardContextOptions,
  type NavigationEvent,
} from './context-guard.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import { INIT_SCRIPT } from './init-script.ts';

export type { BrowserContextGuard, GuardContextOptions } from './context-guard.ts';
export type { ThrowingGuardOptions } from '../shared/options.ts';

/** The part of Puppeteer's `Page` that the guard uses. */
export interface PageLike {
  browserContext(): BrowserContextLike;
  createCDPSession(): Promise<unknown>;
  once(event: 'close', listener: () => void): unknown;
}

/** The part of Puppeteer's `BrowserContext` that the guard uses. */
export interface BrowserContextLike {
  /** Absent for the default context of a browser. */
  readonly id?: string | undefined;
  browser(): BrowserLike;
  targets(): readonly { type(): string }[];
}

/** The part of Puppeteer's `Browser` that the guard uses. */
export interface BrowserLike {
  browserContexts(): readonly BrowserContextLike[];
  defaultBrowserContext(): BrowserContextLike;
  target(): { createCDPSession(): Promise<unknown> };
  once(event: 'disconnected', listener: () => void): unknown;
}

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

function browserOf(context: unknown): BrowserLike {
  const given = Object(context);
  const isContext = ['browser', 'targets', 'newPage'].every(
    (name) => typeof Reflect.get(given, name) === 'function',
  );
  if (!isContext) throw invalid('the context', 'a BrowserContext of Puppeteer', context);
  return (context as BrowserContextLike).browser();
}

/** A session of Puppeteer, whose connection has the sessions of attached targets. */
interface PuppeteerSession extends Session {
  connection(): { session(id: string): PuppeteerSession | null } | undefined;
}

/** `Target.attachedToTarget`: `Target.setAutoAttach` opened a session for a target. */
interface Attached {
  readonly sessionId: string;
  readonly targetInfo: { readonly type: string; readonly browserContextId?: string };
}

/** Called with how a request has ended, and its id in events of the network. */
type RequestListener = (event: NavigationEvent, networkId: string) => void;

const EVENTS: readonly (readonly [event: string, NavigationEvent])[] = [
  ['Network.loadingFinished', 'finished'],
  ['Network.loadingFailed', 'failed'],
];

/** A page, or a frame with its own process. */
interface AttachedTarget {
  readonly session: PuppeteerSession;
  readonly contextId: string | undefined;
}

/**
 * Opens a session for each page and each frame with its own process, and pauses it until it has the script of its
 * context. Puppeteer itself has scripts for pages only, and announces a popup only when it has loaded.
 */
const AUTO_ATTACH = {
  autoAttach: true,
  waitForDebuggerOnStart: true,
  flatten: true,
  filter: [{ type: 'page' }, { type: 'iframe' }],
};

/** A browser as Puppeteer controls it. */
class PuppeteerDriver implements BrowserDriver {
  readonly session: PuppeteerSession;
  readonly #browser: BrowserLike;
  readonly #targets = new Map<string, AttachedTarget>();
  /** The contexts whose pages are set up, each with the `User-Agent` of its pages, if that is replaced. */
  readonly #guarded = new WeakMap<BrowserContextLike, { readonly userAgent: string | undefined }>();
  readonly #listeners = new Map<RequestListener, BrowserContextLike>();

  static readonly open = async (browser: BrowserLike): Promise<PuppeteerDriver> => {
    const driver = new PuppeteerDriver(
      browser,
      (await browser.target().createCDPSession()) as PuppeteerSession,
    );
    await driver.#attach(driver.session);
    return driver;
  };

  constructor(browser: BrowserLike, session: PuppeteerSession) {
    this.#browser = browser;
    this.session = session;
  }

  async contextsWithId(id: string): Promise<readonly BrowserContextLike[]> {
    return [this.#contextWithId(id)];
  }

  hasClosed(context: BrowserContextLike): boolean {
    return !this.#browser.browserContexts().includes(context);
  }

  async contextIdOfFrame(frameId: string): Promise<string | undefined> {
    // All at once: a page that is navigating replies only afterwards.
    const searches = [...this.#targets.values()].map(async ({ session, contextId }) => {
      if (contextId === undefined || !(await hasFrame(session, frameId))) throw new Error('not here');
      return contextId;
    });
    return Promise.any(searches).catch(() => undefined);
  }

  /** From now on, sets up the pages of a context, and sends their navigations past service workers. */
  async guard(context: BrowserContextLike, userAgent: string | undefined): Promise<void> {
    this.#guarded.set(context, { userAgent });
    const ofContext = [...this.#targets.values()].filter(
      ({ contextId }) => contextId !== undefined && this.#contextWithId(contextId) === context,
    );
    await Promise.all(ofContext.map(({ session }) => guardTarget(session, userAgent)));
  }

  /**
   * Calls `listener` with how requests of guarded contexts end, until `context` is closed. Returns a function that
   * removes the listener.
   */
  onRequest(context: BrowserContextLike, listener: RequestListener): () => void {
    for (const [each, itsContext] of this.#listeners)
      if (this.hasClosed(itsContext)) this.#listeners.delete(each);
    this.#listeners.set(listener, context);
    return () => void this.#listeners.delete(listener);
  }

  /** Puppeteer does not show the id of the default context. */
  #contextWithId(id: string): BrowserContextLike {
    const made = this.#browser.browserContexts().find((context) => context.id === id);
    return made ?? this.#browser.defaultBrowserContext();
  }

  async #attach(parent: PuppeteerSession): Promise<void> {
    parent.on('Target.attachedToTarget', (attached: Attached) => this.#attached(attached));
    parent.on('Target.detachedFromTarget', ({ sessionId }: Pick<Attached, 'sessionId'>) =>
      this.#targets.delete(sessionId),
    );
    await parent.send('Target.setAutoAttach', AUTO_ATTACH);
  }

  #attached({ sessionId, targetInfo }: Attached): void {
    const session = this.session.connection()?.session(sessionId);
    if (session === undefined || session === null) return;
    const { browserContextId: contextId } = targetInfo;
    this.#targets.set(sessionId, { session, contextId });
    for (const [name, event] of EVENTS)
      session.on(name, ({ requestId }: { readonly requestId: string }) => {
        for (const listener of this.#listeners.keys()) listener(event, requestId);
      });
    const guarded = contextId === undefined ? undefined : this.#guarded.get(this.#contextWithId(contextId));
    // Commands take effect in this order. They are not awaited: a page that is navigating replies only afterwards, and
    // a closed one never.
    const sent = [
      ...(guarded === undefined ? [] : [guardTarget(session, guarded.userAgent)]),
      this.#attach(session),
      session.send('Runtime.runIfWaitingForDebugger'),
    ];
    for (const each of sent) each.catch(() => undefined);
  }
}

const requestsOf = requestsByBrowser(PuppeteerDriver.open);

async function guardTarget(session: Session, userAgent: string | undefined): Promise<void> {
  await Promise.all([
    session.send('Page.enable'),
    session.send('Page.addScriptToEvaluateOnNewDocument', {
      source: INIT_SCRIPT,
      runImmediately: false,
    }),
    // Nothing reads the bodies. Bypassing needs this domain, and lasts as long as the session.
    session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
    session.send('Network.setBypassServiceWorker', { bypass: true }),
    ...(userAgent === undefined ? [] : [session.send('Network.setUserAgentOverride', { userAgent })]),
  ]);
}
