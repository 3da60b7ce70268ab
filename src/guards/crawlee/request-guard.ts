import {
  causesOf,
  isRobotsError,
  type RobotsError,
  type RobotsErrorCode,
  urlWithoutUserinfo,
} from '../../core/base/index.ts';
import { isCertificateFailure } from '../../core/lifecycle/index.ts';
import { causeOf, keepsPace } from '../shared/not-now.ts';
import { ignoredBecause } from '../shared/options.ts';
import { type Refusal, refusalIn } from '../../core/client/refusal-errors.ts';
import type { Guard } from '../shared/guard.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import type { LongWait } from '../shared/site-waits.ts';
import type { RequestSteps } from './http-client.ts';
import { type CrawlRequest, type HttpRequest, robotsOf } from './types.ts';

const TLS_HINT =
  ". Crawlee's `ignoreSslErrors` holds for pages alone: give the client a dispatcher that accepts the certificate, " +
  'too (`new Agent({ connect: { rejectUnauthorized: false } })` of undici), or set `ignoreSslErrors: false`';

/** Why a request goes back to the queue, and until when. */
export interface QueueDeferral {
  /** Epoch ms. */
  readonly retryAt: number;
  readonly message: string;
  /** The site that is waited for. Absent when the crawler stops. */
  readonly wait?: LongWait;
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
  /** Where the requests of the crawler go: by its HTTP client, in a browser, or from its handler, unseen. */
  readonly sentBy: 'client' | 'browser' | 'handler';
}

/** A first pause of this length is waited for, however small `maxDelayMs` is. */
const FIRST_PAUSE_MS = 60_000;

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
  #admitted: GuardedRequest | undefined;
  /** The request that is in flight until the handler has ended. */
  #held: GuardedRequest | undefined;
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
  async admit(url: string): Promise<boolean> {
    const { sentBy, stopping } = this.#context;
    const inBrowser = sentBy === 'browser';
    const request = this.#requestFor(url) ?? { url };
    try {
      const because = ignoredBecause(robotsOf(request));
      // In a browser the guard of the page publishes the request.
      if (inBrowser && (because !== undefined || !this.#guard.settings.enforces)) return true;
      const planned = this.#guard.plan(url, {
        signal: stopping,
        because,
        waits: !inBrowser,
        isPreliminary: inBrowser,
        // A request that waits occupies one of the crawler's tasks.
        maxTotalWaitMs: this.#guard.maxWaitMs(request.url),
        hidesResponse: sentBy === 'handler',
      });
      const refusal = await planned.admit();
      if (refusal !== undefined) {
        this.#refuse(request, refusal);
        if (await this.defers()) throw refusal;
        return false;
      }
      if (inBrowser) return true;
      this.#hold(planned);
      this.#admitted = planned;
    } catch (error) {
      if (this.deferral !== undefined || (await this.defers(error))) throw error;
      if (this.refusal !== undefined) return false;
      this.#undecided = { error };
    }
    return true;
  }

  /**
   * The handler begins.
   *
   * @throws the error that prevented a decision.
   */
  begin(): void {
    if (this.#undecided !== undefined) throw this.#undecided.error;
    if (this.#context.sentBy === 'handler') this.#admitted?.start();
  }

  /** The steps of a request of the HTTP client. @param navigates Whether its response is the page of the request. */
  stepsOf(request: HttpRequest, navigates: boolean): RequestSteps {
    const own = this.#requestFor(request.url);
    const because = ignoredBecause(request.robots ?? robotsOf(own));
    const isAdmitted = own?.url === this.#admitted?.url && request.robots === undefined;
    const admitted = isAdmitted ? this.#admitted : undefined;
    if (admitted !== undefined) this.#admitted = undefined;
    // A request that the handler sends must not wait for the handler to end.
    else if (!navigates) this.end();
    return {
      guard: this.#guard,
      because,
      maxTotalWaitMs: Math.min(this.#context.maxWaitMs, this.#guard.maxDelayMs),
      admitted,
      ...(navigates && {
        onRequest: (each: GuardedRequest) => this.#hold(each),
        onRefusal: (refusal: Refusal) => this.#refuse(own ?? { url: String(request.url) }, refusal),
      }),
    };
  }

  /**
   * Whether the request goes back to the queue: because of `error`, of what blocked its page, or of its response. If not,
   * {@link refusal} says whether it is skipped.
   */
  async defers(error?: unknown): Promise<boolean> {
    if (this.taken === undefined) return false;
    const pageError = refusalIn(await this.errorOfPage?.());
    // The response of a request whose handling failed.
    const asked = error === undefined ? undefined : this.#held?.deferral;
    const refusal = deferralIn(error) ?? pageError ?? asked ?? this.refusal;
    if (refusal !== undefined) this.#refuse(this.taken, refusal);
    this.deferral = this.#stop(error) ?? this.#wait();
    return this.deferral !== undefined;
  }

  #stop(error: unknown): QueueDeferral | undefined {
    const { stopping, guard } = this.#context;
    const retryAt = guard.settings.clock.now();
    if (stopping.aborted && error === stopping.reason) return { retryAt, message: 'the crawler stops' };
    const closed = robotsErrorIn(error, 'ERR_ROBOTS_CLOSED');
    return closed && { retryAt, message: closed.message, stopsCrawler: true };
  }

  /** The wait for the site, as long as it is worth it: it keeps a pace, or gave a page within `maxDelayMs`. */
  #wait(): QueueDeferral | undefined {
    const { refusal } = this;
    const guard = this.#guard;
    if (refusal === undefined || !('retryAt' in refusal) || refusal.retryAt === undefined) return undefined;
    if (!guard.paces) return undefined;
    const { message, retryAt: until } = refusal;
    const { origin } = refusal.decision;
    const wait = { origin, until, cause: causeOf(refusal), keepsPace: keepsPace(refusal) };
    if (!wait.keepsPace) {
      const now = guard.settings.clock.now();
      const since = guard.patience.waits(origin, now, until);
      const { incident, from, until: end } = guard.pauseOf(origin) ?? { incident: 0, from: 0, until: 0 };
      const isFirstPause = incident === 1 && end - from <= FIRST_PAUSE_MS;
      if (!isFirstPause && Math.max(until, now) - since > guard.maxDelayMs) return undefined;
    }
    return { retryAt: until, message, wait };
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
  take(): GuardedRequest | undefined {
    const held = this.#held;
    this.#held = this.#admitted = undefined;
    return held;
  }

  #requestFor(url: string | URL): CrawlRequest | undefined {
    const { taken } = this;
    if (taken === undefined) return undefined;
    return taken.url === url || new URL(taken.url).href === new URL(url).href ? taken : undefined;
  }

  #hold(request: GuardedRequest): void {
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

/** By its code, because a handler may use another copy of this package. */
function robotsErrorIn(error: unknown, code: RobotsErrorCode): RobotsError | undefined {
  return [...causesOf(error)].filter(isRobotsError).find((each) => each.code === code);
}

/** The deferral of what a handler sent: the whole request waits. Its other refusals are the handler's. */
function deferralIn(error: unknown): Refusal | undefined {
  const deferral = robotsErrorIn(error, 'ERR_ROBOTS_DEFERRED');
  return deferral && refusalIn(deferral);
}
