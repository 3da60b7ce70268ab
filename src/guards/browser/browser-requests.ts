import { LRUCache } from 'lru-cache';
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';

/** A request that Chromium holds back until the session continues or fails it (`Fetch.requestPaused`). */
export interface PausedRequest {
  readonly requestId: string;
  /** The id of the request in events of the network, which is another one. */
  readonly networkId?: string;
  /** The frame, or the worker, that makes the request. */
  readonly frameId: string;
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly resourceType: string;
  /** The previous hop, if a redirect led here. Its id is another one; that of a response is that of its request. */
  readonly redirectedRequestId?: string;
  /** Either this or `responseErrorReason` is set when the response is held back, not the request. */
  readonly responseStatusCode?: number;
  readonly responseErrorReason?: string;
  readonly responseHeaders?: readonly { readonly name: string; readonly value: string }[];
}

/** Decides about the requests of one context. */
export interface RequestWatcher {
  /** The context as the library gives it. */
  readonly context: object;
  /** Whether it decides about subresources too, not about navigations only. */
  readonly subresources: boolean;
  /** The client whose places its requests take. */
  readonly client: object;
  /**
   * Whether to block a request. Never rejects.
   *
   * @param waits Whether a request that it allows waits for a place.
   */
  blocks(request: PausedRequest, waits: boolean): Promise<boolean>;
  /** Whether a request that it did not block has taken a place. */
  holdsPlace(request: PausedRequest): boolean;
  /**
   * Called with the response, or the failure, of a request that it did not block. Returns whether to block the
   * response. Its body has not been read then.
   */
  blocksResponse(response: PausedRequest): boolean;
  /** Called when a request that it may have allowed has ended otherwise. */
  forget(request: PausedRequest): void;
}

/** A session of the DevTools protocol, as Playwright and Puppeteer have it. */
export interface Session {
  send(method: string, parameters?: object): Promise<unknown>;
  on(event: string, listener: (event: never) => void): unknown;
  detach(): Promise<void>;
}

/** The part of the library that controls a browser which the guard uses. Contexts are those of the library. */
export interface BrowserDriver {
  /** The session of the browser as a whole. */
  readonly session: Session;
  /** The contexts that may have an id. There are several only while some have no page that could tell their id. */
  contextsWithId(id: string): Promise<readonly object[]>;
  /** Whether a context has closed. A library that has an event for that needs no such method. */
  hasClosed?(context: object): boolean;
  /** The id of the context of a frame that has no target of its own; `undefined` when no page has the frame. */
  contextIdOfFrame(frameId: string): Promise<string | undefined>;
}

interface Target {
  readonly targetId: string;
  readonly type: string;
  readonly browserContextId?: string;
}

/** What is known of a frame, or of a worker. It does not change. */
interface Owner {
  readonly contextId: string;
  /** Whether it is the main frame of a page. */
  readonly isTopLevel: boolean;
}

interface FrameTree {
  readonly frame: { readonly id: string };
  readonly childFrames?: readonly FrameTree[];
}

/** The command that answers a paused request, and its parameters. */
interface Answer {
  readonly method: string;
  readonly errorReason?: string;
  readonly responseCode?: number | undefined;
  readonly responseHeaders?: PausedRequest['responseHeaders'];
}

const BLOCK: Answer = { method: 'Fetch.failRequest', errorReason: 'BlockedByClient' };
const CONTINUE: Answer = { method: 'Fetch.continueRequest' };

/** The stages at which requests are paused: before they are sent, and when the response arrives. */
const STAGES = ['Request', 'Response'];
const NAVIGATIONS = [
  ...STAGES.map((requestStage) => ({ urlPattern: '*', resourceType: 'Document', requestStage })),
  // `<link rel="prefetch">`, which loads a page for the next navigation. Chromium gives it the type of `fetch()`.
  { urlPattern: '*', resourceType: 'Fetch', requestStage: 'Request' },
  // Scripts of service workers, and the files of the `Speculation-Rules` field of a page that a route fulfilled.
  ...STAGES.map((requestStage) => ({ urlPattern: '*', resourceType: 'Other', requestStage })),
];
const EVERYTHING = STAGES.map((requestStage) => ({ urlPattern: '*', requestStage }));
const MAX_FRAMES = 10_000;

/**
 * The requests of one browser. They are paused in the browser itself, after all interceptors of pages. So each hop of
 * each redirect is seen as it will be sent, including those of popups and cross-origin frames.
 */
export class BrowserRequests<Driver extends BrowserDriver = BrowserDriver> {
  readonly driver: Driver;
  readonly #watchers = new Set<RequestWatcher>();
  /** By frame. */
  readonly #owners = new LRUCache<string, Owner>({ max: MAX_FRAMES });

  /**
   * The requests of `browser`, opened once.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the browser is not Chromium.
   */
  static of<Browser extends object, Driver extends BrowserDriver>(
    known: WeakMap<Browser, Promise<BrowserRequests<Driver>>>,
    browser: Browser,
    open: (browser: Browser) => Promise<Driver>,
  ): Promise<BrowserRequests<Driver>> {
    const opened =
      known.get(browser) ?? open(browser).then((driver) => new BrowserRequests(driver), notChromium);
    known.set(browser, opened);
    opened.catch(() => known.delete(browser));
    return opened;
  }

  private constructor(driver: Driver) {
    this.driver = driver;
    driver.session.on('Fetch.requestPaused', (request: PausedRequest) => void this.#answer(request));
  }

  async add(watcher: RequestWatcher): Promise<void> {
    for (const each of this.#watchers)
      if (this.driver.hasClosed?.(each.context) === true) this.#watchers.delete(each);
    this.#watchers.add(watcher);
    await this.#update();
  }

  async delete(watcher: RequestWatcher): Promise<void> {
    this.#watchers.delete(watcher);
    // The browser may be closed.
    await this.#update().catch(() => undefined);
  }

  get #session(): Session {
    return this.driver.session;
  }

  async #update(): Promise<void> {
    const watchers = [...this.#watchers];
    if (watchers.length === 0) {
      await this.#session.send('Fetch.disable');
      return;
    }
    const patterns = watchers.some(({ subresources }) => subresources) ? EVERYTHING : NAVIGATIONS;
    await this.#session.send('Fetch.enable', { patterns });
  }

  async #answer(paused: PausedRequest): Promise<void> {
    // A request without a decision is blocked.
    const { method, ...parameters } = await this.#answerTo(paused).catch(() => BLOCK);
    // A request whose page was closed is gone, and needs no command.
    await this.#session.send(method, { requestId: paused.requestId, ...parameters }).catch(() => undefined);
  }

  async #answerTo(paused: PausedRequest): Promise<Answer> {
    const owner = await this.#ownerOf(paused.frameId);
    const watchers = await this.#watchersIn(owner?.contextId);
    if (watchers.length > 0 && isServiceWorker(paused)) return BLOCK;
    const isPage = paused.resourceType === 'Document' || isPrefetch(paused);
    const concerned = watchers.filter(({ subresources }) => subresources || isPage);
    if (!isResponse(paused)) {
      // A page takes one permit: its frames, like all that it loads, take none.
      const waits = owner?.isTopLevel === true && paused.resourceType === 'Document';
      return (await this.#isBlocked(paused, concerned, waits)) ? BLOCK : CONTINUE;
    }
    const blocking = concerned.filter((watcher) => watcher.blocksResponse(paused));
    // Watchers that were asked only because the context of the frame was unknown then.
    for (const watcher of this.#watchers) if (!concerned.includes(watcher)) watcher.forget(paused);
    if (blocking.length > 0) return BLOCK;
    return watchers.length > 0 ? withoutSpeculation(paused) : CONTINUE;
  }

  /**
   * Asks the watchers one after the other, always in the same order: two requests could wait for each other's places
   * otherwise. A request takes one place of a client, and none when it is blocked already.
   */
  async #isBlocked(
    paused: PausedRequest,
    watchers: readonly RequestWatcher[],
    waits: boolean,
  ): Promise<boolean> {
    const clients = new Set<object>();
    let isBlocked = false;
    for (const watcher of watchers) {
      const takes = waits && !isBlocked && !clients.has(watcher.client);
      if (await watcher.blocks(paused, takes)) isBlocked = true;
      else if (watcher.holdsPlace(paused)) clients.add(watcher.client);
    }
    if (isBlocked) for (const watcher of watchers) watcher.forget(paused);
    return isBlocked;
  }

  /** The watchers of a context. When it is unknown, all watchers are asked, which can only block more. */
  async #watchersIn(contextId: string | undefined): Promise<readonly RequestWatcher[]> {
    const watchers = [...this.#watchers];
    if (contextId === undefined) return watchers;
    const contexts = new Set(await this.driver.contextsWithId(contextId));
    return watchers.filter(({ context }) => contexts.has(context));
  }

  async #ownerOf(frameId: string): Promise<Owner | undefined> {
    const known = this.#owners.get(frameId);
    if (known !== undefined) return known;
    const { targetInfos } = (await this.#session.send('Target.getTargets', { filter: [{}] })) as {
      readonly targetInfos: readonly Target[];
    };
    const target = targetInfos.find(({ targetId }) => targetId === frameId);
    const contextId =
      target === undefined ? await this.driver.contextIdOfFrame(frameId) : target.browserContextId;
    if (contextId === undefined) return undefined;
    const owner = { contextId, isTopLevel: target?.type === 'page' };
    this.#owners.set(frameId, owner);
    return owner;
  }
}

function notChromium(cause: unknown): never {
  throw new RobotsInvalidOptionsError(
    'Expected the browser to be Chromium: redirects of other browsers cannot be checked',
    { cause },
  );
}

function isResponse({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode !== undefined || responseErrorReason !== undefined;
}

/** Whether the browser loads ahead: no page can set this field of a request itself. */
function isPrefetch({ request }: PausedRequest): boolean {
  return fieldOf(request, 'sec-purpose') !== undefined;
}

/** Whether it is for the script of a service worker, which could answer navigations unseen. */
function isServiceWorker({ request }: PausedRequest): boolean {
  return fieldOf(request, 'service-worker') === 'script';
}

function fieldOf({ headers }: PausedRequest['request'], name: string): string | undefined {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

/** A response without the rules that it has, or has in its `Speculation-Rules` field, `data:` URLs included. */
function withoutSpeculation({ responseStatusCode, responseHeaders = [] }: PausedRequest): Answer {
  const isRules = responseHeaders.some(
    ({ name, value }) =>
      name.toLowerCase() === 'content-type' && /^\s*application\/speculationrules\+json/i.test(value),
  );
  if (isRules) return BLOCK;
  const rest = responseHeaders.filter(({ name }) => name.toLowerCase() !== 'speculation-rules');
  return rest.length === responseHeaders.length
    ? CONTINUE
    : { method: 'Fetch.continueResponse', responseCode: responseStatusCode, responseHeaders: rest };
}

/** Whether the page or frame of a session has the frame, in its own process. */
export async function hasFrame(session: Session, frameId: string): Promise<boolean> {
  const { frameTree } = (await session.send('Page.getFrameTree')) as { readonly frameTree: FrameTree };
  return includes(frameTree, frameId);
}

function includes({ frame, childFrames = [] }: FrameTree, frameId: string): boolean {
  return frame.id === frameId || childFrames.some((child) => includes(child, frameId));
}

/** The navigations of a page go past the service workers that its profile already has, for as long as the session lives. */
export async function bypassServiceWorkers(session: Session): Promise<void> {
  await Promise.all([
    // No bodies are kept: they are not read here.
    session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
    session.send('Network.setBypassServiceWorker', { bypass: true }),
  ]);
}

/** The target of a page, whose id is that of its main frame. */
export async function targetOf(session: Session): Promise<Target> {
  const { targetInfo } = (await session.send('Target.getTargetInfo')) as { readonly targetInfo: Target };
  return targetInfo;
}

/**
 * Asks a session that is opened for one question. `undefined` when it cannot be opened, or does not answer: the page is
 * closed, or the frame has no session of its own.
 */
export async function askOnce<Answer>(
  opening: Promise<unknown>,
  ask: (session: Session) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    const session = (await opening) as Session;
    const answer = await ask(session);
    // Not awaited, because a page that is navigating answers only afterwards.
    session.detach().catch(() => undefined);
    return answer;
  } catch {
    return undefined;
  }
}
