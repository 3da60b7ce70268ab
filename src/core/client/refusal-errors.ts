import { platform } from '#platform';
import {
  type Decision,
  type DecisionUsage,
  describeDecision,
  describeOutcome,
  RefusedRequestError,
  type RedirectChain,
  thrownCause,
} from '../decision/index.ts';
import { causesOf, isRobotsError, omitUndefined, type RobotsAddressRefusedError } from '../base/index.ts';
import { ADDRESS_REFUSED, STATUS } from '../fetch/failure.ts';
import type { RobotsDeferredError } from '../pacing/index.ts';

/** An error with which a guard refuses a request. */
export type Refusal = RobotsDisallowedError | RobotsUnreachableError | RobotsDeferredError | RobotsUsageError;

const REFUSAL_CODES: ReadonlySet<unknown> = new Set<Refusal['code']>([
  'ERR_ROBOTS_DISALLOWED',
  'ERR_ROBOTS_UNREACHABLE',
  'ERR_ROBOTS_DEFERRED',
  'ERR_ROBOTS_USAGE',
]);

/** A guard refused a request because robots.txt disallows it. */
export class RobotsDisallowedError extends RefusedRequestError {
  override readonly name = 'RobotsDisallowedError';
  readonly code = 'ERR_ROBOTS_DISALLOWED';

  constructor(decision: Decision, chain?: RedirectChain) {
    super(describeDecision(decision), decision, chain);
  }
}

/**
 * A guard refused a request because robots.txt cannot be reached; try again after `retryAt`. Without `retryAt` it is for
 * good: the address policy refuses the address of the site, or the site is dead.
 *
 * `cause` is the failure of the last attempt, with its code: `ECONNREFUSED`, `ERR_ROBOTS_DEADLINE`, `ERR_ROBOTS_STATUS` for a
 * 429 or 5xx, whose `status` it has, too. It is the error itself where a `fetch` of your own has thrown it.
 */
export class RobotsUnreachableError extends RefusedRequestError {
  override readonly name = 'RobotsUnreachableError';
  readonly code = 'ERR_ROBOTS_UNREACHABLE';
  /** Epoch ms from which to try again. */
  override readonly retryAt: number | undefined;

  constructor(decision: Decision, chain?: RedirectChain) {
    const hint = platform.undici?.mockHint(decision.robots.error, decision.robots.url);
    super(
      describeDecision(decision) + (hint === undefined ? '' : `. ${hint}`),
      decision,
      chain,
      failureOf(decision),
    );
    this.retryAt = decision.retryAt;
  }
}

/**
 * The failure of the attempt, made of what is recorded, because the decision may rest on memory or the store; or what code of
 * the caller has thrown.
 */
function failureOf({ robots }: Decision): { readonly cause: unknown } | undefined {
  const { error: code, status } = robots;
  if (code === undefined) return undefined;
  const message = code === STATUS ? `robots.txt was answered with status ${status}` : describeOutcome(robots);
  return { cause: thrownCause(robots) ?? Object.assign(new Error(message), omitUndefined({ code, status })) };
}

/**
 * A guard with a `purpose` refused a page, or its response, because the site states that its content must not be used
 * for this purpose. The page may be fetched for other purposes: the decision allows that, and its `usage` has the line
 * or the header field.
 */
export class RobotsUsageError extends RefusedRequestError {
  override readonly name = 'RobotsUsageError';
  readonly code = 'ERR_ROBOTS_USAGE';
  readonly usage: DecisionUsage;

  constructor(decision: Decision, usage: DecisionUsage, chain?: RedirectChain) {
    const refused = usage.preference === 'unknown' ? ", and `onUnknownPurpose` is 'refuse'" : '';
    super(`${describeDecision({ ...decision, usage })}${refused}`, decision, chain);
    this.usage = usage;
  }
}

/**
 * The error for a decision that refuses a request.
 *
 * @param chain The redirects that led to the URL of the decision.
 */
export function refusalFor(decision: Decision, chain?: RedirectChain): Exclude<Refusal, RobotsDeferredError> {
  if (decision.allowed && decision.usage !== undefined) {
    return new RobotsUsageError(decision, decision.usage, chain);
  }
  return decision.reason === 'unreachable'
    ? new RobotsUnreachableError(decision, chain)
    : new RobotsDisallowedError(decision, chain);
}

/** Registered, as {@link REFUSAL} is. */
const ENDING: unique symbol = Symbol.for('canfetch.ending');

/** Marks what a client rejects with: who waits for its `retryAt` hears by `ending` that the client was closed. */
export function refusedBy(ending: AbortSignal, refusal: unknown): unknown {
  return refusal instanceof RefusedRequestError
    ? Object.defineProperty(refusal, ENDING, { value: ending })
    : refusal;
}

/** Aborted when the client closes. `undefined` for the refusal of a guard, whose request has it. */
export function endingOf(refusal: object | undefined): AbortSignal | undefined {
  return refusal && Reflect.get(refusal, ENDING);
}

/** A registered symbol, so that another copy of this package in the process finds it too. */
const REFUSAL: unique symbol = Symbol.for('canfetch.refusal');

/** Marks `response`, which replaces the site's response, so that {@link refusalIn} finds the refusal. */
export function answeringFor<Response extends object>(response: Response, refused: Refusal): Response {
  return Object.defineProperty(response, REFUSAL, { value: refused, configurable: true });
}

/**
 * Finds the refusal in an error or a response of a client. Clients wrap the error of a guard
 * (`TypeError: fetch failed`, got's `RequestError`, `AxiosError`) and keep it as `cause`. With `onDisallow: 'response'`
 * the guard returns a response, and clients throw their error for its status, with the response as `response` (ky's
 * `HTTPError`, ofetch's `FetchError`).
 *
 * @param value An error, or a `Response` or its clone. A new `Response` made from its body does not have the refusal.
 * @returns `undefined` when no guard refused the request. A `RobotsAddressRefusedError` (`ERR_ROBOTS_ADDRESS_REFUSED`) has no
 *   `decision`: the `addressPolicy` of the guard refused the address of the page.
 */
export function refusalOrAddressIn(value: unknown): Refusal | RobotsAddressRefusedError | undefined {
  return refusalIn(value) ?? [...causesOf(value)].find(isAddressRefusal);
}

const isAddressRefusal = (error: object): error is RobotsAddressRefusedError =>
  Reflect.get(error, 'code') === ADDRESS_REFUSED && isRobotsError(error);

/** The refusal, with a decision, in an error or a response of a client. */
export function refusalIn(value: unknown): Refusal | undefined {
  for (const each of causesOf(value)) {
    // Some wrappers copy the code, so the class of the error is checked too.
    if (REFUSAL_CODES.has(Reflect.get(each, 'code')) && isRobotsError(each)) return each as Refusal;
    const answered = refusalOf(each) ?? refusalOf(Reflect.get(each, 'response'));
    if (answered !== undefined) return answered;
  }
  return undefined;
}

/** The refusal that a guard's response represents. */
export function refusalOf(response: unknown): Refusal | undefined {
  if (typeof response !== 'object' || response === null || !(REFUSAL in response)) return undefined;
  return response[REFUSAL] as Refusal;
}
