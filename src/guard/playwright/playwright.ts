import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { invalid, RobotsInvalidOptionsError } from '../../base/index.ts';
import { BrowserRequests, type PausedRequest, type RequestWatcher, targetOf } from './browser-requests.ts';
import type { Decision } from '../../decision/index.ts';
import { redirects } from '../fetch/redirect.ts';
import { type Fields, usageHeaders } from '../fetch/response.ts';
import { Guard, type GuardClient } from '../guard.ts';
import { refusalFor } from '../refusal.ts';
import { ignoredBecause } from '../ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../options.ts';
import type { BrowserContextLike, BrowserLike, PageLike } from './types.ts';

export type { GuardClient } from '../guard.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../options.ts';
export type { BrowserContextLike, BrowserLike, PageLike } from './types.ts';

export interface GuardContextOptions extends ThrowingGuardOptions {
  /** Whether subresources are checked too: images, scripts, `fetch` of pages and workers. @default false */
  readonly subresources?: boolean;
}

/** The guard of a browser context. */
export interface ContextGuard extends AsyncDisposable {
  /**
   * The error that blocked the last navigation of `page`: `RobotsDisallowedError`, `RobotsUnreachableError`, or the
   * error that prevented a decision. Playwright itself reports `net::ERR_BLOCKED_BY_CLIENT` only.
   *
   * @returns `undefined` when the guard did not block it, or the page is closed.
   */
  errorOf(page: PageLike): Promise<unknown>;
  /**
   * Stops checking the navigations of `page`, as `robots: { ignore: true, because }` does for one request. Frames in
   * the page, and pages that it opens, are still checked.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): no reason is given.
   */
  ignore(page: PageLike, because: string): Promise<void>;
  /** Stops guarding. Requests that wait for a decision are blocked. */
  dispose(): Promise<void>;
}

/** Reasons of failure that do not show whether the site is reachable. */
const LOCAL_REASONS: ReadonlySet<string> = new Set([
  'Aborted',
  'AccessDenied',
  'BlockedByClient',
  'BlockedByResponse',
  'InternetDisconnected',
]);
/** The number of requests whose response is checked for a purpose. A browser has far fewer in flight. */
const MAX_PENDING = 10_000;
/** The number of frames for which errors are kept. */
const MAX_ERRORS = 1_000;

/**
 * A script that runs in each document before its own scripts. It disables service workers, which would answer
 * navigations, and speculation rules, which make the browser load pages with requests that cannot be paused.
 */
const INIT_SCRIPT = `
if (self.ServiceWorkerContainer) {
  ServiceWorkerContainer.prototype.register = async () => {
    throw new DOMException('Service workers are disabled: their requests cannot be checked against robots.txt', 'SecurityError');
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
 * Guards a browser context of Playwright with Chromium. It checks each navigation of its pages, popups and frames, and
 * each redirect it meets, against the robots.txt of its own origin before it is sent. `subresources: true` checks
 * everything that pages load.
 *
 * A navigation that is refused is aborted: `page.goto` rejects with `net::ERR_BLOCKED_BY_CLIENT`, and `errorOf` returns
 * the reason. The browser handles everything else, such as cookies, `page.url()` and the history: requests are paused,
 * never repeated. Routes of Playwright run before the guard, which sees the resulting request.
 *
 * With `pacing` a navigation waits for its slot within its own timeout, so set `maxDelayMs` below that timeout.
 *
 * Service workers can no longer be registered in the context, and speculation rules in documents and headers are
 * removed, because their requests cannot be paused. Not checked: rules in shadow trees, service workers that a
 * persistent profile already has, WebSockets, and `context.request`, which does not use the browser (use `guardFetch`).
 * Guard the context before it loads pages: for pages that are already open only navigations are certain to be checked.
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
  const guard = new Guard(client, rest, true);
  if (typeof subresources !== 'boolean') throw invalid('`subresources`', 'true or false', subresources);
  const browser = browserOf(context);
  if (context.serviceWorkers().length > 0) {
    throw new RobotsInvalidOptionsError(
      'Expected a context without service workers, because their requests cannot be checked; ' +
        "create it with `serviceWorkers: 'block'`, or guard it before it loads pages",
    );
  }
  const requests = await BrowserRequests.of(browser);
  await context.addInitScript({ content: INIT_SCRIPT });
  const watcher = new ContextWatcher(context, guard, subresources, requests);
  await requests.add(watcher);
  context.once('close', () => void watcher.dispose());
  return watcher;
}

class ContextWatcher implements ContextGuard, RequestWatcher {
  readonly context: BrowserContextLike;
  readonly subresources: boolean;
  private readonly guard: Guard;
  private readonly requests: BrowserRequests;
  private readonly disposal = new AbortController();
  /** By frame, the error that blocked its last navigation. */
  private readonly errors = new LRUCache<string, { readonly error: unknown }>({ max: MAX_ERRORS });
  /** With a purpose: the decisions that allowed requests whose responses have not arrived, by request. */
  private readonly allowedBy = new LRUCache<string, Decision>({ max: MAX_PENDING });
  /** By main frame, the reason why its page is not checked. */
  private readonly ignored = new Map<string, string>();

  constructor(context: BrowserContextLike, guard: Guard, subresources: boolean, requests: BrowserRequests) {
    this.context = context;
    this.guard = guard;
    this.subresources = subresources;
    this.requests = requests;
  }

  async blocks({
    requestId,
    frameId,
    request,
    resourceType,
    redirectedRequestId,
  }: PausedRequest): Promise<boolean> {
    const navigates = resourceType === 'Document';
    if (navigates && redirectedRequestId === undefined) this.errors.delete(frameId);
    try {
      await this.guard.admit(new URL(request.url), {
        signal: this.disposal.signal,
        because: this.ignored.get(frameId),
        onDecision: this.guard.hasPurpose
          ? (decision) => void this.allowedBy.set(requestId, decision)
          : undefined,
      });
      return false;
    } catch (error) {
      if (navigates) this.errors.set(frameId, { error });
      return true;
    }
  }

  blocksResponse(response: PausedRequest): boolean {
    const { request, responseStatusCode: status, responseErrorReason, responseHeaders } = response;
    if (status !== undefined) {
      this.guard.answered(request.url, status, readerOf(responseHeaders));
      return this.guard.hasPurpose && this.refusesUse(response);
    }
    if (responseErrorReason !== undefined && !LOCAL_REASONS.has(responseErrorReason)) {
      this.guard.unanswered(request.url);
    }
    return false;
  }

  /** Whether the header fields of a response disallow the purpose. Those of a redirect are about no page. */
  private refusesUse({
    requestId,
    frameId,
    resourceType,
    responseStatusCode: status = 0,
    responseHeaders,
  }: PausedRequest): boolean {
    const decision = this.allowedBy.get(requestId);
    this.allowedBy.delete(requestId);
    const fields = allLinesOf(responseHeaders);
    if (redirects({ status, headers: fields })) return false;
    try {
      const refused = this.guard.refusesResponse(decision, usageHeaders(fields));
      if (refused !== undefined) throw refusalFor(refused);
      return false;
    } catch (error) {
      if (resourceType === 'Document') this.errors.set(frameId, { error });
      return true;
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
    // Waiting requests are blocked in this turn, before the browser releases the remaining ones.
    await setImmediate();
    await this.requests.delete(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

function readerOf(fields: PausedRequest['responseHeaders'] = []): Fields {
  return {
    get: (name) => fields.find((field) => field.name.toLowerCase() === name)?.value ?? null,
  };
}

/** Reads fields with all their lines joined, as RFC 9110 §5.3 allows. */
function allLinesOf(fields: PausedRequest['responseHeaders'] = []): Fields {
  return {
    get(name) {
      const lines = fields.filter((field) => field.name.toLowerCase() === name);
      return lines.length === 0 ? null : lines.map(({ value }) => value).join(', ');
    },
  };
}

function browserOf(context: unknown): BrowserLike {
  const names = ['browser', 'pages', 'newCDPSession', 'addInitScript', 'serviceWorkers', 'once'];
  const isContext = names.every((name) => typeof Reflect.get(Object(context), name) === 'function');
  const browser = isContext ? (context as BrowserContextLike).browser() : null;
  if (browser === null) throw invalid('the context', 'a BrowserContext of a browser of Playwright', context);
  return browser;
}
