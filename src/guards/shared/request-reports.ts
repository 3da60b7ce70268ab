import type { ClientEngine } from '../../core/client/client-engine.ts';
import {
  causesOf,
  codeOf,
  invokeListener,
  omitUndefined,
  urlWithoutUserinfo,
} from '../../core/base/index.ts';
import type { Decision, RedirectChain, SentRequest } from '../../core/decision/index.ts';
import { ADDRESS_REFUSED } from '../../core/fetch/failure.ts';
import { gatekeeperIn, priceIn } from '../../core/lifecycle/index.ts';
import type { GuardSettings } from './options.ts';
import { originOf } from '../../core/url/index.ts';
import { type Refusal, refusalIn } from '../../core/client/refusal-errors.ts';
import { type ResponseFields, retryAfterOf } from './headers.ts';
import { isTimeout } from './time-limit.ts';

type Listeners = Pick<GuardSettings<unknown>, 'onRefusal' | 'onPaymentRequired'>;

/**
 * Tells what the requests of a guard show: to the functions among its options, on the diagnostics channels, and to the
 * client whether sites respond.
 */
export class RequestReports {
  readonly #engine: ClientEngine;
  readonly #listeners: Listeners;

  constructor(engine: ClientEngine, listeners: Listeners) {
    this.#engine = engine;
    this.#listeners = listeners;
  }

  /** A request, its response, or a link was refused. */
  refused(decision: Decision, chain: RedirectChain): void {
    const { onRefusal } = this.#listeners;
    if (onRefusal !== undefined) invokeListener('onRefusal', onRefusal, decision, chain);
    // Disallowed decisions were published already.
    if (!decision.allowed) return;
    this.#engine.publish('usage', { ...chain, decision });
  }

  /** A request is sent without a check of robots.txt. */
  ignored(url: string | URL, because: string): void {
    this.#engine.publish('ignored', { url: urlWithoutUserinfo(new URL(url).href), because });
  }

  /**
   * A response came: the site is reachable unless the status is 5xx, may ask for a pause, or for a payment.
   *
   * @param origin The origin of `url`, if a decision has it: saves parsing the URL again.
   * @param pauses Whether a pause that the response asks for is still to be reported.
   */
  responded(
    url: string | URL,
    status: number,
    headers: ResponseFields,
    origin?: string,
    pauses = true,
  ): void {
    this.#report(url, origin, status < 500, pauses ? retryAfterOf(status, headers) : undefined);
    const { onPaymentRequired } = this.#listeners;
    if (status !== 402 || onPaymentRequired === undefined) return;
    const required = omitUndefined({ url: urlWithoutUserinfo(new URL(url).href), price: priceIn(headers) });
    invokeListener('onPaymentRequired', onPaymentRequired, required);
  }

  /** A request failed. Not reported when the failure says nothing about the site. */
  failed(url: string | URL, error: unknown, signal: AbortSignal | undefined, origin?: string): void {
    // Not when the caller aborted, another guard refused, or the request could not be sent.
    if (signal?.aborted !== true && refusalIn(error) === undefined && isNetworkError(error))
      this.#report(url, origin, false);
  }

  /** The address policy refused a request before it was decided. */
  addressRefused(url: URL): void {
    const startedAt = this.#engine.requestStart;
    if (startedAt === undefined) return;
    const request = { url: urlWithoutUserinfo(url.href), origin: url.origin, startedAt };
    this.#engine.publish('request', { ...request, error: ADDRESS_REFUSED });
  }

  /** A site did not respond. */
  unreachable(url: string | URL): void {
    this.#report(url, undefined, false);
  }

  #report(url: string | URL, known: string | undefined, reachable: boolean, retryAfter?: string): void {
    let origin = known;
    try {
      origin ??= originOf(url);
    } catch {
      // A request that was not checked may have a URL that cannot be.
      return;
    }
    this.#engine.reportOrigin(origin, reachable, retryAfter);
  }
}

/** Error codes of network failures: of Node, undici, and TLS as OpenSSL names them. */
const NETWORK_CODE =
  /^(?:E[A-Z]{2,}$|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT)|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether an error, or one of its causes, has the code of a network failure. */
function isNetworkError(error: unknown): boolean {
  return [...causesOf(error)].some((each) => NETWORK_CODE.test(String(Reflect.get(each, 'code'))));
}

/** How a request ended: with a response, or with an error, if the library shows one. */
export type RequestEnd =
  | { readonly error: unknown }
  | { readonly status: number; readonly headers: ResponseFields; readonly refusal: Refusal | undefined };

/** The code of an error; of a time limit and of an abort the name that the DOM Standard has for it. */
export function errorCodeOf(error: unknown): string {
  if (isTimeout(error)) return 'TIMEOUT_ERR';
  return Reflect.get(Object(error), 'name') === 'AbortError' ? 'ABORT_ERR' : codeOf(error);
}

export function endOf(end: RequestEnd): Partial<SentRequest> {
  if ('error' in end) return end.error === undefined ? {} : { error: errorCodeOf(end.error) };
  const { status, headers, refusal } = end;
  return omitUndefined({
    status,
    refused: refusal?.code === 'ERR_ROBOTS_USAGE' ? refusal.code : undefined,
    retryAfter: retryAfterOf(status, headers),
    gatekeeper: gatekeeperIn({ status, headers }),
    price: status === 402 ? priceIn(headers) : undefined,
  });
}

/** Whether a body ended early because its reader gave it up. */
export function isAborted(error: unknown, signal: AbortSignal | undefined): boolean {
  const { name, code }: { readonly name?: unknown; readonly code?: unknown } = Object(error);
  return signal?.aborted === true || name === 'AbortError' || code === 'UND_ERR_ABORTED';
}
