import type { NavigationEvent } from './context-guard.ts';
import { INIT_SCRIPT } from './init-script.ts';
import { type BrowserDriver, hasFrame, type Session } from './browser-requests.ts';

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
export class PuppeteerDriver implements BrowserDriver {
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
