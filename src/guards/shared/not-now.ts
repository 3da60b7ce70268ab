/** What the end of a request says about trying again, in whatever form a library shows it. */
import { causesOf, type Clock, urlWithoutUserinfo } from '../../core/base/index.ts';
import { type Decision, describeOutcome } from '../../core/decision/index.ts';
import { describeDelay } from '../../core/pacing/index.ts';
import { endingOf, type Refusal, refusalIn } from '../../core/client/refusal-errors.ts';
import type { LongWait, SitePatience } from './site-waits.ts';

/** On a refusal, and on what a library shows of a response: the request of the guard. Registered, for another copy of this package. */
export const GUARDED_REQUEST: unique symbol = Symbol.for('canfetch.guarded-request');

/** The part of a guarded request that is read from its end. */
interface EndedRequest {
  readonly decision: Decision | undefined;
  readonly status: number | undefined;
  readonly retryAt: number | undefined;
  /** Aborted when the client closes. */
  readonly ending: AbortSignal;
  readonly patience: SitePatience;
  /** The client's. */
  readonly clock: Clock;
}

/** A wait for a site: what `onWait` of `retryLater` receives. */
export interface SiteWait {
  /** The URL that is requested again afterwards. */
  readonly url: string;
  /** The end of the wait, in epoch ms. */
  readonly until: number;
  /** What the site does, in words: `it answered 429`, `robots.txt is unreachable (503)`. */
  readonly cause: string;
}

/** A wait, and the request after which it is made. */
export interface RetryWait extends SiteWait, LongWait {
  /** Aborted when the client closes. */
  readonly ending: AbortSignal | undefined;
  /** Absent when the caller's own code asked the client. */
  readonly request: EndedRequest | undefined;
}

/** Marks a refusal, or what a library shows of a response that asks to try again later. */
export function markRequest(outcome: object | undefined, request: object): void {
  if (outcome === undefined) return;
  Object.defineProperty(outcome, GUARDED_REQUEST, { value: request, configurable: true });
}

/** {@link markRequest}, for a response that asks to try again later. */
export function markRetryAt(
  outcome: object | undefined,
  request: { readonly retryAt: number | undefined },
): void {
  if (request.retryAt !== undefined) markRequest(outcome, request);
}

/**
 * When to try a request again, for job queues. It takes what the request ended with, of any library: a response, an
 * error, or the reason of a refusal.
 *
 * @returns Epoch ms, for a response or error of a paced request that the site answered with 429 or 503 (or another status
 *   of `backOff.statuses`), for a deferral, and while robots.txt is unreachable. `undefined` for everything else, a dead
 *   site included: the request is over.
 *
 * @example
 * ```ts
 * const outcome = await fetchPolitely('https://example.com/page').catch((error: unknown) => error);
 * const retryAt = retryAtOf(outcome);
 * if (retryAt !== undefined) await job.moveToDelayed(retryAt);
 * ```
 */
export function retryAtOf(outcome: unknown): number | undefined {
  const refusal = refusalIn(outcome);
  if (refusal !== undefined) return 'retryAt' in refusal ? refusal.retryAt : undefined;
  return respondedRequest(outcome)?.retryAt;
}

/** The wait after which a request makes sense again; `undefined` when it is over. */
export function retryWaitOf(outcome: unknown): RetryWait | undefined {
  const until = retryAtOf(outcome);
  if (until === undefined) return undefined;
  const refusal = refusalIn(outcome);
  const request = refusal === undefined ? respondedRequest(outcome) : requestOn(refusal);
  const decision = refusal?.decision ?? request?.decision;
  return {
    url: urlWithoutUserinfo(decision?.url ?? ''),
    origin: decision?.origin ?? '',
    until,
    cause: refusal === undefined ? `it answered ${request?.status}` : causeOf(refusal),
    keepsPace: refusal !== undefined && keepsPace(refusal),
    ending: request?.ending ?? endingOf(refusal),
    request,
  };
}

/** What a site that refuses or defers a request does, in words. */
export function causeOf(refusal: Refusal): string {
  if (refusal.code === 'ERR_ROBOTS_DEFERRED') return describeDelay(refusal);
  return `robots.txt is unreachable (${describeOutcome(refusal.decision.robots)})`;
}

/** Whether a request is only deferred by the pace of its site. */
export function keepsPace(refusal: Refusal): boolean {
  if (refusal.code !== 'ERR_ROBOTS_DEFERRED') return false;
  return refusal.delayFrom !== 'retry-after' && refusal.delayFrom !== 'back-off';
}

function respondedRequest(outcome: unknown): EndedRequest | undefined {
  for (const each of causesOf(outcome)) {
    const request = requestOn(each) ?? requestOn(Reflect.get(each, 'response'));
    if (request?.retryAt !== undefined) return request;
  }
  return undefined;
}

/** Of undici's responses the guard sees the context, of those of axios over `fetch` the request. */
function requestOn(response: unknown): EndedRequest | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  for (const name of [undefined, 'context', 'headers', 'request']) {
    const part: unknown = name === undefined ? response : Reflect.get(response, name);
    const request: EndedRequest | undefined = Reflect.get(Object(part), GUARDED_REQUEST);
    if (request !== undefined) return request;
  }
  return undefined;
}
