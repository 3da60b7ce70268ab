import { type Clock, RobotsInvalidUrlError } from '../../core/base/index.ts';
import type { Decision } from '../../core/decision/index.ts';
import { Identity } from './identity.ts';
import { type GuardOptions, type GuardSettings, readGuardOptions } from './options.ts';
import { type Refusal, refusalFor } from './refusal-errors.ts';
import { adapterOf, type GuardClient, SiteReports } from './client.ts';
import { GuardEvents } from './events.ts';
import {
  GuardedRequest,
  type PlannedRequest,
  reachesSite,
  type RequestContext,
  type RequestOptions,
  type RespondedRequest,
  type StartedRequest,
} from './guarded-request.ts';

/** What a library allows its guard to do. */
interface Capabilities extends Partial<Pick<RequestContext, 'headersBeforeBody' | 'afterRobotsFetch'>> {
  /** Whether it chooses a `User-Agent` for each request, which is replaced with `identify: true` only. */
  readonly choosesUserAgent?: boolean;
}

/**
 * The guard of every library. A request begins with {@link plan}; the types of its states say what can be called next:
 * `PlannedRequest` → `AdmittedRequest` → `StartedRequest` → `RespondedRequest`.
 */
export class Guard<Result = unknown> {
  readonly onDisallow: GuardSettings<Result>['onDisallow'];
  readonly clock: Clock;
  /** Sets and checks the `User-Agent` of requests; `undefined` when neither is needed. */
  readonly identity: Identity | undefined;
  /** Tells the client how the sites respond. */
  readonly reports: SiteReports;
  /** Whether an allowed request needs no more than that. */
  readonly needsNoDecision: boolean;
  readonly #settings: GuardSettings<Result>;
  readonly #context: RequestContext;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(client: GuardClient, options: GuardOptions<Result>, capabilities: Capabilities = {}) {
    const settings = readGuardOptions(options);
    const adapter = adapterOf(client, settings);
    this.#settings = settings;
    this.needsNoDecision =
      settings.filter === undefined &&
      settings.pace === undefined &&
      settings.purpose === undefined &&
      settings.timeoutMs === undefined &&
      settings.addressPolicy === 'any';
    this.reports = new SiteReports(adapter);
    this.identity = identityOf(client, settings, capabilities.choosesUserAgent === true);
    this.onDisallow = settings.onDisallow;
    this.clock = settings.clock;
    this.#context = {
      settings,
      client: adapter,
      events: new GuardEvents(adapter, settings),
      reports: this.reports,
      headersBeforeBody: capabilities.headersBeforeBody === true,
      afterRobotsFetch: capabilities.afterRobotsFetch,
    };
  }

  /** A request that the caller wants to make. */
  plan(url: string | URL, options: RequestOptions = {}): PlannedRequest {
    return new GuardedRequest(this.#context, url, options);
  }

  /** A request that was not planned, such as one that memory alone allowed. */
  unseen(url: string | URL): StartedRequest & RespondedRequest {
    return new GuardedRequest(this.#context, url, {});
  }

  /**
   * The origin of `url` when memory alone allows the request, no option of the guard needs the decision, and the URL is
   * serialised: most requests of a crawler. Such a request need not be planned.
   */
  allowedOrigin(url: string): string | undefined {
    return this.needsNoDecision ? this.#context.client.allowedOrigin(url) : undefined;
  }

  /** Whether the robots.txt of `url` is in memory, so that it will not be fetched. */
  knows(url: URL): boolean {
    return this.#context.client.decideFromMemory(url.href) !== undefined;
  }

  /** Whether refusals are enforced; `false` in a dry run. */
  get enforces(): boolean {
    return this.#settings.enforces;
  }

  /** Whether requests need permits. */
  get paces(): boolean {
    return this.#settings.pace !== undefined;
  }

  /** The longest wait of a request at the head of its origin's queue, in ms. */
  get maxDelayMs(): number {
    return this.#settings.pace?.maxDelayMs ?? 0;
  }

  /**
   * Looks a link up in memory, before a crawler queues it.
   *
   * @returns whether the link is kept out: it is disallowed, or too long. While robots.txt is unreachable a link is not
   * kept out, because that may have changed when its turn comes.
   */
  keepsOut(url: string): boolean {
    if (!URL.canParse(url) || !reachesSite(url)) return false;
    if (this.#settings.filter?.(new URL(url)) === false) return false;
    const decision = this.#fromMemory(url);
    if (decision === 'invalid') return true;
    if (decision === undefined || decision.reason === 'unreachable') return false;
    this.#context.events.linkChecked(decision);
    return !decision.allowed;
  }

  /** The refusal of `url` by what is in memory. It is not published. */
  refusalInMemory(url: string): Refusal | undefined {
    if (!URL.canParse(url) || !reachesSite(url)) return undefined;
    const decision = this.#fromMemory(url);
    if (decision === undefined || decision === 'invalid' || decision.allowed) return undefined;
    return refusalFor(decision);
  }

  /** One bad link must not fail the page that has it. */
  #fromMemory(url: string): Decision | 'invalid' | undefined {
    try {
      return this.#context.client.decideFromMemory(url);
    } catch (error) {
      if (error instanceof RobotsInvalidUrlError) return 'invalid';
      throw error;
    }
  }
}

function identityOf(
  client: GuardClient,
  { agent = client.agent, identify, onIdentity }: GuardSettings<unknown>,
  choosesUserAgent: boolean,
): Identity | undefined {
  if (agent === undefined) return undefined;
  const identity = new Identity(agent, {
    fills: choosesUserAgent ? identify === true : identify !== false,
    warns: choosesUserAgent && identify === undefined,
    onIdentity,
  });
  return identity.isIdle ? undefined : identity;
}
