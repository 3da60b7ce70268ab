import { invokeListener } from '../../core/base/index.ts';
import { type Decision, decisionChannels, type RedirectChain } from '../../core/decision/index.ts';
import type { AskedClient, GuardClient } from './client.ts';
import type { GuardSettings } from './options.ts';
import type { Hop } from './hop.ts';

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
    const way = hop.isRedirected ? hop.way : undefined;
    this.#asked.tell(decision, usage === undefined ? way : { ...way, usage });
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
    this.#asked.tellIgnored(ignored.url, because);
  }

  /** The site wants to be paid. */
  paymentRequired(url: string | URL): void {
    const { payment } = decisionChannels;
    if (payment.hasSubscribers) payment.publish({ url: new URL(url).href, client: this.#client });
  }
}
