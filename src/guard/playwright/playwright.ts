import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { invalid, RobotsInvalidOptionsError } from '../../base/index.ts';
import { BrowserRequests, type PausedRequest, type RequestWatcher, targetOf } from './browser-requests.ts';
import { Guard, type GuardClient } from '../guard.ts';
import { ignoredBecause } from '../ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../options.ts';
import type { BrowserContextLike, BrowserLike, PageLike } from './types.ts';

export type { GuardClient } from '../guard.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../options.ts';
export type { BrowserContextLike, BrowserLike, PageLike } from './types.ts';

export interface GuardContextOptions extends ThrowingGuardOptions {
  /** Whether what pages load is asked about, too: images, scripts, `fetch` of pages and workers. @default false */
  readonly subresources?: boolean;
}

/** The guard of a browser context. */
export interface ContextGuard extends AsyncDisposable {
  /**
   * Why the last navigation of `page` was blocked: `RobotsDisallowedError`, `RobotsUnreachableError`, or what kept
   * the guard from deciding. Playwright itself says `net::ERR_BLOCKED_BY_CLIENT` only.
   *
   * @returns `undefined` when it was not blocked by the guard, and when the page is closed.
   */
  errorOf(page: PageLike): Promise<unknown>;
  /**
   * From now on `page` goes where it likes unasked: for one page what `robots: { ignore: true, because }` is for one
   * request. Frames in it, and pages it opens, are asked about.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): no reason is given.
   */
  ignore(page: PageLike, because: string): Promise<void>;
  /** Stops guarding. What waits for a decision is blocked. */
  dispose(): Promise<void>;
}

/** Why a request failed, where that says nothing of the site. */
const LOCAL_REASONS: ReadonlySet<string> = new Set([
  'Aborted',
  'AccessDenied',
  'BlockedByClient',
  'BlockedByResponse',
  'InternetDisconnected',
]);
/** Errors are kept for so many frames. */
const MAX_ERRORS = 1_000;

/**
 * Run in each document before its own scripts. Service workers would answer navigations, and speculation rules make
 * the browser load pages ahead, where nothing can hold the requests back.
 */
const KEEP_IN_SIGHT = `
if (self.ServiceWorkerContainer) {
  ServiceWorkerContainer.prototype.register = async () => {
    throw new DOMException('Service workers are off: robots.txt could not be asked about their requests', 'SecurityError');
  };
}
{
  const removeRules = (scripts) => {
    for (const script of scripts) if (/^speculationrules$/i.test(script.type)) script.remove();
  };
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (node.localName === 'script') removeRules([node]);
        else if (node.querySelectorAll) removeRules(node.querySelectorAll('script'));
      }
    }
  }).observe(document, { childList: true, subtree: true });
}
`;

/**
 * Guards a browser context of Playwright with Chromium: each navigation of its pages, popups and frames, and each
 * redirect it meets, is held against the robots.txt of its own origin before it is sent. `subresources: true` does so
 * with all that pages load.
 *
 * A navigation that may not be made is aborted: `page.goto` rejects with `net::ERR_BLOCKED_BY_CLIENT`, and `errorOf`
 * tells why. Everything else, such as cookies, `page.url()` and the history, is the browser's own doing: requests are
 * held back, never made again. Routes of Playwright go before the guard, which sees what becomes of a request.
 *
 * With `pacing` a navigation waits for its slot within its own timeout: let `maxDelayMs` be less.
 *
 * Service workers cannot be registered in the context any more, and speculation rules in documents and headers are
 * taken out, since they make requests that cannot be held back. Not seen: rules in shadow trees, service workers that
 * a persistent profile has from before, WebSockets, and `context.request`, which is no browser (use `guardFetch`).
 * Guard the context before it loads pages: of those there already only navigations are seen for certain.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): Firefox and WebKit follow redirects unseen, so
 *   their contexts are refused, as is one with service workers.
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
  client: GuardClient,
  options: GuardContextOptions = {},
): Promise<ContextGuard> {
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const { subresources = false, ...rest } = options;
  assertThrowing(rest);
  const guard = new Guard(client, rest);
  if (typeof subresources !== 'boolean') throw invalid('`subresources`', 'true or false', subresources);
  const browser = browserOf(context);
  if (context.serviceWorkers().length > 0) {
    throw new RobotsInvalidOptionsError(
      'Expected a context without service workers, whose requests cannot be held back; ' +
        "make it with `serviceWorkers: 'block'`, or guard it before it loads pages",
    );
  }
  const requests = await BrowserRequests.of(browser);
  await context.addInitScript({ content: KEEP_IN_SIGHT });
  const watcher = new Watcher(context, guard, subresources, requests);
  await requests.add(watcher);
  context.once('close', () => void watcher.dispose());
  return watcher;
}

class Watcher implements ContextGuard, RequestWatcher {
  readonly context: BrowserContextLike;
  readonly subresources: boolean;
  private readonly guard: Guard;
  private readonly requests: BrowserRequests;
  private readonly disposal = new AbortController();
  /** By frame, what kept it from going where it was to go last. */
  private readonly errors = new LRUCache<string, { readonly error: unknown }>({ max: MAX_ERRORS });
  /** By main frame, why its page is not asked about. */
  private readonly ignored = new Map<string, string>();

  constructor(context: BrowserContextLike, guard: Guard, subresources: boolean, requests: BrowserRequests) {
    this.context = context;
    this.guard = guard;
    this.subresources = subresources;
    this.requests = requests;
  }

  async blocks({ frameId, request, resourceType, redirectedRequestId }: PausedRequest): Promise<boolean> {
    const navigates = resourceType === 'Document';
    if (navigates && redirectedRequestId === undefined) this.errors.delete(frameId);
    try {
      await this.guard.admit(new URL(request.url), {
        signal: this.disposal.signal,
        because: this.ignored.get(frameId),
      });
      return false;
    } catch (error) {
      if (navigates) this.errors.set(frameId, { error });
      return true;
    }
  }

  answered({
    request,
    responseStatusCode: status,
    responseErrorReason,
    responseHeaders,
  }: PausedRequest): void {
    if (status !== undefined) {
      this.guard.answered(request.url, status, readerOf(responseHeaders));
    } else if (responseErrorReason !== undefined && !LOCAL_REASONS.has(responseErrorReason)) {
      this.guard.unanswered(request.url);
    }
  }

  async errorOf(page: PageLike): Promise<unknown> {
    const target = await targetOf(page);
    return target && this.errors.get(target.targetId)?.error;
  }

  async ignore(page: PageLike, because: string): Promise<void> {
    ignoredBecause({ ignore: true, because });
    const target = await targetOf(page);
    if (target === undefined) return;
    this.ignored.set(target.targetId, because);
    page.once('close', () => this.ignored.delete(target.targetId));
  }

  async dispose(): Promise<void> {
    this.disposal.abort(new DOMException('The context is no longer guarded', 'AbortError'));
    // What waits is answered in this turn, before the browser lets go of what is left.
    await setImmediate();
    await this.requests.delete(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

function readerOf(fields: PausedRequest['responseHeaders'] = []): { get(name: string): string | null } {
  return {
    get: (name) => fields.find((field) => field.name.toLowerCase() === name)?.value ?? null,
  };
}

function browserOf(context: unknown): BrowserLike {
  const names = ['browser', 'pages', 'newCDPSession', 'addInitScript', 'serviceWorkers', 'once'];
  const isContext = names.every((name) => typeof Reflect.get(Object(context), name) === 'function');
  const browser = isContext ? (context as BrowserContextLike).browser() : null;
  if (browser === null) throw invalid('the context', 'a BrowserContext of a browser of Playwright', context);
  return browser;
}
