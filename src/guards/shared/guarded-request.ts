import { type Clock, codeOf, setBackgroundTimeout, warnOnce } from '../../core/base/index.ts';
import { BODY_UNREAD } from '../../core/decision/index.ts';
import { RobotsDeferredError, type RequestPermit } from '../../core/pacing/index.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import { hrefOf, refusedUse, RequestAdmission, type RequestOptions, shownUrl } from './admission.ts';
import { endOf, errorCodeOf, isAborted, type RequestEnd } from './request-reports.ts';
import { reachesSite } from './redirect.ts';
import { redirects, type ResponseFields } from './headers.ts';
import { markRequest, markRetryAt } from './not-now.ts';
import { type SitePatience, afterLongWait, warnOfNoResponse, watchPause } from './site-waits.ts';
import { TimeLimit } from './time-limit.ts';

/** Errors of Node's `http.request`, which sends nothing then. */
const REFUSED_BY_NODE: ReadonlySet<string> = new Set([
  'ERR_HTTP_INVALID_HEADER_VALUE',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_UNESCAPED_CHARACTERS',
]);

/** How long a body may wait for its reader. */
const UNREAD_MS = 2_000;

/** One request, of the caller or by a redirect, in all of its states: libraries see the members of one. */
export class GuardedRequest extends RequestAdmission {
  #isStarted = false;
  #isFinished = false;
  #status: number | undefined;
  /** Epoch ms, if requests are published; `undefined` once this one was. */
  #startedAt: number | undefined;
  #hasArrived = false;
  /** Runs until the response, or the reader of its body, comes. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeLimit: TimeLimit | undefined;

  /** Whether it is in flight, and something waits for its end: its permit, or the limit of its time. */
  get isInFlight(): boolean {
    return (this.permit ?? this.#timeLimit) !== undefined && !this.#isFinished;
  }

  /** Whether the end of its body is waited for, or the evidence has whether it was cut. */
  get watchesBody(): boolean {
    return this.isInFlight || (!this.#isFinished && this.context.engine.hasListener('body'));
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
    return this.context.engine.ending;
  }

  get patience(): SitePatience {
    return this.context.patience;
  }

  /** The client's. */
  get clock(): Clock {
    return this.context.engine.clock;
  }

  /** After a response that asks to try again later: epoch ms, the end of the pause. */
  get retryAt(): number | undefined {
    return this.permit?.retryAt;
  }

  /** After such a response: the error that says so, for a library that may hand out no response. */
  get deferral(): RobotsDeferredError | undefined {
    const { decision, retryAt } = this;
    if (decision === undefined || retryAt === undefined) return undefined;
    const pause = this.context.engine.pacing.pacer.value?.pauseOf(decision.origin);
    const delayFrom = pause?.delayFrom ?? 'back-off';
    const causeMs = pause && pause.until - pause.from;
    const details = { retryAt, delayFrom, causeMs, circumstance: `as it answered ${this.#status}` };
    const error = new RobotsDeferredError(decision, details, this.chain);
    markRequest(error, this);
    return error;
  }

  /** The request that a redirect of this one leads to. */
  redirectedTo(url: string | URL, options: RequestOptions): GuardedRequest {
    return new GuardedRequest(this.context, url, options, this);
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
    if (this.permit !== undefined) {
      this.throwIfFinished();
      this.permit.sent();
    }
    this.#isStarted = true;
    const { engine, settings } = this.context;
    const isLimited = settings.timeoutMs !== undefined;
    if (this.permit !== undefined && this.options.hidesResponse !== true && !isLimited) this.#watchResponse();
    const { requestStart } = engine;
    if (requestStart !== undefined && this.options.isPreliminary !== true && reachesSite(this.url))
      this.#startedAt = requestStart;
    return this;
  }

  #watchResponse(): void {
    this.#timer = afterLongWait(() => {
      const holdsUp =
        this.context.engine.pacing.pacer.value?.queueOf(this.#address.origin)?.waitsForEnd === true;
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
    const { settings, reports } = this.context;
    if (settings.timeoutMs === undefined) return given;
    this.#timeLimit = new TimeLimit(settings.timeoutMs, given, (error) => {
      if (!this.hasResponded) reports.unreachable(this.url);
      this.fail(error);
    });
    return this.#timeLimit.signal;
  }

  /** The header has come. A refused response must not be read. */
  onResponseHeaders(status: number, headers: ResponseFields): Refusal | undefined {
    if (this.#isFinished) this.permit?.done({ status, headers });
    else this.permit?.responded({ status, headers });
    const inspected = this.#inspect(status, headers);
    if (this.#hasArrived) this.finish();
    return inspected;
  }

  /** The whole response has come, or the library does not show the end of its body. */
  onResponse(status: number, headers: ResponseFields): Refusal | undefined {
    this.permit?.done({ status, headers });
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
    if (this.permit === undefined || this.#isFinished) return;
    this.#timer = setBackgroundTimeout(() => {
      const url = shownUrl(this.url);
      warnOnce(
        `Expected the body of ${url} to be read or cancelled (\`await response.body?.cancel()\`), but it was neither for ` +
          `${UNREAD_MS / 1_000} s: its request held a permit of the site all that time`,
        BODY_UNREAD,
      );
      this.#publishBodyTrouble(BODY_UNREAD);
      this.#endPermit();
    }, UNREAD_MS);
  }

  /** A part of the body was read: the permit holds for 30 s more. */
  onBodyRead(): void {
    clearTimeout(this.#timer);
    this.permit?.bodyRead();
  }

  #inspect(status: number, headers: ResponseFields): Refusal | undefined {
    clearTimeout(this.#timer);
    this.#status = status;
    // A permit has learnt of a pause: reported once more, it would end some milliseconds later.
    const pauses = this.permit === undefined;
    this.context.reports.responded(this.url, status, headers, this.decision?.origin, pauses);
    const { decision } = this;
    if (decision !== undefined && this.retryAt === undefined) this.patience.gavePage(decision.origin);
    else if (decision !== undefined) watchPause(this.context.engine, this.patience, decision.origin);
    const refusal = this.#refusalByHeaders(status, headers);
    this.#publishEnd({ status, headers, refusal });
    if (refusal !== undefined) this.finish();
    return refusal;
  }

  #refusalByHeaders(status: number, headers: ResponseFields): Refusal | undefined {
    const { decision } = this;
    if (this.context.settings.purpose === undefined) return undefined;
    if (decision?.allowed !== true || this.refusalReported || redirects(status, headers)) return undefined;
    const refused = refusedUse(this.context, decision, headers);
    return refused && this.refuse(refused);
  }

  #publishEnd(end: RequestEnd): void {
    const startedAt = this.#startedAt;
    if (startedAt === undefined) return;
    this.#startedAt = undefined;
    const { url, origin } = this.#address;
    const pacing = this.permit?.pacing;
    const request = { url, origin, startedAt, ...(pacing && { pacing }), ...endOf(end) };
    this.context.engine.publish('request', request);
  }

  #publishBodyTrouble(error: string): void {
    const { url, origin } = this.#address;
    this.context.engine.publish('body', { url, origin, status: this.#status ?? 0, error });
  }

  /** A request that was not checked may have a longer URL than one that can be. */
  get #address(): { readonly url: string; readonly origin: string } {
    return this.decision ?? { url: shownUrl(this.url), origin: new URL(this.url).origin };
  }

  /** It has failed, or its body has broken off. */
  fail(error: unknown): void {
    // A site whose body breaks off has responded, so it is reachable.
    const { signal } = this.options;
    if (this.#status === undefined && REFUSED_BY_NODE.has(codeOf(error))) this.withdraw();
    else if (this.#status === undefined)
      this.context.reports.failed(this.url, error, signal, this.decision?.origin);
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
    if (this.#isStarted) this.permit?.done();
    else this.permit?.release();
    this.#publishEnd({ error: undefined });
  }

  protected handOver(): RequestPermit | undefined {
    const { permit } = this;
    this.permit = this.#startedAt = undefined;
    return permit;
  }
}
