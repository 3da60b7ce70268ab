import type { LRUCache } from 'lru-cache';
import { causesOf, isRobotsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import { isCertificateFailure } from '../../core/lifecycle/index.ts';
import type { RobotsDeferredError } from '../../core/pacing/index.ts';
import { ignoredBecause } from '../shared/options.ts';
import { type Refusal, refusalIn } from '../shared/refusal-errors.ts';
import type { Guard } from '../shared/guard.ts';
import type { Identity } from '../shared/identity.ts';
import type {
  AdmittedRequest,
  AnyRequest,
  PlannedRequest,
  RequestOptions,
  StartedRequest,
} from '../shared/guarded-request.ts';
import { type CrawlRequest, type HttpRequest, robotsOf } from './types.ts';

const TLS_HINT =
  ". Crawlee's `ignoreSslErrors` holds for pages alone: give the client a dispatcher that accepts the certificate, " +
  'too (`new Agent({ connect: { rejectUnauthorized: false } })` of undici), or set `ignoreSslErrors: false`';

/** Why a request goes back to the queue, and until when. */
export interface QueueDeferral {
  /** Epoch ms. */
  readonly retryAt: number;
  readonly message: string;
  /** Nothing can be decided any more. */
  readonly stopsCrawler?: boolean;
}

/** What the requests of a crawler share. */
export interface RequestContext {
  readonly guard: Guard;
  /** Aborted when the crawler stops: what waits then goes back to the queue. */
  readonly stopping: AbortSignal;
  /** The longest wait of a request that is sent while another one is handled, in ms. */
  readonly maxWaitMs: number;
  /** Whether the crawler accepts any certificate of a page. */
  readonly ignoresTlsErrors: boolean;
  /** Since when the robots.txt of an origin has been unreachable, in epoch ms. */
  readonly outages: LRUCache<string, number>;
}

/** The guard of one request of the queue, from the time it is taken until its handler has ended. */
export class RequestGuard {
  readonly #context: RequestContext;
  readonly #guard: Guard;
  /** The request that was taken from the queue. */
  taken: CrawlRequest | undefined;
  /** Why it, or one of its redirects, was refused, as far as that is known. */
  refusal: Refusal | undefined;
  /** Set when it goes back to the queue. */
  deferral: QueueDeferral | undefined;
  /** The error that prevented a decision. The request fails with it. */
  #undecided: { readonly error: unknown } | undefined;
  /** May be sent, and was not yet. */
  #admitted: AdmittedRequest | undefined;
  /** The request that is in flight until the handler has ended. */
  #held: AnyRequest | undefined;
  /** The error that blocked the last navigation of its page, while a browser navigates to it. */
  errorOfPage: (() => Promise<unknown>) | undefined;
  /** See {@link takeSkipText}. */
  #skipText: string | undefined;

  constructor(context: RequestContext) {
    this.#context = context;
    this.#guard = context.guard;
  }

  /**
   * Whether the crawler may handle its request. An error that prevents a decision is thrown by {@link begin}.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or what else sends the request back to the queue.
   */
  async admit(url: string, inBrowser: boolean): Promise<boolean> {
    const request = this.#requestFor(url) ?? { url };
    try {
      const because = ignoredBecause(robotsOf(request));
      // In a browser the guard of the page publishes the request.
      if (inBrowser && (because !== undefined || !this.#guard.settings.enforces)) return true;
      const admission = await this.#guard
        .plan(url, {
          signal: this.#context.stopping,
          because,
          waits: !inBrowser,
          isPreliminary: inBrowser,
          // A request that waits occupies one of the crawler's tasks.
          maxTotalWaitMs: this.#guard.maxDelayMs,
        })
        .admit();
      if (admission.refusal !== undefined) {
        this.#refuse(request, admission.refusal);
        if (await this.defers(undefined)) throw admission.refusal;
        return false;
      }
      this.#context.outages.delete(new URL(url).origin);
      if (inBrowser) return true;
      this.#hold(admission);
      this.#admitted = admission;
    } catch (error) {
      if (this.deferral !== undefined || (await this.defers(error))) throw error;
      this.#undecided = { error };
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
  begin(navigates: boolean): void {
    if (this.#undecided !== undefined) throw this.#undecided.error;
    if (!navigates) this.#admitted?.start();
  }

  /** Takes a request of the HTTP client through the steps. @param navigates Whether its response is the page of the request. */
  stepsOf(request: HttpRequest, navigates: boolean): SteppedRequest {
    const own = this.#requestFor(request.url);
    const because = ignoredBecause(request.robots ?? robotsOf(own));
    const isAdmitted = own?.url === this.#admitted?.url && request.robots === undefined;
    const admitted = isAdmitted ? this.#admitted : undefined;
    if (admitted !== undefined) this.#admitted = undefined;
    // A request that the handler sends must not wait for the handler to end.
    else if (!navigates) this.end();
    return new SteppedRequest(this.#guard, request, {
      because,
      maxTotalWaitMs: Math.min(this.#context.maxWaitMs, this.#guard.maxDelayMs),
      admitted,
      ...(navigates && {
        onRequest: (each: AnyRequest) => this.#hold(each),
        onRefusal: (refusal: Refusal) => this.#refuse(own ?? { url: String(request.url) }, refusal),
      }),
    });
  }

  /** Whether the request goes back to the queue, because of `error` or what blocked its page. */
  async defers(error: unknown): Promise<boolean> {
    if (this.taken === undefined) return false;
    const pageError = await this.errorOfPage?.();
    const refusal = this.refusal ?? refusalIn(pageError);
    if (refusal !== undefined) this.#refuse(this.taken, refusal);
    this.deferral = this.#deferralBy(error) ?? this.#deferralBy(pageError) ?? this.#outage();
    return this.deferral !== undefined;
  }

  #deferralBy(error: unknown): QueueDeferral | undefined {
    const { stopping, guard } = this.#context;
    if (stopping.aborted && error === stopping.reason)
      return { retryAt: guard.settings.clock.now(), message: 'the crawler stops' };
    for (const each of causesOf(error)) {
      // By its code, because a handler may use another copy of this package.
      const code: unknown = isRobotsError(each) ? Reflect.get(each, 'code') : undefined;
      if (code === 'ERR_ROBOTS_DEFERRED') return each as RobotsDeferredError;
      if (code === 'ERR_ROBOTS_CLOSED')
        return {
          retryAt: guard.settings.clock.now(),
          message: String(Reflect.get(each, 'message')),
          stopsCrawler: true,
        };
    }
    return undefined;
  }

  /** An outage of robots.txt is waited for as long as `maxDelayMs` allows. */
  #outage(): QueueDeferral | undefined {
    const { outages, guard } = this.#context;
    if (this.refusal?.code !== 'ERR_ROBOTS_UNREACHABLE' || !guard.paces) return undefined;
    const { decision, message, retryAt } = this.refusal;
    const now = guard.settings.clock.now();
    const since = outages.get(decision.origin) ?? now;
    if (retryAt === undefined || Math.max(retryAt, now) - since > guard.maxDelayMs) return undefined;
    outages.set(decision.origin, since);
    return { retryAt, message };
  }

  /** Why the request is skipped, once: for the warning that Crawlee logs next. */
  takeSkipText(): string | undefined {
    const text = this.#skipText;
    this.#skipText = undefined;
    return text;
  }

  /** The handler has ended, or the request was not sent. */
  end(): void {
    this.take()?.finish();
  }

  /** The request that is in flight until the handler has ended, for another guard whose request would wait for it. */
  take(): AnyRequest | undefined {
    const held = this.#held;
    this.#held = this.#admitted = undefined;
    return held;
  }

  #requestFor(url: string | URL): CrawlRequest | undefined {
    const { taken } = this;
    if (taken === undefined) return undefined;
    return taken.url === url || new URL(taken.url).href === new URL(url).href ? taken : undefined;
  }

  #hold(request: AnyRequest): void {
    if (this.#held !== request) this.end();
    this.#held = request;
  }

  #refuse(request: CrawlRequest, refusal: Refusal): void {
    const code = refusal.decision.robots.error ?? '';
    if (this.#context.ignoresTlsErrors && refusal !== this.refusal && isCertificateFailure(code))
      refusal.message += TLS_HINT;
    this.refusal = refusal;
    this.#skipText = `Skipping request ${urlWithoutUserinfo(request.url)} (${request.id}): ${refusal.message}`;
  }
}

/** What belongs to a request of the HTTP client besides the request. */
interface StepOptions extends Pick<RequestOptions, 'because' | 'maxTotalWaitMs'> {
  /** The request that was admitted when it was taken from the queue. */
  readonly admitted?: AdmittedRequest | undefined;
  /** Called with the request and each of its redirects. It is then in flight until another place finishes it. */
  readonly onRequest?: (request: AnyRequest) => void;
  readonly onRefusal?: (refusal: Refusal) => void;
}

/** What the guard does with a request of the HTTP client, and the redirects it meets. */
export class SteppedRequest {
  /** Sets and checks its `User-Agent`; `undefined` when neither is needed. */
  readonly identity: Identity | undefined;
  readonly #guard: Guard;
  readonly #request: HttpRequest;
  readonly #options: StepOptions;

  constructor(guard: Guard, request: HttpRequest, options: StepOptions) {
    this.identity = guard.identity;
    this.#guard = guard;
    this.#request = request;
    this.#options = options;
  }

  /** @param url The URL as it is sent. */
  plan(url: URL): PlannedRequest | AdmittedRequest {
    return this.#options.admitted ?? this.#guard.plan(url, this.options);
  }

  get options(): RequestOptions {
    const { because, maxTotalWaitMs } = this.#options;
    return { signal: this.#request.signal, because, maxTotalWaitMs };
  }

  /** The request, or one of its redirects, is decided next. */
  onHop(request: AnyRequest): void {
    this.#options.onRequest?.(request);
  }

  /** The response has come; that of a page is in flight until its handler has ended. */
  onResponse(request: AnyRequest): void {
    if (this.#options.onRequest === undefined) request.finish();
  }

  onFailure(request: StartedRequest, error: unknown): void {
    // With a proxy, the proxy may have failed rather than the site.
    if (this.#request.proxyUrl === undefined) request.fail(error);
    else request.finish();
  }

  onRefusal(refusal: Refusal): void {
    this.#options.onRefusal?.(refusal);
  }
}
