import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { invalid } from '../../core/base/index.ts';
import { RobotsDeferredError } from '../../core/pacing/index.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import { ignoredBecause, assertThrowing, type ThrowingGuardOptions } from '../shared/options.ts';
import { headerOf, redirects } from '../shared/headers.ts';
import { Guard } from '../shared/guard.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import type { BrowserRequests, PausedRequest, RequestWatcher } from './browser-requests.ts';

export interface GuardContextOptions extends ThrowingGuardOptions {
  /** Whether subresources are checked too: images, scripts, `fetch` of pages and workers. @default false */
  readonly subresources?: boolean;
  /**
   * Whether pages send the client's name as `User-Agent`, in place of the browser's (RFC 9309 §2.2.1). In Playwright this
   * replaces the extra HTTP headers of the context. Without the option, the process is warned once when a page has
   * another product token than robots.txt is checked for.
   * @default false, with a warning
   */
  readonly identify?: boolean;
}

/** The guard of a browser context, whose pages are of the type `Page`. */
export interface BrowserContextGuard<Page> extends AsyncDisposable {
  /**
   * The error that blocked the last navigation of `page`: `RobotsDisallowedError`, `RobotsUnreachableError`, or the
   * error that prevented a decision. The browser itself reports `net::ERR_BLOCKED_BY_CLIENT` only.
   *
   * A navigation that waits for its permit, or timed out while it waited, has `RobotsDeferredError`; with `pacing`, so has a
   * page that was answered with 429 or 503 (with an empty body Chromium reports `net::ERR_HTTP_RESPONSE_CODE_FAILURE`).
   *
   * @returns `undefined` when the guard did not block it, or the page is closed.
   */
  errorOf(page: Page): Promise<unknown>;
  /**
   * Stops checking the navigations of `page`, as `robots: { ignore: true, because }` does for one request. Frames in
   * the page, and pages that it opens, are still checked.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): no reason is given.
   */
  ignore(page: Page, because: string): Promise<void>;
  /** Stops guarding. Requests that wait for a decision are blocked. */
  dispose(): Promise<void>;
}

/** What a browser shows of a request that the guard let go. */
export type NavigationEvent = 'finished' | 'failed';

/** Called with how a request has ended. `isIt` finds the request. */
export type NavigationListener = (event: NavigationEvent, isIt: (request: PausedRequest) => boolean) => void;

/** The part of the pages of both libraries that the guard uses. */
interface ClosingPage {
  once(event: 'close', listener: () => void): unknown;
}

/** The part of the library that controls a context which the guard uses. */
export interface ContextLibrary<Page> {
  readonly context: object;
  readonly requests: BrowserRequests;
  /**
   * Prepares a context before its pages load, by `INIT_SCRIPT` in each of its documents, and lets no service worker of its
   * profile respond to navigations.
   *
   * @param userAgent Replaces that of the browser.
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): that is not possible, and there are some.
   */
  prepare(userAgent: string | undefined): Promise<void>;
  onceClosed(listener: () => void): void;
  /**
   * Calls `listener` when a request has ended. It has failed also when its page or frame is gone, or another navigation
   * began. Returns a function that removes the listener.
   */
  onNavigation(listener: NavigationListener): () => void;
  /** The id of the main frame of a page; `undefined` when the page is closed. */
  mainFrameOf(page: Page): Promise<string | undefined>;
}

/** Reasons for a failure that do not show whether the site is reachable. */
const LOCAL_REASONS: ReadonlySet<string> = new Set([
  'Aborted',
  'AccessDenied',
  'BlockedByClient',
  'BlockedByResponse',
  'InternetDisconnected',
]);
/**
 * How long a document without a response holds its permit: the default timeout of navigations in Playwright and Puppeteer.
 * Neither library shows that a navigation timed out, and the browser still waits.
 */
const NO_RESPONSE_MS = 30_000;
/** The option that gives pages the client's name. Crawlee's guard for browsers has it, too. */
const REMEDY = '`identify: true`, an option of the guard,';
/** The number of requests that are remembered until their responses. A browser has far fewer in flight. */
const MAX_PENDING = 10_000;
/** The number of frames whose errors and current navigations are kept. */
const MAX_FRAMES = 1_000;

/**
 * Guards a context. The options are checked before the browser is asked.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export async function guardWith<Page extends ClosingPage>(
  client: RobotsClient,
  options: GuardContextOptions,
  openLibrary: () => Promise<ContextLibrary<Page>>,
): Promise<BrowserContextGuard<Page>> {
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const { subresources = false, ...rest } = options;
  assertThrowing(rest);
  const guard = new Guard(client, rest, { choosesUserAgent: true });
  if (typeof subresources !== 'boolean') throw invalid('`subresources`', 'true or false', subresources);
  const library = await openLibrary();
  await library.prepare(guard.identity?.fills === true ? guard.identity.userAgent : undefined);
  const watcher = new ContextWatcher(library, guard, subresources, client);
  await library.requests.add(watcher);
  library.onceClosed(() => void watcher.dispose());
  if (guard.paces) watcher.watchNavigations();
  return watcher;
}

/** A request that the browser holds back, or has sent. */
interface BrowserRequest {
  readonly paused: PausedRequest;
  readonly request: GuardedRequest;
  /** Ends its wait for a decision or a permit. */
  readonly leaving: AbortController;
  /** Absent while it waits. */
  started?: GuardedRequest;
  /** Frees its permit when the site does not respond. */
  timer?: NodeJS.Timeout;
}

class ContextWatcher<Page extends ClosingPage> implements BrowserContextGuard<Page>, RequestWatcher {
  readonly context: object;
  readonly subresources: boolean;
  readonly client: RobotsClient;
  readonly #library: ContextLibrary<Page>;
  readonly #guard: Guard;
  readonly #disposal = new AbortController();
  /** By frame, the error that blocked its last navigation. */
  readonly #errors = new LRUCache<string, { readonly error: unknown }>({ max: MAX_FRAMES });
  /** By frame, the request for its document. It ends when another one begins in the frame. */
  readonly #navigations = new LRUCache<string, BrowserRequest>({
    max: MAX_FRAMES,
    dispose: (navigation) => this.#end(navigation),
  });
  /** The requests that may still get a response or a redirect, by their id. */
  readonly #pending = new LRUCache<string, BrowserRequest>({ max: MAX_PENDING });
  /** By main frame, the reason why its page is not checked. */
  readonly #ignored = new Map<string, string>();

  constructor(library: ContextLibrary<Page>, guard: Guard, subresources: boolean, client: RobotsClient) {
    this.client = client;
    this.context = library.context;
    this.#library = library;
    this.#guard = guard;
    this.subresources = subresources;
  }

  async blocks(paused: PausedRequest, waits: boolean): Promise<boolean> {
    const { requestId, frameId, resourceType, redirectedRequestId } = paused;
    const navigates = resourceType === 'Document';
    const leaving = navigates ? this.#navigationEnd() : this.#disposal;
    const request = this.#planned(paused, leaving.signal, waits);
    const pending: BrowserRequest = { paused, request, leaving };
    this.#pending.set(requestId, pending);
    if (navigates) {
      this.#guard.identity?.chosen(String(headerOf(paused.request.headers, 'user-agent') ?? ''), REMEDY);
      if (redirectedRequestId === undefined) this.#errors.delete(frameId);
      this.#navigations.set(frameId, pending);
    }
    try {
      pending.started = await request.startOrThrow();
      if (request.isInFlight) pending.timer = setTimeout(() => this.forget(paused), NO_RESPONSE_MS).unref();
      return false;
    } catch (error) {
      request.finish();
      if (this.#navigations.peek(frameId) === pending) this.#errors.set(frameId, { error });
      return true;
    }
  }

  /** Ends the wait of a navigation: at once when the guard is disposed of. */
  #navigationEnd(): AbortController {
    const leaving = new AbortController();
    const { aborted, reason } = this.#disposal.signal;
    if (aborted) leaving.abort(reason);
    return leaving;
  }

  blocksResponse(response: PausedRequest): boolean {
    const { requestId, frameId, resourceType, request } = response;
    const { responseStatusCode: status, responseErrorReason } = response;
    const pending = this.#pending.get(requestId);
    const started = pending?.started ?? this.#guard.plan(request.url);
    if (status === undefined) {
      if (responseErrorReason !== undefined && !LOCAL_REASONS.has(responseErrorReason)) {
        this.#guard.reports.unreachable(request.url);
      }
      started.finish();
      this.forget(response);
      return false;
    }
    const headers = (response.responseHeaders ?? []).flatMap(({ name, value }) => [name, value]);
    const navigation = this.#navigations.peek(frameId);
    // A document holds its permit until its body has arrived. Chromium stays where it is on a 204 or 205, and shows no end of
    // it in a popup.
    const hasBody =
      started.isInFlight &&
      navigation?.paused.requestId === requestId &&
      status !== 204 &&
      status !== 205 &&
      !redirects(status, headers);
    const refusal = hasBody
      ? started.onResponseHeaders(status, headers)
      : started.onResponse(status, headers);
    if (hasBody && refusal === undefined) clearTimeout(navigation.timer);
    else this.forget(response);
    // Chromium rejects the navigation to a page without a body, and then there is no response to show its status.
    const error = refusal ?? started.deferral;
    if (error !== undefined && resourceType === 'Document') this.#errors.set(frameId, { error });
    return refusal !== undefined;
  }

  forget({ requestId, frameId }: PausedRequest): void {
    if (this.#navigations.peek(frameId)?.paused.requestId === requestId) this.#navigations.delete(frameId);
  }

  holdsPermit({ requestId }: PausedRequest): boolean {
    return this.#pending.peek(requestId)?.request.isInFlight === true;
  }

  /** Watches the requests of navigations, until the guard is disposed of. */
  watchNavigations(): void {
    const unsubscribe = this.#library.onNavigation((event, isIt) => this.#onNavigation(event, isIt));
    const { signal } = this.#disposal;
    if (signal.aborted) unsubscribe();
    else signal.addEventListener('abort', unsubscribe, { once: true });
  }

  #onNavigation(...[event, isIt]: Parameters<NavigationListener>): void {
    for (const [frameId, { paused, request }] of this.#navigations.entries()) {
      // When a URL redirects to itself, one request ends as another for the same URL begins.
      if (!isIt(paused) || (event === 'finished' && !request.hasResponded)) continue;
      this.#navigations.delete(frameId);
      return;
    }
  }

  #end({ request, leaving, timer }: BrowserRequest): void {
    clearTimeout(timer);
    leaving.abort(new DOMException('The navigation has ended', 'AbortError'));
    request.finish();
  }

  #planned(
    { request, frameId, redirectedRequestId }: PausedRequest,
    signal: AbortSignal,
    waits: boolean,
  ): GuardedRequest {
    const options = { signal, because: this.#ignored.get(frameId), waits };
    const from =
      redirectedRequestId === undefined ? undefined : this.#pending.get(redirectedRequestId)?.request;
    return from?.redirectedTo(request.url, options) ?? this.#guard.plan(request.url, options);
  }

  async errorOf(page: Page): Promise<unknown> {
    const mainFrame = await this.#library.mainFrameOf(page);
    if (mainFrame === undefined) return undefined;
    const navigation = this.#navigations.peek(mainFrame);
    return navigation === undefined || navigation.started !== undefined
      ? this.#errors.get(mainFrame)?.error
      : this.#deferralOf(navigation.request);
  }

  /** Neither library shows that a navigation has timed out: to the guard it waits on. */
  async #deferralOf({ decision, chain }: GuardedRequest): Promise<RobotsDeferredError | undefined> {
    const pacing = decision && (await this.client.policy(decision.origin)).pacing;
    if (decision === undefined || pacing === undefined) return undefined;
    const { drainsAt, nextAt, delayFrom, gapMs } = pacing;
    const retryAt = drainsAt ?? nextAt ?? this.#guard.settings.clock.now();
    const circumstance = 'and the navigation waits within its own timeout (set `maxDelayMs` below that)';
    return new RobotsDeferredError(decision, { retryAt, delayFrom, causeMs: gapMs, circumstance }, chain);
  }

  async ignore(page: Page, because: string): Promise<void> {
    ignoredBecause({ ignore: true, because });
    const mainFrame = await this.#library.mainFrameOf(page);
    if (mainFrame === undefined) return;
    this.#ignored.set(mainFrame, because);
    page.once('close', () => this.#ignored.delete(mainFrame));
  }

  async dispose(): Promise<void> {
    const reason = new DOMException('The context is no longer guarded', 'AbortError');
    this.#disposal.abort(reason);
    for (const { leaving } of this.#navigations.values()) leaving.abort(reason);
    // Waiting requests are blocked in this turn. After it, the browser continues all paused requests.
    await setImmediate();
    await this.#library.requests.delete(this);
    // Their responses are no longer seen.
    this.#navigations.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
