import {
  codeOf,
  completeSignal,
  omitUndefined,
  setBackgroundTimeout,
  urlWithoutUserinfo,
  warnOnce,
} from '../../core/base/index.ts';
import type { ClientEngine } from '../../core/client/client-engine.ts';
import {
  BODY_UNREAD,
  type Decision,
  type DecisionContext,
  type RedirectChain,
} from '../../core/decision/index.ts';
import { type Pace, RobotsDeferredError, type RequestPermit } from '../../core/pacing/index.ts';
import type { GuardSettings } from './options.ts';
import { type Refusal, refusalFor } from '../../core/client/refusal-errors.ts';
import { endOf, errorCodeOf, isAborted, type RequestEnd, type RequestReports } from './request-reports.ts';
import { reachesSite } from './redirect.ts';
import { redirects, type ResponseFields } from './headers.ts';
import { requestBeingSent } from './enclosing-request.ts';
import { markRequest, markRetryAt } from './not-now.ts';
import {
  type SitePatience,
  afterLongWait,
  warnOfNoResponse,
  warnOfTimeoutInQueue,
  warnOfUnusedPace,
  watchPause,
} from './site-waits.ts';
import { isTimeout, TimeLimit } from './time-limit.ts';

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

/** A request that is guarded twice takes one permit, and is published once. */
const ONE_PERMIT = { waits: false, isPreliminary: true } as const;

/** Errors of Node's `http.request`, which sends nothing then. */
const REFUSED_BY_NODE: ReadonlySet<string> = new Set([
  'ERR_HTTP_INVALID_HEADER_VALUE',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_UNESCAPED_CHARACTERS',
]);

/** How long a body may wait for its reader. */
const UNREAD_MS = 2_000;

const ABOUT_REQUEST: DecisionContext = Object.freeze({ request: true });
const ABOUT_REFUSED: DecisionContext = Object.freeze({ request: true, refused: true });

/** One request, of the caller or by a redirect, in all of its states: libraries see the members of one. */
export class GuardedRequest {
  /** As the library gives it. */
  readonly url: string | URL;
  /** `undefined` for a request that is not checked, or not yet. */
  decision: Decision | undefined;
  readonly #context: RequestContext;
  readonly #options: RequestOptions;
  readonly #from: GuardedRequest | undefined;
  #permit: RequestPermit | undefined;
  #isAdmitted = false;
  #isStarted = false;
  #isFinished = false;
  #status: number | undefined;
  /** Epoch ms, if requests are published; `undefined` once this one was. */
  #startedAt: number | undefined;
  /** A dry run publishes a refusal once. */
  #refusalReported = false;
  #hasArrived = false;
  /** Runs until the response, or the reader of its body, comes. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeLimit: TimeLimit | undefined;

  constructor(context: RequestContext, url: string | URL, options: RequestOptions, from?: GuardedRequest) {
    this.#context = context;
    this.url = url;
    const signal = options.signal && completeSignal(options.signal);
    const own = signal === options.signal ? options : { ...options, signal };
    this.#options = this.#isHeldBy(options.outer ?? requestBeingSent()) ? { ...own, ...ONE_PERMIT } : own;
    this.#from = from;
  }

  /** Whether a guard of the same client, above this one, has the permit of this very request. */
  #isHeldBy(outer: unknown): boolean {
    return (
      outer instanceof GuardedRequest &&
      outer.#permit !== undefined &&
      outer.#context.engine === this.#context.engine &&
      hrefOf(outer.url) === hrefOf(this.url)
    );
  }

  /** Whether it is in flight, and something waits for its end: its permit, or the limit of its time. */
  get isInFlight(): boolean {
    return (this.#permit ?? this.#timeLimit) !== undefined && !this.#isFinished;
  }

  /** Whether the end of its body is waited for, or the evidence has whether it was cut. */
  get watchesBody(): boolean {
    return this.isInFlight || (!this.#isFinished && this.#context.engine.hasListener('body'));
  }

  /** Whether it is over, or was given up. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  get hasResponded(): boolean {
    return this.#status !== undefined;
  }

  get status(): number | undefined {
    return this.#status;
  }

  /** Aborted when the client closes. */
  get ending(): AbortSignal {
    return this.#context.engine.ending;
  }

  get patience(): SitePatience {
    return this.#context.patience;
  }

  /** After a response that asks to try again later: epoch ms, the end of the pause. */
  get retryAt(): number | undefined {
    return this.#permit?.retryAt;
  }

  /** After such a response: the error that says so, for a library that may hand out no response. */
  get deferral(): RobotsDeferredError | undefined {
    const { decision, retryAt } = this;
    if (decision === undefined || retryAt === undefined) return undefined;
    const pause = this.#context.engine.pacing.pacer.value?.pauseOf(decision.origin);
    const delayFrom = pause?.delayFrom ?? 'back-off';
    const causeMs = pause && pause.until - pause.from;
    const details = { retryAt, delayFrom, causeMs, circumstance: `as it answered ${this.#status}` };
    const error = new RobotsDeferredError(decision, details, this.chain);
    markRequest(error, this);
    return error;
  }

  /** The URL that was asked for, and those between it and this one. */
  get chain(): RedirectChain {
    const urls: string[] = [];
    for (let each = this.#from; each !== undefined; each = each.#from) urls.push(shownUrl(each.url));
    const requested = urls.pop() ?? this.decision?.url ?? shownUrl(this.url);
    return { requested, redirects: urls.reverse() };
  }

  /** The request that a redirect of this one leads to. */
  redirectedTo(url: string | URL, options: RequestOptions): GuardedRequest {
    return new GuardedRequest(this.#context, url, options, this);
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
    const { settings, reports } = this.#context;
    if (!reachesSite(this.url) || settings.filter?.(new URL(this.url)) === false) return this.#admitted();
    const { because } = this.#options;
    if (because !== undefined) {
      reports.ignored(this.url, because);
      return this.#admitted();
    }
    const decided = this.#decide();
    return decided instanceof Promise
      ? decided.then((decision) => this.#paceOrRefuse(decision))
      : this.#paceOrRefuse(decided);
  }

  /**
   * {@link admit}, then {@link start}: for a library that sends the request when this has resolved.
   *
   * @throws the refusal, and what `admit` throws.
   */
  async startOrThrow(): Promise<this> {
    const refusal = await this.admit();
    if (refusal !== undefined) throw refusal;
    return this.start();
  }

  /**
   * Starts the request, which must then be sent at once.
   *
   * @throws `AbortError` when it was given up.
   */
  start(): this {
    if (this.#permit !== undefined) {
      this.#throwIfFinished();
      this.#permit.sent();
    }
    this.#isStarted = true;
    if (this.#permit !== undefined && this.#options.hidesResponse !== true) this.#watchResponse();
    const { requestStart } = this.#context.engine;
    if (requestStart !== undefined && this.#options.isPreliminary !== true && reachesSite(this.url))
      this.#startedAt = requestStart;
    return this;
  }

  /** Its caller may give a request up while the request waits. */
  #throwIfFinished(): void {
    if (this.#isFinished) throw new DOMException('The request was given up while it waited', 'AbortError');
  }

  #watchResponse(): void {
    this.#timer = afterLongWait(() => {
      const holdsUp =
        this.#context.engine.pacing.pacer.value?.queueOf(this.#address.origin)?.waitsForEnd === true;
      if (holdsUp) warnOfNoResponse(hrefOf(this.url));
      else this.#watchResponse();
    });
  }

  /**
   * Its time begins, if the guard limits it: when the time is over the request fails with a `TimeoutError`, until
   * {@link finish}.
   *
   * @returns the signal that aborts it then, or with `given`; `given` where the time is not limited.
   */
  limitTime(given?: AbortSignal): AbortSignal | undefined {
    const { settings, reports } = this.#context;
    if (settings.timeoutMs === undefined) return given;
    this.#timeLimit = new TimeLimit(settings.timeoutMs, given, (error) => {
      if (!this.hasResponded) reports.unreachable(this.url);
      this.fail(error);
    });
    return this.#timeLimit.signal;
  }

  /** The header has come. A refused response must not be read. */
  onResponseHeaders(status: number, headers: ResponseFields): Refusal | undefined {
    if (this.#isFinished) this.#permit?.done({ status, headers });
    else this.#permit?.responded({ status, headers });
    const inspected = this.#inspect(status, headers);
    if (this.#hasArrived) this.finish();
    return inspected;
  }

  /** The whole response has come, or the library does not show the end of its body. */
  onResponse(status: number, headers: ResponseFields): Refusal | undefined {
    this.#permit?.done({ status, headers });
    const inspected = this.#inspect(status, headers);
    this.finish();
    return inspected;
  }

  /** The body has arrived whole, read or not, or has broken off. The library may show the header later. */
  onArrived(error?: unknown): void {
    this.#hasArrived = true;
    if (!this.hasResponded) return;
    if (error === undefined) this.finish();
    else this.fail(error);
  }

  /** The body waits for its reader: without one the permit ends after 2 s, and the process is warned once. */
  awaitReader(): void {
    if (this.#permit === undefined || this.#isFinished) return;
    this.#timer = setBackgroundTimeout(() => {
      const url = shownUrl(this.url);
      warnOnce(
        `Expected the body of ${url} to be read or cancelled (\`await response.body?.cancel()\`), but it was neither for ` +
          `${UNREAD_MS / 1_000} s: the next request to its site waited for it`,
        BODY_UNREAD,
      );
      this.#publishBodyTrouble(BODY_UNREAD);
      this.#endPermit();
    }, UNREAD_MS);
  }

  /** A part of the body was read: the permit holds for 30 s more. */
  onBodyRead(): void {
    clearTimeout(this.#timer);
    this.#permit?.bodyRead();
  }

  #inspect(status: number, headers: ResponseFields): Refusal | undefined {
    clearTimeout(this.#timer);
    this.#status = status;
    // A permit has learnt of a pause: reported once more, it would end some milliseconds later.
    const pauses = this.#permit === undefined;
    this.#context.reports.responded(this.url, status, headers, this.decision?.origin, pauses);
    const { decision } = this;
    if (decision !== undefined && this.retryAt === undefined) this.patience.gavePage(decision.origin);
    else if (decision !== undefined) watchPause(this.#context.engine, this.patience, decision.origin);
    const refusal = this.#refusalByHeaders(status, headers);
    this.#publishEnd({ status, headers, refusal });
    if (refusal !== undefined) this.finish();
    return refusal;
  }

  #refusalByHeaders(status: number, headers: ResponseFields): Refusal | undefined {
    const { decision } = this;
    if (this.#context.settings.purpose === undefined) return undefined;
    if (decision?.allowed !== true || this.#refusalReported || redirects(status, headers)) return undefined;
    const refused = refusedUse(this.#context, decision, headers);
    return refused && this.#refuse(refused);
  }

  #publishEnd(end: RequestEnd): void {
    const startedAt = this.#startedAt;
    if (startedAt === undefined) return;
    this.#startedAt = undefined;
    const { url, origin } = this.#address;
    const pacing = this.#permit?.pacing;
    const request = { url, origin, startedAt, ...(pacing && { pacing }), ...endOf(end) };
    this.#context.engine.publish('request', request);
  }

  #publishBodyTrouble(error: string): void {
    const { url, origin } = this.#address;
    this.#context.engine.publish('body', { url, origin, status: this.#status ?? 0, error });
  }

  /** A request that was not checked may have a longer URL than one that can be. */
  get #address(): { readonly url: string; readonly origin: string } {
    return this.decision ?? { url: shownUrl(this.url), origin: new URL(this.url).origin };
  }

  /** It has failed, or its body has broken off. */
  fail(error: unknown): void {
    // A site whose body breaks off has responded, so it is reachable.
    const { signal } = this.#options;
    if (this.#status === undefined && REFUSED_BY_NODE.has(codeOf(error))) this.withdraw();
    else if (this.#status === undefined)
      this.#context.reports.failed(this.url, error, signal, this.decision?.origin);
    else if (!this.#isFinished && !isAborted(error, signal)) {
      this.#publishBodyTrouble(errorCodeOf(error));
      // The library may show this error alone.
      if (error instanceof Error) markRetryAt(error, this);
    }
    this.#publishEnd({ error });
    this.finish();
  }

  /** Its library has refused to send it: there was no request, and the next one may start in its place. */
  withdraw(): void {
    this.#isStarted = false;
    this.#startedAt = undefined;
    this.finish();
  }

  /** Frees the permit of a request that is over or was given up. Further calls have no effect. */
  finish(): void {
    this.#timeLimit?.end();
    this.#endPermit();
  }

  #endPermit(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    if (this.#isStarted) this.#permit?.done();
    else this.#permit?.release();
    this.#publishEnd({ error: undefined });
  }

  #decide(): Decision | Promise<Decision> {
    const { engine, settings, afterRobotsFetch } = this.#context;
    const { agent, purpose } = settings;
    const { signal } = this.#options;
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
    const { settings, engine } = this.#context;
    try {
      const pace = settings.pace?.of({ url, origin: new URL(url).origin });
      if (pace !== undefined) engine.pacing.setPace(url, pace);
    } catch {
      // The caller's `pacing` function failed: it will again when the request is paced, and the request fails with that.
    }
  }

  #paceOrRefuse(decision: Decision): Refusal | undefined | Promise<Refusal | undefined> {
    const refused = this.#refusedBy(decision);
    const { pace: paces, enforces, isPaceSaid } = this.#context.settings;
    if (!isPaceSaid) warnOfUnusedPace(decision);
    const isSent = refused === undefined || !enforces;
    if (!isSent || paces === undefined || this.#options.waits === false) return this.#settle(refused);
    const pace = paces.of(decision);
    if (pace === undefined) return this.#settle(refused);
    this.#throwIfFinished();
    if (this.#takesPermit()) return this.#settle(refused);
    const permit = this.#acquirePermit(decision, pace);
    if (permit instanceof Promise) return this.#waitForPermit(permit, refused);
    this.#permit = permit;
    return this.#settle(refused);
  }

  /**
   * Takes the permit of the page that a crawler of this client handles in the running code, if this is the request for it.
   * Any other request would wait for the end of its handler, so the permit is freed.
   */
  #takesPermit(): boolean {
    for (const [context, take] of this.#context.handled) {
      const held = context === this.#context ? undefined : take();
      if (!(held instanceof GuardedRequest) || !held.isInFlight) continue;
      const takes = !held.hasResponded && hrefOf(held.url) === hrefOf(this.url);
      if (takes) {
        this.#permit = held.#permit;
        held.#permit = held.#startedAt = undefined;
      }
      held.finish();
      if (takes) return true;
    }
    return false;
  }

  /** A promise when the request has to wait, or will not get a permit. */
  #acquirePermit(decision: Decision, pace: Pace): RequestPermit | Promise<RequestPermit> {
    const { maxTotalWaitMs, signal } = this.#options;
    const bounded =
      maxTotalWaitMs === undefined || maxTotalWaitMs >= (pace.maxTotalWaitMs ?? Infinity)
        ? pace
        : { ...pace, maxTotalWaitMs };
    try {
      return this.#context.engine.pacing.acquire(decision, bounded, signal);
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
      this.#permit = permit;
      if (!this.#isFinished && permit.waitedMs > 0) refused = this.#refusedBy(await this.#decide());
      if (this.#isFinished) permit.release();
      this.#throwIfFinished();
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
    const { signal } = this.#options;
    // Who limits the time of requests, too, limits the wait on purpose.
    if (this.#context.settings.timeoutMs !== undefined || error !== signal?.reason) return;
    if (isTimeout(error)) warnOfTimeoutInQueue(hrefOf(this.url));
  }

  /** Publishes the final decision, once for each request. */
  #settle(refused: Decision | undefined): Refusal | undefined {
    this.#publish(refused);
    const refusal = refused && this.#refuse(refused);
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
    if (decision === undefined || (this.#options.isPreliminary === true && refused === undefined)) return;
    const usage = refused?.usage;
    const about = refused !== undefined && this.#context.settings.enforces ? ABOUT_REFUSED : ABOUT_REQUEST;
    const context =
      usage === undefined && this.#from === undefined
        ? about
        : { ...about, ...(this.#from && this.chain), ...omitUndefined({ usage }) };
    this.#context.engine.publishDecision(decision, context);
  }

  /** The decision that refuses the request: by robots.txt, or about the use of the page. */
  #refusedBy(decision: Decision): Decision | undefined {
    return decision.allowed ? refusedUse(this.#context, decision) : decision;
  }

  /** Reports a refusal. Returns it, unless this is a dry run. */
  #refuse(refused: Decision): Refusal | undefined {
    this.#refusalReported = true;
    const { reports, settings } = this.#context;
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
function refusedUse(
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
function shownUrl(url: string | URL): string {
  return urlWithoutUserinfo(hrefOf(url));
}

function hrefOf(url: string | URL): string {
  return typeof url === 'string' ? new URL(url).href : url.href;
}
