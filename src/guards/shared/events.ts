import { codeOf, invokeListener, omitUndefined } from '../../core/base/index.ts';
import {
  BODY_UNREAD,
  type Decision,
  type DecisionContext,
  decisionChannels,
  type OwnDelays,
  type RedirectChain,
  type SentRequest,
} from '../../core/decision/index.ts';
import { gatekeeperIn, priceIn } from '../../core/lifecycle/index.ts';
import type { GuardSettings } from './options.ts';
import type { GuardClientAdapter } from './client.ts';
import type { Refusal } from './refusal-errors.ts';
import { type ResponseFields, retryAfterOf } from './headers.ts';
import { isTimeout } from './time-limit.ts';

const ABOUT_REQUEST: DecisionContext = Object.freeze({ request: true });

type Listeners = Pick<GuardSettings<unknown>, 'onRefusal' | 'onIgnored' | 'onPaymentRequired'>;

/** Publishes what a guard does: to the functions among its options, and on the diagnostics channels. */
export class GuardEvents {
  readonly #client: GuardClientAdapter;
  readonly #listeners: Listeners;

  constructor(client: GuardClientAdapter, listeners: Listeners) {
    this.#client = client;
    this.#listeners = listeners;
  }

  /** A request was decided. Called once for each request, however often it waited. */
  decided(decision: Decision, usage: Decision['usage'], chain: RedirectChain | undefined): void {
    const context =
      usage === undefined && chain === undefined
        ? ABOUT_REQUEST
        : { ...ABOUT_REQUEST, ...chain, ...omitUndefined({ usage }) };
    this.#client.publishDecision(decision, context);
  }

  /** A link was looked up in memory. */
  linkChecked(decision: Decision): void {
    this.#client.publishDecision(decision, { lookup: true });
    if (!decision.allowed) this.refused(decision, { requested: decision.url, redirects: [] });
  }

  /** A request, its response, or a link was refused. */
  refused(decision: Decision, chain: RedirectChain): void {
    const { onRefusal } = this.#listeners;
    if (onRefusal !== undefined) invokeListener('onRefusal', onRefusal, decision, chain);
    // Disallowed decisions were published already.
    if (!decision.allowed) return;
    const { usage } = decisionChannels;
    if (usage.hasSubscribers) usage.publish({ ...chain, decision, client: this.#client.client });
  }

  /** A request is sent without a check of robots.txt. */
  ignored(url: string | URL, because: string): void {
    const ignored = { url: new URL(url).href, because };
    const { onIgnored } = this.#listeners;
    if (onIgnored !== undefined) invokeListener('onIgnored', onIgnored, ignored);
    this.#client.publishIgnored(ignored.url, because);
  }

  /** When a request starts, in epoch ms; `undefined` when {@link sent} would reach no listener. */
  get requestStart(): number | undefined {
    return this.#client.requestStart;
  }

  /** The header of a response to a request has come, or the request has ended without one. */
  sent({ url, startedAt, decision, pacing }: StartedAt, end: RequestEnd): void {
    // A request that was not checked may have a longer URL than one that can be.
    const { href, origin } =
      decision === undefined ? new URL(url) : { href: decision.url, origin: decision.origin };
    this.#client.publishRequest({ url: href, origin, startedAt, ...(pacing && { pacing }), ...endOf(end) });
  }

  /** The body of a response was cut, or nobody began to read it. */
  bodyTrouble(url: string | URL, status: number, error: unknown, decision: Decision | undefined): void {
    const { href, origin } =
      decision === undefined ? new URL(url) : { href: decision.url, origin: decision.origin };
    const code = error === BODY_UNREAD ? BODY_UNREAD : errorCodeOf(error);
    this.#client.publishBodyTrouble({ url: href, origin, status, error: code });
  }

  /** The site responded with 402. */
  paymentRequired(url: string | URL, headers: ResponseFields): void {
    const { payment } = decisionChannels;
    const { onPaymentRequired } = this.#listeners;
    if (!payment.hasSubscribers && onPaymentRequired === undefined) return;
    const required = omitUndefined({ url: new URL(url).href, price: priceIn(headers) });
    if (onPaymentRequired !== undefined) invokeListener('onPaymentRequired', onPaymentRequired, required);
    if (payment.hasSubscribers) payment.publish({ ...required, client: this.#client.client });
  }
}

/** A request that was sent. */
interface StartedAt {
  readonly url: string | URL;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly decision: Decision | undefined;
  /** The pace that it kept. */
  readonly pacing: OwnDelays | undefined;
}

/** How a request ended: with a response, or with an error, if the library shows one. */
export type RequestEnd =
  | { readonly error: unknown }
  | { readonly status: number; readonly headers: ResponseFields; readonly refusal: Refusal | undefined };

/** The code of an error; of a time limit the name that the DOM Standard has for it. */
function errorCodeOf(error: unknown): string {
  return isTimeout(error) ? 'TIMEOUT_ERR' : codeOf(error);
}

function endOf(end: RequestEnd): Partial<SentRequest> {
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
