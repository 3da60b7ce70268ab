import { causesOf, isRobotsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { RobotsDeferredError } from '../../core/pacing/index.ts';
import { ignoredBecause } from '../shared/options.ts';
import { type Refusal, refusalIn } from '../shared/refusal-errors.ts';
import type { Guard } from '../shared/guard.ts';
import type {
  AdmittedRequest,
  AnyRequest,
  RequestOptions,
  StartedRequest,
} from '../shared/guarded-request.ts';
import { redirects } from '../shared/headers.ts';
import type { HttpRequest, HttpResponse, RequestSteps } from './http-client.ts';
import type { PageGuard } from './page-guard.ts';
import { type CrawlRequest, robotsOf } from './types.ts';

/** The progress of a request of the queue. */
type State =
  /** The crawler waits for a request of the queue. */
  | { readonly name: 'waiting' }
  /** Dequeued, not decided yet; in a browser, its navigation is decided. */
  | { readonly name: 'taken'; readonly request: CrawlRequest }
  /** May be sent. */
  | { readonly name: 'admitted'; readonly request: CrawlRequest; readonly admitted: AdmittedRequest }
  /** Passed to the HTTP client. Its redirects, and the requests of its handler, are decided separately. */
  | { readonly name: 'sent'; readonly request: CrawlRequest }
  /** Refused, or one of its redirects was. */
  | { readonly name: 'refused'; readonly request: CrawlRequest; readonly refusal: Refusal }
  /** Would have to wait too long, or a request sent for it would. It is handled later. */
  | { readonly name: 'deferred'; readonly request: CrawlRequest; readonly deferral: RobotsDeferredError }
  /** An error prevented a decision. The request fails with it. */
  | { readonly name: 'undecided'; readonly request: CrawlRequest; readonly error: unknown };

/** The guard of one request of the queue, from the time it is taken until its handler has ended. */
export class RequestGuard {
  readonly #guard: Guard;
  readonly #maxWaitMs: number;
  #state: State = { name: 'waiting' };
  /** The request that is in flight until the handler has ended. */
  #held: AnyRequest | undefined;
  /** The guard of the page that it navigates. */
  #page: PageGuard | undefined;
  /** See {@link takeSkipText}. */
  #skipText: string | undefined;

  /** @param maxWaitMs The longest wait of a request that is sent while this one is handled. */
  constructor(guard: Guard, maxWaitMs: number = Infinity) {
    this.#guard = guard;
    this.#maxWaitMs = maxWaitMs;
  }

  /** The crawler has taken `request` from the queue. */
  take(request: CrawlRequest): void {
    this.#state = { name: 'taken', request };
  }

  /**
   * Whether the crawler may handle its request. An error that prevents a decision is thrown by {@link begin}.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`) when it has to wait too long.
   */
  async admit(url: string, inBrowser: boolean): Promise<boolean> {
    const request = this.#requestFor(url) ?? { url };
    try {
      const because = ignoredBecause(robotsOf(request));
      // In a browser the guard of the page publishes the request.
      if (inBrowser && (because !== undefined || !this.#guard.enforces)) return true;
      const admission = await this.#guard
        .plan(url, {
          because,
          waits: !inBrowser,
          isPreliminary: inBrowser,
          // A request that waits occupies one of the crawler's tasks.
          maxTotalWaitMs: this.#guard.maxDelayMs,
        })
        .admit();
      if (admission.refusal !== undefined) {
        this.#refuse(request, admission.refusal);
        return false;
      }
      if (inBrowser) return true;
      this.#hold(admission);
      this.#state = { name: 'admitted', request, admitted: admission };
    } catch (error) {
      if (await this.defers(error)) throw error;
      this.#state = { name: 'undecided', request, error };
    }
    return true;
  }

  /**
   * The handler begins.
   *
   * @param navigates Whether the crawler sends the request. A `BasicCrawler` leaves that to its handler, where the guard
   * may not see it.
   * @throws the error that prevented a decision.
   */
  async begin(navigates: boolean): Promise<void> {
    if (this.#state.name === 'undecided') throw this.#state.error;
    if (!navigates && this.#state.name === 'admitted') this.#state.admitted.start();
  }

  /** Takes a request of the HTTP client through the steps. @param navigates Whether its response is the page of the request. */
  stepsOf(request: HttpRequest, navigates: boolean): RequestSteps {
    const own = this.#requestFor(request.url);
    const because = ignoredBecause(request.robots ?? robotsOf(own));
    const state = this.#state;
    const isAdmitted =
      state.name === 'admitted' && own?.url === state.admitted.url && request.robots === undefined;
    if (isAdmitted) this.#state = { name: 'sent', request: state.request };
    // A request that the handler sends must not wait for the handler to end.
    else if (!navigates) this.end();
    return new SteppedRequest(this.#guard, request, {
      because,
      maxTotalWaitMs: Math.min(this.#maxWaitMs, this.#guard.maxDelayMs),
      admitted: isAdmitted ? state.admitted : undefined,
      ...(navigates && {
        onRequest: (each: AnyRequest) => this.#hold(each),
        onRefusal: (refusal: Refusal) => this.#refuse(own ?? { url: String(request.url) }, refusal),
      }),
    });
  }

  /** A browser navigates to the request, or has done so. Later navigations by the handler do not belong to it. */
  set page(page: PageGuard | undefined) {
    this.#page = page;
  }

  /** The refusal of the request, or of a redirect that it met. */
  async refusal(): Promise<Refusal | undefined> {
    if (this.#state.name === 'refused') return this.#state.refusal;
    const refusal = refusalIn(await this.#page?.errorOfPage());
    if (refusal !== undefined && this.#state.name !== 'waiting') this.#refuse(this.#state.request, refusal);
    return refusal;
  }

  /** Whether the request is deferred, because of `error` or what blocked its page. */
  async defers(error: unknown): Promise<boolean> {
    const deferral = deferralIn(error) ?? deferralIn(await this.#page?.errorOfPage());
    const request = this.taken;
    if (deferral === undefined || request === undefined) return false;
    this.#state = { name: 'deferred', request, deferral };
    return true;
  }

  /** Why the request is deferred. */
  get deferral(): RobotsDeferredError | undefined {
    return this.#state.name === 'deferred' ? this.#state.deferral : undefined;
  }

  /** The request that was taken from the queue. */
  get taken(): CrawlRequest | undefined {
    return this.#state.name === 'waiting' ? undefined : this.#state.request;
  }

  /** The refusal that is known so far. */
  get knownRefusal(): Refusal | undefined {
    return this.#state.name === 'refused' ? this.#state.refusal : undefined;
  }

  /** Why the request is skipped, once: for the warning that Crawlee logs next. */
  takeSkipText(): string | undefined {
    const text = this.#skipText;
    this.#skipText = undefined;
    return text;
  }

  /** The handler has ended, or the request was not sent. */
  end(): void {
    this.#held?.finish();
    this.#held = undefined;
  }

  #requestFor(url: string | URL): CrawlRequest | undefined {
    const request = this.taken;
    if (request === undefined) return undefined;
    return request.url === url || new URL(request.url).href === new URL(url).href ? request : undefined;
  }

  #hold(request: AnyRequest): void {
    if (this.#held !== request) this.end();
    this.#held = request;
  }

  #refuse(request: CrawlRequest, refusal: Refusal): void {
    this.#state = { name: 'refused', request, refusal };
    this.#skipText = `Skipping request ${urlWithoutUserinfo(request.url)} (${request.id}): ${refusal.message}`;
  }
}

/** The deferral that an error is, or was caused by. */
function deferralIn(error: unknown): RobotsDeferredError | undefined {
  for (const each of causesOf(error)) {
    // By its code, because a handler may use another copy of this package.
    if (Reflect.get(each, 'code') === 'ERR_ROBOTS_DEFERRED' && isRobotsError(each))
      return each as RobotsDeferredError;
  }
  return undefined;
}

/** What belongs to a request of the HTTP client besides the request. */
interface StepOptions extends Pick<RequestOptions, 'because' | 'maxTotalWaitMs'> {
  /** The request that was admitted when it was taken from the queue. */
  readonly admitted: AdmittedRequest | undefined;
  /** Called with the request and each of its redirects. It is then in flight until another place finishes it. */
  readonly onRequest?: (request: AnyRequest) => void;
  readonly onRefusal?: (refusal: Refusal) => void;
}

/** A request of the HTTP client, and the redirects it meets. */
export class SteppedRequest implements RequestSteps {
  readonly #guard: Guard;
  readonly #request: HttpRequest;
  readonly #options: StepOptions;
  #started: StartedRequest | undefined;

  constructor(guard: Guard, request: HttpRequest, options: StepOptions) {
    this.#guard = guard;
    this.#request = request;
    this.#options = options;
  }

  async start(url: URL): Promise<void> {
    const { signal } = this.#request;
    const { because, maxTotalWaitMs, admitted, onRequest } = this.#options;
    if (this.#started === undefined && admitted !== undefined) {
      this.#started = admitted.start();
      return;
    }
    const options = { signal, because, maxTotalWaitMs };
    const planned = this.#started?.redirectedTo(url, options) ?? this.#guard.plan(url, options);
    onRequest?.(planned);
    const admission = await planned.admit();
    if (admission.refusal !== undefined) throw this.#refused(admission.refusal);
    this.#started = admission.start();
  }

  onHeaders({ statusCode, headers }: Pick<HttpResponse, 'statusCode' | 'headers'>): Refusal | undefined {
    if (this.#started === undefined) return undefined;
    const { refusal } = this.#started.onResponseHeaders(statusCode, headers);
    if (this.#options.onRequest === undefined || redirects(statusCode, headers)) this.#started.finish();
    return refusal && this.#refused(refusal);
  }

  fail(error: unknown): void {
    // With a proxy, the proxy may have failed rather than the site.
    if (this.#request.proxyUrl === undefined) this.#started?.fail(error);
    else this.#started?.finish();
  }

  identify(request: HttpRequest): HttpRequest {
    const { identity } = this.#guard;
    if (identity === undefined) return request;
    const headers = identity.identified(request.url, request.headers);
    return headers === request.headers || headers === undefined ? request : { ...request, headers };
  }

  onUserAgent(userAgent: string): void {
    this.#guard.identity?.compare(this.#request.url, userAgent, REMEDY);
  }

  #refused(refusal: Refusal): Refusal {
    this.#options.onRefusal?.(refusal);
    return refusal;
  }
}

/** What mends pages that are requested under another name. */
const REMEDY = '`withRobots(…, { identify: true })`';
