import type { Clock } from '../base/index.ts';
import { type Decision, decisionChannels } from '../decision/index.ts';
import type { Pace, TakenSlot } from '../pacing/index.ts';
import type { UsageOptions } from '../rules/index.ts';
import { AskedClient, type GuardClient } from './client.ts';
import { Identity } from './identity.ts';
import { type GuardOptions, type GuardSettings, readGuardOptions } from './options.ts';
import { refusalFor } from './refusal.ts';
import { SiteReports } from './site-reports.ts';
import { UsageRefusals } from './usage-refusals.ts';

/** The properties of a request that a guard needs besides its URL. */
export interface GuardedRequest {
  readonly signal?: AbortSignal | undefined;
  /** The reason to send the request without a check of robots.txt. */
  readonly because?: string | undefined;
  /** Called with the decision of the client. Keep it for {@link Guard.refusesResponse}. */
  readonly onDecision?: ((decision: Decision) => void) | undefined;
  /** Whether the request can wait for its slot. @default true */
  readonly paced?: boolean;
  /** Awaited after robots.txt was fetched, before the slot of the request. */
  readonly afterAsking?: () => Promise<unknown>;
  /**
   * Gets the slot when its time has come, to leave in it right before the request is sent. Without it, the request
   * counts as sent when the guard admits it.
   */
  readonly onSlot?: (slot: TakenSlot) => void;
}

/** The logic that all guards share: whether a URL may be requested, and the refusal if not. */
export class Guard<Result = unknown> {
  readonly onDisallow: GuardSettings<Result>['onDisallow'];
  readonly clock: Clock;
  /** Sets and checks the `User-Agent` of requests; `undefined` when neither is needed. */
  readonly identity: Identity | undefined;
  /** Tells the client how the sites answer. */
  readonly reports: SiteReports;
  private readonly client: GuardClient;
  private readonly asked: AskedClient;
  private readonly usage: UsageRefusals;
  private readonly settings: GuardSettings<Result>;
  readonly #needsNoDecision: boolean;

  /**
   * @param seesHeaders Whether the guard calls {@link Guard.refusesResponse}.
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
   */
  constructor(client: GuardClient, options: GuardOptions<Result>, seesHeaders = false) {
    this.settings = readGuardOptions(options);
    this.client = client;
    this.asked = new AskedClient(client, this.settings);
    this.reports = new SiteReports(client);
    this.usage = new UsageRefusals(client, this.settings, seesHeaders);
    const { filter, pace, purpose, addressPolicy } = this.settings;
    this.#needsNoDecision =
      filter === undefined && pace === undefined && purpose === undefined && addressPolicy === 'any';
    this.identity = identityOf(client, this.settings);
    this.onDisallow = this.settings.onDisallow;
    this.clock = this.settings.clock;
  }

  /**
   * The decision that refuses `url`; `undefined` when it may be requested. A promise only when the client has to
   * fetch robots.txt, so that the request otherwise starts synchronously.
   *
   * @throws the reason of an aborted signal, and what the client or an observer throws.
   */
  refuses(
    url: string | URL,
    request: GuardedRequest = {},
  ): Decision | undefined | Promise<Decision | undefined> {
    return reachesSite(url) ? this.refusesSite(url, request) : undefined;
  }

  /** Like {@link refuses}, for a URL that {@link reachesSite}. */
  refusesSite(
    url: string | URL,
    request: GuardedRequest,
  ): Decision | undefined | Promise<Decision | undefined> {
    if (this.settings.filter?.(new URL(url)) === false) return undefined;
    if (request.because !== undefined) {
      const ignored = { url: new URL(url).href, because: request.because };
      this.settings.onIgnored?.(ignored);
      const { ignored: channel } = decisionChannels;
      if (channel.hasSubscribers) channel.publish({ ...ignored, client: this.client });
      return undefined;
    }
    const { pace } = this.settings;
    if (pace !== undefined && request.paced !== false) return this.paced(url, pace, request);
    // A serialised string is faster to read than a URL.
    const text = typeof url === 'string' ? url : url.href;
    const decision = this.decide(text, request);
    return decision instanceof Promise
      ? decision.then((late) => this.refusedOf(late, request))
      : this.refusedOf(decision, request);
  }

  /**
   * The origin of `url` when memory alone allows the request, and no option of the guard needs the decision. Takes less
   * time than {@link refusesSite}, which has to be asked when this returns `undefined`.
   */
  allowedOrigin(url: string): string | undefined {
    return this.#needsNoDecision ? this.asked.allowedOrigin(url) : undefined;
  }

  /** Whether the robots.txt of `url` is in memory, so that it will not be fetched. */
  knows(url: URL): boolean {
    return this.asked.knows(url);
  }

  /** Whether refusals are enforced; `false` in a dry run. */
  get enforces(): boolean {
    return this.settings.enforces;
  }

  /** The longest wait of a request for its slot, in ms. */
  get maxDelayMs(): number {
    return this.settings.pace?.maxDelayMs ?? 0;
  }

  /**
   * Returns when `url` may be requested.
   *
   * @throws RobotsDisallowedError, RobotsUnreachableError, or the reason of an aborted signal.
   */
  async admit(url: string | URL, request: GuardedRequest = {}): Promise<void> {
    const refused = await this.refuses(url, request);
    if (refused !== undefined) throw refusalFor(refused);
  }

  /** Whether pages are fetched for a purpose, so that {@link refusesResponse} must check their header fields. */
  get hasPurpose(): boolean {
    return this.settings.purpose !== undefined;
  }

  /**
   * The decision that refuses a response, because its header fields disallow the guard's purpose; `undefined` when its
   * body may be read. Call it when {@link hasPurpose}.
   *
   * @param decision The decision that allowed the request; `undefined` for a request that was not checked.
   */
  refusesResponse(decision: Decision | undefined, headers: UsageOptions): Decision | undefined {
    return decision === undefined || !decision.allowed ? undefined : this.usage.refuses(decision, headers);
  }

  private decide(url: string | URL, { signal, afterAsking }: GuardedRequest): Decision | Promise<Decision> {
    const decision = this.asked.decide(url, signal);
    if (afterAsking === undefined || !(decision instanceof Promise)) return decision;
    return decision.then(async (asked) => {
      await afterAsking();
      signal?.throwIfAborted();
      return asked;
    });
  }

  /** Like {@link refuses}, after waiting for the slot of the request. */
  private async paced(url: string | URL, pace: Pace, request: GuardedRequest): Promise<Decision | undefined> {
    const { signal, onSlot } = request;
    const decided = this.decide(url, request);
    const decision = decided instanceof Promise ? await decided : decided;
    const refused = this.refusedOf(decision, request);
    if (refused !== undefined) return refused;
    const slot = await this.asked.takeSlot(decision, pace, signal);
    try {
      // The rules may have changed during a long wait. A dry run reports a refusal once.
      if (slot.waitedMs > 0 && decision.allowed) {
        const changed = this.refusedOf(await this.decide(url, request), request);
        if (changed !== undefined) {
          slot.release();
          return changed;
        }
      }
    } catch (error) {
      slot.release();
      throw error;
    }
    if (onSlot === undefined) await slot.leave(signal);
    else onSlot(slot);
    return undefined;
  }

  private refusedOf(decision: Decision, { onDecision }: GuardedRequest): Decision | undefined {
    onDecision?.(decision);
    if (decision.allowed) return this.hasPurpose ? this.usage.refuses(decision) : undefined;
    this.settings.onRefusal?.(decision);
    return this.settings.enforces ? decision : undefined;
  }
}

/**
 * Whether a request for `url` goes to a site; `data:`, `blob:` and `about:` do not.
 *
 * @throws TypeError when it is not an absolute URL.
 */
export function reachesSite(url: string | URL): boolean {
  // URL parsers ignore white space before and within the scheme, so only ordinary strings skip the parser.
  if (typeof url === 'string') {
    return url.startsWith('https:') || url.startsWith('http:') || reachesSite(new URL(url));
  }
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'ftp:';
}

function identityOf(
  client: GuardClient,
  settings: Pick<GuardSettings<unknown>, 'agent' | 'identify' | 'onIdentity'>,
): Identity | undefined {
  const agent = settings.agent ?? client.agent;
  if (agent === undefined) return undefined;
  const identity = new Identity(agent, settings.identify, settings.onIdentity);
  return identity.isIdle ? undefined : identity;
}
