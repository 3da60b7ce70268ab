import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { invalid, RobotsInvalidOptionsError } from '../../base/index.ts';
import type { Decision } from '../../decision/index.ts';
import { redirects } from '../fetch/redirect.ts';
import { type Fields, usageHeaders } from '../fetch/response.ts';
import type { GuardClient } from '../client.ts';
import { Guard } from '../guard.ts';
import { ignoredBecause } from '../ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../options.ts';
import { refusalFor } from '../refusal.ts';
import type { BrowserRequests, PausedRequest, RequestWatcher } from './browser-requests.ts';
import { INIT_SCRIPT } from './init-script.ts';
import { turnPreloadingOff } from './preloading.ts';

export interface GuardContextOptions extends ThrowingGuardOptions {
  /** Whether subresources are checked too: images, scripts, `fetch` of pages and workers. @default false */
  readonly subresources?: boolean;
}

/** The guard of a browser context, whose pages are of the type `Page`. */
export interface BrowserContextGuard<Page> extends AsyncDisposable {
  /**
   * The error that blocked the last navigation of `page`: `RobotsDisallowedError`, `RobotsUnreachableError`, or the
   * error that prevented a decision. The browser itself reports `net::ERR_BLOCKED_BY_CLIENT` only.
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

/** The part of the library that controls a context which the guard uses. */
export interface ContextLibrary<Page> {
  readonly context: object;
  readonly hasServiceWorkers: boolean;
  /** For the error message: the way to make a context in which none can be registered. */
  readonly withoutServiceWorkers: string;
  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the browser is not Chromium. */
  requests(): Promise<BrowserRequests>;
  /** Makes a script run in each document of the context, before the scripts of the document. */
  addInitScript(source: string): Promise<void>;
  onceClosed(listener: () => void): void;
  /** The id of the main frame of a page; `undefined` when the page is closed. */
  mainFrameOf(page: Page): Promise<string | undefined>;
  oncePageCloses(page: Page, listener: () => void): void;
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
 * Guards a context.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export async function guardWith<Page>(
  library: ContextLibrary<Page>,
  client: GuardClient,
  options: GuardContextOptions,
): Promise<BrowserContextGuard<Page>> {
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const { subresources = false, ...rest } = options;
  assertThrowing(rest);
  const guard = new Guard(client, rest, true);
  if (typeof subresources !== 'boolean') throw invalid('`subresources`', 'true or false', subresources);
  if (library.hasServiceWorkers) {
    throw new RobotsInvalidOptionsError(
      'Expected a context without service workers, because their requests cannot be checked; ' +
        library.withoutServiceWorkers,
    );
  }
  const requests = await library.requests();
  await Promise.all([library.addInitScript(INIT_SCRIPT), turnPreloadingOff(requests.driver.session)]);
  const watcher = new ContextWatcher(library, guard, subresources, requests);
  await requests.add(watcher);
  library.onceClosed(() => void watcher.dispose());
  return watcher;
}

class ContextWatcher<Page> implements BrowserContextGuard<Page>, RequestWatcher {
  readonly context: object;
  readonly subresources: boolean;
  private readonly library: ContextLibrary<Page>;
  private readonly guard: Guard;
  private readonly requests: BrowserRequests;
  private readonly disposal = new AbortController();
  /** By frame, the error that blocked its last navigation. */
  private readonly errors = new LRUCache<string, { readonly error: unknown }>({ max: MAX_ERRORS });
  /** With a purpose: the decisions that allowed requests whose responses have not arrived, by request. */
  private readonly allowedBy = new LRUCache<string, Decision>({ max: MAX_PENDING });
  /** By main frame, the reason why its page is not checked. */
  private readonly ignored = new Map<string, string>();

  constructor(library: ContextLibrary<Page>, guard: Guard, subresources: boolean, requests: BrowserRequests) {
    this.context = library.context;
    this.library = library;
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
      this.guard.reports.answered(request.url, status, readerOf(responseHeaders));
      return this.guard.hasPurpose && this.refusesUse(response);
    }
    if (responseErrorReason !== undefined && !LOCAL_REASONS.has(responseErrorReason)) {
      this.guard.reports.unanswered(request.url);
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

  async errorOf(page: Page): Promise<unknown> {
    const mainFrame = await this.library.mainFrameOf(page);
    return mainFrame === undefined ? undefined : this.errors.get(mainFrame)?.error;
  }

  async ignore(page: Page, because: string): Promise<void> {
    ignoredBecause({ ignore: true, because });
    const mainFrame = await this.library.mainFrameOf(page);
    if (mainFrame === undefined) return;
    this.ignored.set(mainFrame, because);
    this.library.oncePageCloses(page, () => this.ignored.delete(mainFrame));
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
