import { LRUCache } from 'lru-cache';
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { headerOf } from '../shared/headers.ts';

/** A request that Chromium holds back until the session continues or fails it (`Fetch.requestPaused`). */
export interface PausedRequest {
  readonly requestId: string;
  /** The id of the request in `Network` events. */
  readonly networkId?: string;
  /** The frame or worker that makes the request. */
  readonly frameId: string;
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly resourceType: string;
  /** The `requestId` of the request that was redirected here. Each redirect has its own id; a response has the id of its request. */
  readonly redirectedRequestId?: string;
  /** Set, unless `responseErrorReason` is, when the response is held back instead of the request. */
  readonly responseStatusCode?: number;
  readonly responseErrorReason?: string;
  readonly responseHeaders?: readonly { readonly name: string; readonly value: string }[];
}

/** Decides about the requests of one context. */
export interface RequestWatcher {
  /** The context as the library gives it. */
  readonly context: object;
  /** Whether it also decides about subresources. */
  readonly subresources: boolean;
  /** The client whose permits its requests take. */
  readonly client: object;
  /**
   * Whether to block a request. Never rejects.
   *
   * @param waits Whether an allowed request waits for a permit.
   */
  blocks(request: PausedRequest, waits: boolean): Promise<boolean>;
  /** Whether a request that it did not block holds a permit. */
  holdsPermit(request: PausedRequest): boolean;
  /** Called with the response header, or the failure, of a request that it did not block. Returns whether to block it. */
  blocksResponse(response: PausedRequest): boolean;
  /** Called when a request that it may have allowed has ended in another way. */
  forget(request: PausedRequest): void;
}

/** A DevTools session of Playwright or Puppeteer. */
export interface Session {
  send(method: string, parameters?: object): Promise<unknown>;
  on(event: string, listener: (event: never) => void): unknown;
  detach(): Promise<void>;
}

/** The part of Playwright or Puppeteer that the guard uses. Contexts are the library's own objects. */
export interface BrowserDriver {
  /** The session of the whole browser. */
  readonly session: Session;
  /** The contexts that may have the id: several only while some have no page, which shows the id. */
  contextsWithId(id: string): Promise<readonly object[]>;
  /** Whether a context has closed, for a library without an event for that. */
  hasClosed?(context: object): boolean;
  /** The id of the context of a frame that is no target; `undefined` when no page has the frame. */
  contextIdOfFrame(frameId: string): Promise<string | undefined>;
}

interface Target {
  readonly targetId: string;
  readonly type: string;
  readonly browserContextId?: string;
}

/** The page or context to which a frame or worker belongs. It never changes. */
interface Owner {
  readonly contextId: string;
  /** Whether the frame is the main frame of a page. */
  readonly isTopLevel: boolean;
}

interface FrameTree {
  readonly frame: { readonly id: string };
  readonly childFrames?: readonly FrameTree[];
}

/** The command that resumes a paused request, with its parameters. */
interface Resumption {
  readonly method: string;
  readonly errorReason?: string;
  readonly responseCode?: number;
  readonly responseHeaders?: PausedRequest['responseHeaders'];
}

const BLOCK: Resumption = { method: 'Fetch.failRequest', errorReason: 'BlockedByClient' };
const CONTINUE: Resumption = { method: 'Fetch.continueRequest' };

/** Requests are paused before they are sent, and again when the response header arrives. */
const STAGES = ['Request', 'Response'];
const NAVIGATIONS = [
  ...STAGES.map((requestStage) => ({ urlPattern: '*', resourceType: 'Document', requestStage })),
  // `<link rel="prefetch">`, which loads a page for the next navigation. Chromium gives it the type of `fetch()`.
  { urlPattern: '*', resourceType: 'Fetch', requestStage: 'Request' },
  // Scripts of service workers, and the files of the `Speculation-Rules` field of a page that a route fulfilled.
  ...STAGES.map((requestStage) => ({ urlPattern: '*', resourceType: 'Other', requestStage })),
];
const EVERYTHING = STAGES.map((requestStage) => ({ urlPattern: '*', requestStage }));
/** Turns off FedCM and the Payment Request API, even if the page has such a field: the last of two members wins. */
const NO_FEATURES = { name: 'permissions-policy', value: 'identity-credentials-get=(), payment=()' };
const MAX_FRAMES = 10_000;

/**
 * The requests of one browser. They are paused in the browser itself, after all interceptors of pages. So each request
 * is seen as it will be sent: redirects, popups and cross-origin frames included.
 */
export class BrowserRequests<Driver extends BrowserDriver = BrowserDriver> {
  readonly driver: Driver;
  readonly #watchers = new Set<RequestWatcher>();
  /** By frame. */
  readonly #owners = new LRUCache<string, Owner>({ max: MAX_FRAMES });

  constructor(driver: Driver) {
    this.driver = driver;
    driver.session.on('Fetch.requestPaused', (request: PausedRequest) => void this.#resume(request));
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

  async #resume(paused: PausedRequest): Promise<void> {
    // A request without a decision is blocked.
    const { method, ...parameters } = await this.#resumptionOf(paused).catch(() => BLOCK);
    // The command fails when the page was closed.
    await this.#session.send(method, { requestId: paused.requestId, ...parameters }).catch(() => undefined);
  }

  async #resumptionOf(paused: PausedRequest): Promise<Resumption> {
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
    // Some watchers were asked about the request only because its context was unknown then.
    for (const watcher of this.#watchers) if (!concerned.includes(watcher)) watcher.forget(paused);
    if (blocking.length > 0) return BLOCK;
    return watchers.length > 0 ? watchedResponse(paused, watchers) : CONTINUE;
  }

  /**
   * Asks the watchers one after the other, always in the same order, so that two requests never wait for each other's
   * permits. A request takes one permit of each client, and none when it is already blocked.
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
      else if (watcher.holdsPermit(paused)) clients.add(watcher.client);
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

/**
 * Returns what gives the requests of a browser: one instance for each.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the browser is not Chromium.
 */
export function requestsByBrowser<Browser extends object, Driver extends BrowserDriver>(
  open: (browser: Browser) => Promise<Driver>,
): (browser: Browser) => Promise<BrowserRequests<Driver>> {
  const known = new WeakMap<Browser, Promise<BrowserRequests<Driver>>>();
  return (browser) => {
    const opened =
      known.get(browser) ?? open(browser).then((driver) => new BrowserRequests(driver), notChromium);
    known.set(browser, opened);
    opened.catch(() => known.delete(browser));
    return opened;
  };
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

/** Whether the browser loads a page ahead. Pages cannot set this field. */
function isPrefetch({ request }: PausedRequest): boolean {
  return headerOf(request.headers, 'sec-purpose') !== undefined;
}

/** Whether it loads the script of a service worker, which could respond to navigations unseen. */
function isServiceWorker({ request }: PausedRequest): boolean {
  return headerOf(request.headers, 'service-worker') === 'script';
}

/**
 * Removes speculation rules from a watched page: files of them, and the `Speculation-Rules` field, whose URLs may be
 * `data:` URLs.
 *
 * @param watchers If one watches subresources, features whose requests cannot be paused are turned off, too.
 */
function watchedResponse(response: PausedRequest, watchers: readonly RequestWatcher[]): Resumption {
  const { responseStatusCode: status = 0, responseHeaders = [], resourceType } = response;
  const isRules = responseHeaders.some(
    ({ name, value }) =>
      name.toLowerCase() === 'content-type' && /^\s*application\/speculationrules\+json/i.test(value),
  );
  if (isRules) return BLOCK;
  const rest = responseHeaders.filter(({ name }) => name.toLowerCase() !== 'speculation-rules');
  const isDocument = resourceType === 'Document' && (status >= 400 || (status >= 200 && status < 300));
  const added = isDocument && watchers.some(({ subresources }) => subresources) ? [NO_FEATURES] : [];
  return rest.length === responseHeaders.length && added.length === 0
    ? CONTINUE
    : { method: 'Fetch.continueResponse', responseCode: status, responseHeaders: [...rest, ...added] };
}

/** Whether the process of a session's page or frame has the frame. */
export async function hasFrame(session: Session, frameId: string): Promise<boolean> {
  const { frameTree } = (await session.send('Page.getFrameTree')) as { readonly frameTree: FrameTree };
  return includes(frameTree, frameId);
}

function includes({ frame, childFrames = [] }: FrameTree, frameId: string): boolean {
  return frame.id === frameId || childFrames.some((child) => includes(child, frameId));
}

/** The target of a page. The main frame has the same id. */
export async function targetOf(session: Session): Promise<Target> {
  const { targetInfo } = (await session.send('Target.getTargetInfo')) as { readonly targetInfo: Target };
  return targetInfo;
}

/** Opens a session for one question. `undefined` when the page is closed, or the frame has no own session. */
export async function askOnce<Result>(
  opening: Promise<unknown>,
  ask: (session: Session) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const session = (await opening) as Session;
    const result = await ask(session);
    // Not awaited: a page that is navigating replies only afterwards.
    session.detach().catch(() => undefined);
    return result;
  } catch {
    return undefined;
  }
}
