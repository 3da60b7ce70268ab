import { RobotsInvalidOptionsError, RobotsInvalidUrlError } from '../../core/base/index.ts';
import { type ClientEngine, engineOf } from '../../core/client/client-engine.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import type { Decision, Pause } from '../../core/decision/index.ts';
import { LocatedUrl } from '../../core/url/index.ts';
import { isStricter } from '../../core/net/address-policy.ts';
import { Identity } from './identity.ts';
import { type GuardOptions, type GuardSettings, readGuardOptions } from './options.ts';
import { type Refusal, refusalFor } from '../../core/client/refusal-errors.ts';
import { handledRequestsOf } from './enclosing-request.ts';
import { RequestReports } from './request-reports.ts';
import { patienceOf, type SitePatience } from './site-waits.ts';
import { reachesSite } from './redirect.ts';
import type { RequestContext, RequestOptions } from './admission.ts';
import { GuardedRequest } from './guarded-request.ts';

/** What a library allows its guard to do. */
interface Capabilities extends Partial<Pick<RequestContext, 'afterRobotsFetch'>> {
  /** Whether it chooses a `User-Agent` for each request, which is replaced with `identify: true` only. */
  readonly choosesUserAgent?: boolean;
}

/** Read before anything else runs. */
const located = new LocatedUrl();

/**
 * The guard of every library. {@link plan} makes a request, then come, in this order: `admit`, which waits and may refuse;
 * `start`, just before the library sends it; `onResponseHeaders`, which may refuse the response; `finish`.
 */
export class Guard<Result = unknown> {
  readonly settings: GuardSettings<Result>;
  /** Sets and checks the `User-Agent` of requests; `undefined` when neither is needed. */
  readonly identity: Identity | undefined;
  readonly reports: RequestReports;
  readonly #engine: ClientEngine;
  readonly #needsNoDecision: boolean;
  readonly #context: RequestContext;
  readonly #handled: Map<object, () => unknown>;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(client: RobotsClient, options: GuardOptions<Result>, capabilities: Capabilities = {}) {
    const settings = readGuardOptions(options);
    const engine = engineOf(client);
    assertAsStrict(client, settings);
    this.#engine = engine;
    this.#handled = handledRequestsOf(engine);
    this.settings = settings;
    this.#needsNoDecision =
      settings.filter === undefined &&
      settings.pace === undefined &&
      settings.purpose === undefined &&
      settings.timeoutMs === undefined &&
      settings.addressPolicy === 'any';
    this.reports = new RequestReports(engine, settings);
    this.identity = identityOf(client, settings, capabilities.choosesUserAgent === true);
    this.#context = {
      settings,
      engine,
      reports: this.reports,
      patience: patienceOf(engine),
      afterRobotsFetch: capabilities.afterRobotsFetch,
      handled: this.#handled,
    };
  }

  /** @param take Takes the request of this guard that is in flight while the running code handles its response. */
  onOtherGuard(take: () => GuardedRequest | undefined): void {
    this.#handled.set(this.#context, take);
  }

  /** A request that the caller wants to make, or one that was not planned: the library shows its response alone. */
  plan(url: string | URL, options: RequestOptions = {}): GuardedRequest {
    return new GuardedRequest(this.#context, url, options);
  }

  /**
   * The origin of `url` when memory alone allows the request, nothing needs the decision, and the URL is serialised: most
   * requests of a crawler. Such a request need not be planned.
   */
  allowedOrigin(url: string): string | undefined {
    const engine = this.#engine;
    const { agent, isPaceSaid } = this.settings;
    // Each request, or the end of its body, is published then.
    if (!this.#needsNoDecision || engine.hasListener('request') || engine.hasListener('body'))
      return undefined;
    try {
      if (engine.allows(url, agent, located) !== true) return undefined;
    } catch {
      // `decide` throws the same error.
      return undefined;
    }
    // The library serialises other URLs by itself, and may keep their dot segments: see `removeDotSegments`.
    if (located.href !== url || (!isPaceSaid && engine.hasDelay(located.origin, agent))) return undefined;
    engine.countHit();
    return located.origin;
  }

  /** Whether the robots.txt of `url` is in memory, so that it will not be fetched. */
  knows(url: URL): boolean {
    return this.#engine.decideFromMemory(url.href, this.settings.agent) !== undefined;
  }

  /** Aborted when the client closes. */
  get ending(): AbortSignal {
    return this.#engine.ending;
  }

  get patience(): SitePatience {
    return this.#context.patience;
  }

  /** The longest wait for a site: less when it has given no page for long. */
  maxWaitMs(url: string): number {
    const { maxDelayMs, settings, patience } = this;
    const now = settings.clock.now();
    const since = URL.canParse(url) ? patience.since(new URL(url).origin, now) : undefined;
    return since === undefined ? maxDelayMs : Math.max(0, since + maxDelayMs - now);
  }

  /** The pause of an origin, in epoch ms. */
  pauseOf(origin: string): Pause | undefined {
    return this.#engine.pacing.pacer.value?.pauseOf(origin);
  }

  /** How many requests wait for their permits together with those of an origin. */
  waitingFor(origin: string): number {
    return this.#engine.pacing.pacer.value?.queueOf(origin)?.waiting ?? 0;
  }

  /** Whether requests need permits. */
  get paces(): boolean {
    return this.settings.pace !== undefined;
  }

  /** The longest wait of a request at the head of its origin's queue, in ms. */
  get maxDelayMs(): number {
    return this.settings.pace?.maxDelayMs ?? 0;
  }

  /**
   * Looks a link up in memory, before a crawler queues it.
   *
   * @returns whether the link is kept out: it is disallowed, or too long. While robots.txt is unreachable a link is not
   * kept out, because that may have changed when its turn comes.
   */
  keepsOut(url: string): boolean {
    if (!URL.canParse(url) || !reachesSite(url)) return false;
    if (this.settings.filter?.(new URL(url)) === false) return false;
    // The request goes back to the queue when its turn comes.
    if (this.ending.aborted) return false;
    const decision = this.#fromMemory(url);
    if (decision === 'invalid') return true;
    if (decision === undefined || decision.reason === 'unreachable') return false;
    this.#engine.publishDecision(decision, { lookup: true });
    if (!decision.allowed) this.reports.refused(decision, { requested: decision.url, redirects: [] });
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
      return this.#engine.decideFromMemory(url, this.settings.agent);
    } catch (error) {
      if (error instanceof RobotsInvalidUrlError) return 'invalid';
      throw error;
    }
  }
}

function identityOf(
  client: RobotsClient,
  { agent = client.agent, identify }: GuardSettings<unknown>,
  choosesUserAgent: boolean,
): Identity | undefined {
  const fills = choosesUserAgent ? identify === true : identify !== false;
  const identity = new Identity(agent, fills, choosesUserAgent && identify === undefined);
  return identity.isIdle ? undefined : identity;
}

/** @throws RobotsInvalidOptionsError for a policy stricter than the client's: robots.txt would be requested where no page may be. */
function assertAsStrict(client: RobotsClient, { addressPolicy }: GuardSettings<unknown>): void {
  if (!isStricter(addressPolicy, client.addressPolicy)) return;
  throw new RobotsInvalidOptionsError(
    `Expected \`addressPolicy\` to be no stricter than that of the client, got '${addressPolicy}' over a client with ` +
      `'${client.addressPolicy}'; give the client \`addressPolicy: '${addressPolicy}'\`, too`,
  );
}
