import { LRUCache } from 'lru-cache';
import { RobotsInvalidOptionsError } from '../../base/index.ts';
import type { BrowserContextLike, BrowserLike, PageLike } from './types.ts';

/** A request that Chromium holds back until the session continues or fails it (`Fetch.requestPaused`). */
export interface PausedRequest {
  readonly requestId: string;
  /** The frame, or the worker, that makes the request. */
  readonly frameId: string;
  readonly request: { readonly url: string };
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
  readonly context: BrowserContextLike;
  /** Whether it decides about subresources too, not about navigations only. */
  readonly subresources: boolean;
  /** Whether to block a request. Never rejects. */
  blocks(request: PausedRequest): Promise<boolean>;
  /**
   * Called with the response, or the failure, of a request that it did not block. Returns whether to block the
   * response. Its body has not been read then.
   */
  blocksResponse(response: PausedRequest): boolean;
}

/** A session of the DevTools protocol. */
interface Session {
  send(method: string, parameters?: object): Promise<unknown>;
  on(event: string, listener: (event: PausedRequest) => void): unknown;
  detach(): Promise<void>;
}

interface Target {
  readonly targetId: string;
  readonly browserContextId?: string;
}

interface FrameTreeResult {
  readonly frameTree: FrameTree;
}

interface FrameTree {
  readonly frame: { readonly id: string };
  readonly childFrames?: readonly FrameTree[];
}

/** The stages at which requests are paused: before they are sent, and when the response arrives. */
const STAGES = ['Request', 'Response'];
const NAVIGATIONS = STAGES.map((requestStage) => ({
  urlPattern: '*',
  resourceType: 'Document',
  requestStage,
}));
const EVERYTHING = STAGES.map((requestStage) => ({ urlPattern: '*', requestStage }));
/** Matches the files of the `Speculation-Rules` header, which Chromium requests with this type. */
const RULES = { urlPattern: '*', resourceType: 'Other', requestStage: 'Response' };
const MAX_FRAMES = 10_000;

/**
 * The requests of one browser. They are paused in the browser itself, after all routes of Playwright. So each hop of
 * each redirect is seen as it will be sent, including those of popups and cross-origin frames.
 */
export class BrowserRequests {
  private static readonly all = new WeakMap<BrowserLike, Promise<BrowserRequests>>();
  private readonly browser: BrowserLike;
  private readonly session: Session;
  private readonly watchers = new Set<RequestWatcher>();
  /** Ids of contexts, by frame. A frame stays in its context. */
  private readonly owners = new LRUCache<string, string>({ max: MAX_FRAMES });
  private readonly contextIds = new WeakMap<BrowserContextLike, string>();

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the browser is not Chromium. */
  static of(browser: BrowserLike): Promise<BrowserRequests> {
    const known = this.all.get(browser) ?? this.open(browser);
    this.all.set(browser, known);
    return known;
  }

  private static async open(browser: BrowserLike): Promise<BrowserRequests> {
    try {
      return new BrowserRequests(browser, (await browser.newBrowserCDPSession()) as Session);
    } catch (cause) {
      this.all.delete(browser);
      throw new RobotsInvalidOptionsError(
        'Expected the browser to be Chromium: redirects of other browsers cannot be checked',
        { cause },
      );
    }
  }

  private constructor(browser: BrowserLike, session: Session) {
    this.browser = browser;
    this.session = session;
    session.on('Fetch.requestPaused', (request) => void this.answer(request));
  }

  async add(watcher: RequestWatcher): Promise<void> {
    this.watchers.add(watcher);
    await this.update();
  }

  async delete(watcher: RequestWatcher): Promise<void> {
    this.watchers.delete(watcher);
    // The browser may be closed.
    await this.update().catch(() => undefined);
  }

  private async update(): Promise<void> {
    const watchers = [...this.watchers];
    if (watchers.length === 0) {
      await this.session.send('Fetch.disable');
      return;
    }
    const requests = watchers.some(({ subresources }) => subresources) ? EVERYTHING : NAVIGATIONS;
    await this.session.send('Fetch.enable', { patterns: [...requests, RULES] });
  }

  private async answer(paused: PausedRequest): Promise<void> {
    // A request without a decision is blocked.
    const blocked = await this.blocks(paused).catch(() => true);
    const { requestId } = paused;
    const answered = blocked
      ? this.session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
      : this.session.send('Fetch.continueRequest', { requestId });
    // A request whose page was closed is gone, and needs no command.
    await answered.catch(() => undefined);
  }

  private async blocks(paused: PausedRequest): Promise<boolean> {
    const watchers = await this.watchersOf(paused.frameId);
    const concerned = watchers.filter(
      ({ subresources }) => subresources || paused.resourceType === 'Document',
    );
    if (isResponse(paused)) {
      const blocked = concerned.filter((watcher) => watcher.blocksResponse(paused));
      return blocked.length > 0 || (watchers.length > 0 && isSpeculationRules(paused));
    }
    const verdicts = await Promise.all(concerned.map((watcher) => watcher.blocks(paused)));
    return verdicts.includes(true);
  }

  /** The watchers of a frame. When its context is unknown, all watchers are asked, which can only block more. */
  private async watchersOf(frameId: string): Promise<readonly RequestWatcher[]> {
    const owner = await this.ownerOf(frameId);
    const watchers = [...this.watchers];
    if (owner === undefined) return watchers;
    const anonymous = new Set<BrowserContextLike>();
    for (const context of this.browser.contexts()) {
      const id = await this.contextId(context);
      if (id === owner) return watchers.filter((watcher) => watcher.context === context);
      if (id === undefined) anonymous.add(context);
    }
    return watchers.filter(({ context }) => anonymous.has(context));
  }

  private async ownerOf(frameId: string): Promise<string | undefined> {
    const known = this.owners.get(frameId);
    if (known !== undefined) return known;
    const { targetInfos } = (await this.session.send('Target.getTargets', { filter: [{}] })) as {
      readonly targetInfos: readonly Target[];
    };
    const target = targetInfos.find(({ targetId }) => targetId === frameId);
    const owner = target === undefined ? await this.searchFrame(frameId) : target.browserContextId;
    if (owner !== undefined) this.owners.set(frameId, owner);
    return owner;
  }

  /** Searches the pages for a frame. A frame in the process of its parent has no target of its own. */
  private async searchFrame(frameId: string): Promise<string | undefined> {
    // Ask all pages at once, because a page that is navigating answers only afterwards.
    const searches = this.browser.contexts().flatMap((context) =>
      context.pages().flatMap((page) =>
        [page, ...page.frames()].map(async (scope) => {
          const tree = (await askOnce(context, scope, 'Page.getFrameTree')) as FrameTreeResult | undefined;
          if (tree === undefined || !includes(tree.frameTree, frameId)) throw new Error('not here');
          return this.contextId(context);
        }),
      ),
    );
    return Promise.any(searches).catch(() => undefined);
  }

  private async contextId(context: BrowserContextLike): Promise<string | undefined> {
    const known = this.contextIds.get(context);
    if (known !== undefined) return known;
    for (const page of context.pages()) {
      const id = (await targetOf(page))?.browserContextId;
      if (id === undefined) continue;
      this.contextIds.set(context, id);
      return id;
    }
    return undefined;
  }
}

function isResponse({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode !== undefined || responseErrorReason !== undefined;
}

function isSpeculationRules({ responseHeaders = [] }: PausedRequest): boolean {
  return responseHeaders.some(
    ({ name, value }) =>
      name.toLowerCase() === 'content-type' && /^\s*application\/speculationrules\+json/i.test(value),
  );
}

function includes({ frame, childFrames = [] }: FrameTree, frameId: string): boolean {
  return frame.id === frameId || childFrames.some((child) => includes(child, frameId));
}

/** The target of a page, whose id is that of its main frame; `undefined` when the page is closed. */
export async function targetOf(page: PageLike): Promise<Target | undefined> {
  const answer = await askOnce(page.context(), page, 'Target.getTargetInfo');
  return (answer as { readonly targetInfo: Target } | undefined)?.targetInfo;
}

/** `undefined` for a page that is closed, and for a frame without a session of its own. */
async function askOnce(context: BrowserContextLike, scope: object, method: string): Promise<unknown> {
  try {
    const session = (await context.newCDPSession(scope as never)) as Session;
    const answer = await session.send(method);
    // Not awaited, because a page that is navigating answers only afterwards.
    session.detach().catch(() => undefined);
    return answer;
  } catch {
    return undefined;
  }
}
