import { codeOf, completeSignal, omitUndefined, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { ClientEngine } from '../../core/client/client-engine.ts';
import type { Decision, DecisionContext, RedirectChain } from '../../core/decision/index.ts';
import { type Pace, RobotsDeferredError, type RequestPermit } from '../../core/pacing/index.ts';
import type { GuardSettings } from './options.ts';
import { type Refusal, refusalFor } from '../../core/client/refusal-errors.ts';
import type { RequestReports } from './request-reports.ts';
import { reachesSite } from './redirect.ts';
import type { ResponseFields } from './headers.ts';
import { requestBeingSent } from './enclosing-request.ts';
import { markRequest } from './not-now.ts';
import { type SitePatience, warnOfTimeoutInQueue, warnOfUnusedPace } from './site-waits.ts';
import { isTimeout } from './time-limit.ts';

/** What the caller said about a request. It holds for the redirects of the request, too. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** The reason to send the request without a check of robots.txt. */
  readonly because?: string | undefined;
  /** Whether the request can wait for its permit. @default true */
  readonly waits?: boolean;
  /** The longest wait of this request, in ms, also in the queue of its origin. @default the guard's */
  readonly maxTotalWaitMs?: number | undefined;
  /** Whether the guard does not see its response. @default false */
  readonly hidesResponse?: boolean;
  /** Another guard decides about the same request again. This one then publishes refusals only. @default false */
  readonly isPreliminary?: boolean;
  /** The request that a guard above is sending, where the library passes it on. @default the one whose library is being called */
  readonly outer?: unknown;
}

/** What the requests of a guard share. */
export interface RequestContext {
  readonly settings: GuardSettings<unknown>;
  readonly engine: ClientEngine;
  readonly reports: RequestReports;
  readonly patience: SitePatience;
  readonly afterRobotsFetch: (() => Promise<unknown>) | undefined;
  /** Of all guards of the client, by their contexts. */
  readonly handled: ReadonlyMap<object, () => unknown>;
}

/** By its option `transitional.clarifyTimeoutError`. */
const TIMEOUTS_OF_AXIOS: ReadonlySet<string> = new Set(['ECONNABORTED', 'ETIMEDOUT']);

/** A request that is guarded twice takes one permit, and is published once. */
const ONE_PERMIT = { waits: false, isPreliminary: true } as const;

const ABOUT_REQUEST: DecisionContext = Object.freeze({ request: true });
const ABOUT_REFUSED: DecisionContext = Object.freeze({ request: true, refused: true });

/** A request until it may start: its decision, its refusal, and the permit that it waits for. */
export abstract class RequestAdmission {
  /** As the library gives it. */
  readonly url: string | URL;
  /** `undefined` for a request that is not checked, or not yet. */
  decision: Decision | undefined;
  protected readonly context: RequestContext;
  protected readonly options: RequestOptions;
  protected permit: RequestPermit | undefined;
  /** A dry run publishes a refusal once. */
  protected refusalReported = false;
  readonly #from: RequestAdmission | undefined;
  #isAdmitted = false;

  constructor(context: RequestContext, url: string | URL, options: RequestOptions, from?: RequestAdmission) {
    this.context = context;
    this.url = url;
    const signal = options.signal && completeSignal(options.signal);
    const own = signal === options.signal ? options : { ...options, signal };
    this.options = this.#isHeldBy(options.outer ?? requestBeingSent()) ? { ...own, ...ONE_PERMIT } : own;
    this.#from = from;
  }

  /** Whether it is over, or was given up. */
  abstract get isFinished(): boolean;

  /** Whether it is in flight, and something waits for its end. */
  abstract get isInFlight(): boolean;

  abstract get hasResponded(): boolean;

  /** Frees the permit of a request that is over or was given up. Further calls have no effect. */
  abstract finish(): void;

  /** Gives its permit to the request that is sent in its place. */
  protected abstract handOver(): RequestPermit | undefined;

  /** Whether a guard of the same client, above this one, has the permit of this very request. */
  #isHeldBy(outer: unknown): boolean {
    return (
      outer instanceof RequestAdmission &&
      outer.permit !== undefined &&
      outer.context.engine === this.context.engine &&
      hrefOf(outer.url) === hrefOf(this.url)
    );
  }

  /** The URL that was asked for, and those between it and this one. */
  get chain(): RedirectChain {
    const urls: string[] = [];
    for (let each = this.#from; each !== undefined; each = each.#from) urls.push(shownUrl(each.url));
    const requested = urls.pop() ?? this.decision?.url ?? shownUrl(this.url);
    return { requested, redirects: urls.reverse() };
  }

  /**
   * Decides, refuses, and waits for the permit of an allowed request; once. A promise only when something has to be waited
   * for, so that the request otherwise starts synchronously.
   *
   * @returns the refusal.
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), the reason of an aborted signal, and what the client or `filter`
   * throws.
   */
  admit(): Refusal | undefined | Promise<Refusal | undefined> {
    if (this.#isAdmitted) return undefined;
    const { settings, reports } = this.context;
    if (!reachesSite(this.url) || settings.filter?.(new URL(this.url)) === false) return this.#admitted();
    const { because } = this.options;
    if (because !== undefined) {
      reports.ignored(this.url, because);
      return this.#admitted();
    }
    const decided = this.#decide();
    return decided instanceof Promise
      ? decided.then((decision) => this.#paceOrRefuse(decision))
      : this.#paceOrRefuse(decided);
  }

  /** Its caller may give a request up while the request waits. */
  protected throwIfFinished(): void {
    if (this.isFinished) throw new DOMException('The request was given up while it waited', 'AbortError');
  }

  #decide(): Decision | Promise<Decision> {
    const { engine, settings, afterRobotsFetch } = this.context;
    const { agent, purpose } = settings;
    const { signal } = this.options;
    // A serialised string is faster to read than a URL.
    const url = typeof this.url === 'string' ? this.url : this.url.href;
    const decided = engine.decide(url, agent, { signal, purpose });
    if (!(decided instanceof Promise)) return (this.decision = decided);
    this.#setPace(url);
    return decided.then(
      async (decision) => {
        await afterRobotsFetch?.();
        signal?.throwIfAborted();
        return (this.decision = decision);
      },
      (error: unknown) => {
        this.#onWaitFailure(error);
        throw error;
      },
    );
  }

  /** A pause that robots.txt asks for is one of the scope in which its pages will be. */
  #setPace(url: string): void {
    const { settings, engine } = this.context;
    try {
      const pace = settings.pace?.of({ url, origin: new URL(url).origin });
      if (pace !== undefined) engine.pacing.setPace(url, pace);
    } catch {
      // The caller's `pacing` function failed: it will again when the request is paced, and the request fails with that.
    }
  }

  #paceOrRefuse(decision: Decision): Refusal | undefined | Promise<Refusal | undefined> {
    const refused = this.#refusedBy(decision);
    const { pace: paces, enforces, isPaceSaid } = this.context.settings;
    if (!isPaceSaid) warnOfUnusedPace(decision);
    const isSent = refused === undefined || !enforces;
    if (!isSent || paces === undefined || this.options.waits === false) return this.#settle(refused);
    const pace = paces.of(decision);
    if (pace === undefined) return this.#settle(refused);
    this.throwIfFinished();
    if (this.#takesPermit()) return this.#settle(refused);
    const permit = this.#acquirePermit(decision, pace);
    if (permit instanceof Promise) return this.#waitForPermit(permit, refused);
    this.permit = permit;
    return this.#settle(refused);
  }

  /**
   * Takes the permit of the page that a crawler of this client handles in the running code, if this is the request for it.
   * Any other request would wait for the end of its handler, so the permit is freed.
   */
  #takesPermit(): boolean {
    for (const [context, take] of this.context.handled) {
      const held = context === this.context ? undefined : take();
      if (!(held instanceof RequestAdmission) || !held.isInFlight) continue;
      const takes = !held.hasResponded && hrefOf(held.url) === hrefOf(this.url);
      if (takes) this.permit = held.handOver();
      held.finish();
      if (takes) return true;
    }
    return false;
  }

  /** A promise when the request has to wait, or will not get a permit. */
  #acquirePermit(decision: Decision, pace: Pace): RequestPermit | Promise<RequestPermit> {
    const { maxTotalWaitMs, signal } = this.options;
    const bounded =
      maxTotalWaitMs === undefined || maxTotalWaitMs >= (pace.maxTotalWaitMs ?? Infinity)
        ? pace
        : { ...pace, maxTotalWaitMs };
    try {
      return this.context.engine.pacing.acquire(decision, bounded, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The rules may have changed while the request waited, so it is decided again. */
  async #waitForPermit(
    acquiring: Promise<RequestPermit>,
    refusedAtFirst: Decision | undefined,
  ): Promise<Refusal | undefined> {
    let refused = refusedAtFirst;
    try {
      const permit = await acquiring;
      this.permit = permit;
      if (!this.isFinished && permit.waitedMs > 0) refused = this.#refusedBy(await this.#decide());
      if (this.isFinished) permit.release();
      this.throwIfFinished();
    } catch (error) {
      this.finish();
      this.#onWaitFailure(error);
      this.#publish(refused);
      if (!(error instanceof RobotsDeferredError)) throw error;
      const deferral =
        this.#from === undefined ? error : new RobotsDeferredError(error.decision, error, this.chain);
      markRequest(deferral, this);
      throw deferral;
    }
    return this.#settle(refused);
  }

  #onWaitFailure(error: unknown): void {
    const { signal } = this.options;
    // Who limits the time of requests, too, limits the wait on purpose.
    if (this.context.settings.timeoutMs !== undefined || error !== signal?.reason) return;
    if (isTimeout(error) || TIMEOUTS_OF_AXIOS.has(codeOf(error))) warnOfTimeoutInQueue(hrefOf(this.url));
  }

  /** Publishes the final decision, once for each request. */
  #settle(refused: Decision | undefined): Refusal | undefined {
    this.#publish(refused);
    const refusal = refused && this.refuse(refused);
    if (refusal === undefined) return this.#admitted();
    this.finish();
    return refusal;
  }

  #admitted(): undefined {
    this.#isAdmitted = true;
  }

  #publish(refused: Decision | undefined): void {
    const { decision } = this;
    // The guard that decides again will publish what this one allows.
    if (decision === undefined || (this.options.isPreliminary === true && refused === undefined)) return;
    const usage = refused?.usage;
    const about = refused !== undefined && this.context.settings.enforces ? ABOUT_REFUSED : ABOUT_REQUEST;
    const context =
      usage === undefined && this.#from === undefined
        ? about
        : { ...about, ...(this.#from && this.chain), ...omitUndefined({ usage }) };
    this.context.engine.publishDecision(decision, context);
  }

  /** The decision that refuses the request: by robots.txt, or about the use of the page. */
  #refusedBy(decision: Decision): Decision | undefined {
    return decision.allowed ? refusedUse(this.context, decision) : decision;
  }

  /** Reports a refusal. Returns it, unless this is a dry run. */
  protected refuse(refused: Decision): Refusal | undefined {
    this.refusalReported = true;
    const { reports, settings } = this.context;
    const { chain } = this;
    reports.refused(refused, chain);
    if (!settings.enforces) return undefined;
    const refusal = refusalFor(refused, chain);
    markRequest(refusal, this);
    return refusal;
  }
}

/**
 * The decision, with `usage`, that refuses a page because of the guard's purpose.
 *
 * @param headers The headers of the response; `undefined` before the request.
 */
export function refusedUse(
  { settings, engine }: RequestContext,
  decision: Decision,
  headers?: ResponseFields,
): Decision | undefined {
  const { purpose, refusesUnknown } = settings;
  if (purpose === undefined || decision.reason === 'robots-txt') return undefined;
  const usage = engine.usageOf(decision, purpose, headers);
  if (usage.preference === 'allow') return undefined;
  // Without a preference in robots.txt, a header field of the response may still allow the purpose.
  if (usage.preference === 'unknown' && !(refusesUnknown && headers !== undefined)) return undefined;
  return { ...decision, usage };
}

/** The URL for messages, events and errors. */
export function shownUrl(url: string | URL): string {
  return urlWithoutUserinfo(hrefOf(url));
}

export function hrefOf(url: string | URL): string {
  return typeof url === 'string' ? new URL(url).href : url.href;
}
