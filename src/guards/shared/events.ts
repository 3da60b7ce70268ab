import { invokeListener, codeOf, omitUndefined } from '../../core/base/index.ts';
import {
  type Decision,
  type DecisionContext,
  decisionChannels,
  type RedirectChain,
  type SentRequest,
} from '../../core/decision/index.ts';
import type { AskedClient, GuardClient } from './client.ts';
import type { GuardSettings } from './options.ts';
import type { Refusal } from './refusal.ts';
import { locate } from '../../core/url/index.ts';
import { type AnswerFields, fieldOf, priceIn } from './answer.ts';
import type { Hop } from './hop.ts';

const ABOUT_REQUEST: DecisionContext = Object.freeze({ request: true });

type Listeners = Pick<GuardSettings<unknown>, 'onRefusal' | 'onIgnored'>;

/** All that a guard tells of: to the functions among its options, and on the diagnostics channels. */
export class GuardEvents {
  readonly #client: GuardClient;
  readonly #asked: AskedClient;
  readonly #listeners: Listeners;

  constructor(client: GuardClient, asked: AskedClient, listeners: Listeners) {
    this.#client = client;
    this.#asked = asked;
    this.#listeners = listeners;
  }

  /** A request was decided. Called once for each request, however often it waited. */
  decided(hop: Hop, refused: Decision | undefined): void {
    const { decision, options } = hop;
    // Another guard tells of a request that it decides again.
    if (decision === undefined || (options.isPreliminary === true && refused === undefined)) return;
    const usage = refused?.usage;
    const context =
      usage === undefined && !hop.isRedirected
        ? ABOUT_REQUEST
        : { ...ABOUT_REQUEST, ...(hop.isRedirected ? hop.way : {}), ...omitUndefined({ usage }) };
    this.#asked.tell(decision, context);
  }

  /** A link was looked up in memory. */
  lookedUp(decision: Decision): void {
    this.#asked.tell(decision, { lookup: true });
    if (!decision.allowed) this.refused(decision, { requested: decision.url, redirects: [] });
  }

  /** A request, its answer, or a link was refused. */
  refused(decision: Decision, way: RedirectChain): void {
    const { onRefusal } = this.#listeners;
    if (onRefusal !== undefined) invokeListener('onRefusal', onRefusal, decision, way);
    // Of other refusals the decision tells.
    if (!decision.allowed) return;
    const { usage } = decisionChannels;
    if (usage.hasSubscribers) usage.publish({ ...way, decision, client: this.#client });
  }

  /** A request is sent without a check of robots.txt. */
  ignored(url: string | URL, because: string): void {
    const ignored = { url: new URL(url).href, because };
    const { onIgnored } = this.#listeners;
    if (onIgnored !== undefined) invokeListener('onIgnored', onIgnored, ignored);
    this.#asked.publishIgnored(ignored.url, because);
  }

  /** The header of a response has come. Called with the refusal that its fields are. */
  responded(hop: Hop, status: number, headers: AnswerFields, refusal: Refusal | undefined): void {
    if (hop.startedAt === undefined) return;
    this.#requested(hop, {
      status,
      refused: refusal?.code === 'ERR_ROBOTS_USAGE' ? refusal.code : undefined,
      retryAfter: (status === 429 || status === 503 ? fieldOf(headers, 'retry-after') : null) ?? undefined,
      challenge: fieldOf(headers, 'cf-mitigated') ?? undefined,
      price: status === 402 ? priceIn(headers) : undefined,
    });
  }

  /** The request has ended without a response. No effect after {@link responded}. */
  failed(hop: Hop, error?: unknown): void {
    if (hop.startedAt !== undefined)
      this.#requested(hop, error === undefined ? {} : { error: codeOf(error) });
  }

  #requested(hop: Hop, response: Partial<Record<keyof SentRequest, string | number | undefined>>): void {
    const { startedAt, decision } = hop;
    hop.startedAt = undefined;
    const { href, origin } = locate(hop.url);
    this.#asked.publishRequest({
      url: decision?.url ?? href,
      origin: decision?.origin ?? origin,
      startedAt,
      ...omitUndefined(response),
    } as SentRequest);
  }

  /** The site wants to be paid. */
  paymentRequired(url: string | URL): void {
    const { payment } = decisionChannels;
    if (payment.hasSubscribers) payment.publish({ url: new URL(url).href, client: this.#client });
  }
}
