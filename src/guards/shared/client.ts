import {
  type Clock,
  type HeaderFields,
  invalid,
  orAborted,
  RobotsInvalidOptionsError,
  causesOf,
} from '../../core/base/index.ts';
import {
  type Decision,
  decisionChannels,
  type DecisionContext,
  type DecisionUsage,
  type Purpose,
  type BodyTrouble,
  type SentRequest,
} from '../../core/decision/index.ts';
import type { ClientEngine } from '../../core/client/client-engine.ts';
import { engineOf } from '../../core/client/engine.ts';
import { refreshAheadAt } from '../../core/lifecycle/index.ts';
import { type AddressPolicy, isStricter } from '../../core/net/address-policy.ts';
import type { Pace, RequestPermit } from '../../core/pacing/index.ts';
import type { Agent } from '../../core/rules/agent-tokens.ts';
import { LocatedUrl } from '../../core/url/index.ts';
import type { GuardSettings } from './options.ts';
import { refusalIn } from './refusal-errors.ts';
import { type ResponseFields, retryAfterOf } from './headers.ts';

/** Reused: the next request overwrites it. */
const located = new LocatedUrl();

/** The part of a `RobotsClient` that guards use. */
export interface GuardClient {
  peek(url: string | URL, agent?: Agent): Decision | undefined;
  check(url: string | URL, agent?: Agent, options?: { readonly signal?: AbortSignal }): Promise<Decision>;
  /** The policy for addresses of robots.txt requests. A guard with a stricter policy is refused. */
  readonly addressPolicy?: AddressPolicy;
  /** The client's agent. Needed for `identify` and `onIdentity` alone. */
  readonly agent?: Agent;
  report(url: string | URL, signal: { readonly reachable: boolean; readonly retryAfter?: string }): void;
  /** Needed for `purpose` alone. */
  usageOf?(decision: Decision, purpose: Purpose, headers?: HeaderFields): DecisionUsage;
  /** Needed for `pacing` alone: resolves when the request may start. */
  acquirePermit?(decision: Decision, options: PermitOptions): Promise<RequestPermit>;
}

/** The pace of a guard, for one request. */
export interface PermitOptions extends Pace {
  readonly signal?: AbortSignal;
}

/** The settings of a guard that concern its client. */
type ClientSettings = Pick<GuardSettings<unknown>, 'agent' | 'purpose' | 'pace' | 'addressPolicy' | 'clock'>;

/** What a guard asks of its client, with the agent and the purpose of the guard. */
export interface GuardClientAdapter {
  /** The client, for messages. */
  readonly client: GuardClient;
  /**
   * Decides about `url`; a promise only when robots.txt has to be fetched.
   *
   * @throws the reason of an aborted signal, and what the client throws.
   */
  decide(url: string, signal: AbortSignal | undefined): Decision | Promise<Decision>;
  decideFromMemory(url: string): Decision | undefined;
  /**
   * The origin of `url` when memory alone allows a request; `undefined` when {@link decide} has to be called, also for a
   * URL that is not serialised.
   */
  allowedOrigin(url: string): string | undefined;
  /** Publishes a decision that {@link decide} or {@link decideFromMemory} made. */
  publishDecision(decision: Decision, context?: DecisionContext): void;
  /** Publishes that a request is sent without a check. */
  publishIgnored(url: string, because: string): void;
  /** When a request starts, in epoch ms; `undefined` when {@link publishRequest} would reach no listener. */
  readonly requestStart: number | undefined;
  /** Publishes the response to a request, or its failure. */
  publishRequest(request: SentRequest): void;
  /** Publishes that the body of a response was cut, or not read. */
  publishBodyTrouble(trouble: BodyTrouble): void;
  /** `report`. @param origin The origin of `url`, where it is known. */
  reportSite(url: string | URL, reachable: boolean, origin?: string, retryAfter?: string): void;
  /** A promise only when the request has to wait. */
  acquirePermit(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): RequestPermit | Promise<RequestPermit>;
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a client that lacks what the settings need. */
export function adapterOf(client: GuardClient, settings: ClientSettings): GuardClientAdapter {
  if (!isGuardClient(client)) throw invalid('the client', 'a RobotsClient', client);
  if (settings.purpose !== undefined && typeof client.usageOf !== 'function') {
    throw invalid('the client', 'one with `usageOf` when `purpose` is set', client);
  }
  if (settings.pace !== undefined && typeof client.acquirePermit !== 'function') {
    throw invalid('the client', 'one with `acquirePermit` when `pacing` is set', client);
  }
  assertAsStrict(client, settings.addressPolicy);
  const engine = engineOf(client);
  return engine === undefined ? new CustomClient(client, settings) : new OwnClient(client, engine, settings);
}

/** A `RobotsClient` of this package. */
class OwnClient implements GuardClientAdapter {
  readonly client: GuardClient;
  readonly #engine: ClientEngine;
  readonly #agent: Agent | undefined;
  readonly #purpose: Purpose | undefined;

  constructor(client: GuardClient, engine: ClientEngine, { agent, purpose }: ClientSettings) {
    this.client = client;
    this.#engine = engine;
    this.#agent = agent;
    this.#purpose = purpose;
  }

  decide(url: string, signal: AbortSignal | undefined): Decision | Promise<Decision> {
    const purpose = this.#purpose;
    if (purpose === undefined && signal === undefined) return this.#engine.decide(url, this.#agent);
    return this.#engine.decide(url, this.#agent, {
      ...(signal && { signal }),
      ...(purpose && { purpose }),
    });
  }

  decideFromMemory(url: string): Decision | undefined {
    return this.#engine.decideFromMemory(url, this.#agent);
  }

  allowedOrigin(url: string): string | undefined {
    // Each request is published then.
    if (this.#engine.requestStart !== undefined) return undefined;
    try {
      if (this.#engine.allows(url, this.#agent, located) !== true) return undefined;
    } catch {
      // `decide` throws the same error.
      return undefined;
    }
    // The library serialises other URLs by itself, and may keep their dot segments: see `removeDotSegments`.
    if (located.href !== url) return undefined;
    this.#engine.countHit();
    return located.origin;
  }

  publishDecision(decision: Decision, context?: DecisionContext): void {
    this.#engine.publishDecision(decision, context);
  }

  publishIgnored(url: string, because: string): void {
    this.#engine.publishIgnored(url, because);
  }

  get requestStart(): number | undefined {
    return this.#engine.requestStart;
  }

  publishRequest(request: SentRequest): void {
    this.#engine.publishRequest(request);
  }

  publishBodyTrouble(trouble: BodyTrouble): void {
    this.#engine.publishBodyTrouble(trouble);
  }

  reportSite(url: string | URL, reachable: boolean, origin?: string, retryAfter?: string): void {
    if (origin !== undefined && retryAfter === undefined) this.#engine.reportOrigin(origin, reachable);
    else this.client.report(url, signalOf(reachable, retryAfter));
  }

  acquirePermit(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): RequestPermit | Promise<RequestPermit> {
    return this.#engine.acquirePermit(decision, pace, signal);
  }
}

/** A custom client, or one of another version of this package: its public methods. Its `check` publishes decisions. */
class CustomClient implements GuardClientAdapter {
  readonly client: GuardClient;
  readonly #agent: Agent | undefined;
  readonly #clock: Clock;

  constructor(client: GuardClient, { agent, clock }: ClientSettings) {
    this.client = client;
    this.#agent = agent;
    this.#clock = clock;
  }

  decide(url: string, signal: AbortSignal | undefined): Decision | Promise<Decision> {
    signal?.throwIfAborted();
    const { client } = this;
    const known = client.peek(url, this.#agent);
    if (known !== undefined) {
      // `peek` starts no refresh. Without this, a crawler that only fetches would wait at the end of every lifetime.
      if (endsSoon(known, this.#clock.now())) client.check(url, this.#agent).catch(() => undefined);
      return known;
    }
    // A custom client may return anything, so the result is always awaited.
    if (signal === undefined) return Promise.resolve(client.check(url, this.#agent));
    return orAborted(Promise.resolve(client.check(url, this.#agent, { signal })), signal);
  }

  decideFromMemory(url: string): Decision | undefined {
    return this.client.peek(url, this.#agent);
  }

  allowedOrigin(): undefined {}

  publishDecision(): void {}

  publishIgnored(url: string, because: string): void {
    const { ignored } = decisionChannels;
    if (ignored.hasSubscribers) ignored.publish({ url, because, client: this.client });
  }

  get requestStart(): number | undefined {
    return decisionChannels.request.hasSubscribers ? this.#clock.now() : undefined;
  }

  publishRequest(sent: SentRequest): void {
    const { request } = decisionChannels;
    if (request.hasSubscribers) request.publish({ ...sent, client: this.client });
  }

  publishBodyTrouble(trouble: BodyTrouble): void {
    const { body } = decisionChannels;
    if (body.hasSubscribers) body.publish({ ...trouble, client: this.client });
  }

  reportSite(url: string | URL, reachable: boolean, _origin?: string, retryAfter?: string): void {
    this.client.report(url, signalOf(reachable, retryAfter));
  }

  acquirePermit(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): RequestPermit | Promise<RequestPermit> {
    const options = signal === undefined ? pace : { ...pace, signal };
    return Promise.resolve(this.client.acquirePermit?.(decision, options)).then(permitOrThrow);
  }
}

function signalOf(reachable: boolean, retryAfter: string | undefined): Parameters<GuardClient['report']>[1] {
  return retryAfter === undefined ? { reachable } : { reachable, retryAfter };
}

function permitOrThrow(permit: RequestPermit | undefined): RequestPermit {
  if (permit === undefined) throw invalid('`acquirePermit`', 'to resolve with a permit', permit);
  return permit;
}

/** Whether the robots.txt of a decision is in the last tenth of its lifetime. */
function endsSoon({ robots: { fetchedAt, staleAt } }: Decision, now: number): boolean {
  return fetchedAt !== undefined && staleAt !== undefined && now >= refreshAheadAt({ fetchedAt, staleAt });
}

function isGuardClient(client: unknown): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return ['peek', 'check', 'report'].every((name) => typeof Reflect.get(client, name) === 'function');
}

/**
 * Refuses a policy stricter than the client's: robots.txt would be requested where no page may be. A custom client may
 * have no policy to compare.
 */
function assertAsStrict({ addressPolicy: ofClient }: GuardClient, ofGuard: AddressPolicy): void {
  if (ofClient === undefined || !isStricter(ofGuard, ofClient)) return;
  throw new RobotsInvalidOptionsError(
    `Expected \`addressPolicy\` to be no stricter than that of the client, got '${ofGuard}' over a client with ` +
      `'${ofClient}'; give the client \`addressPolicy: '${ofGuard}'\`, too`,
  );
}

/** Reports to the client what the requests of a guard show of sites: whether they respond, and ask for a pause. */
export class SiteReports {
  readonly #client: GuardClientAdapter;

  constructor(client: GuardClientAdapter) {
    this.#client = client;
  }

  /**
   * A response came: the site is reachable unless the status is 5xx, and may ask for a pause.
   *
   * @param origin The origin of `url`, if a decision has it: saves parsing the URL again.
   */
  responded(url: string | URL, status: number, headers: ResponseFields, origin?: string): void {
    const retryAfter = retryAfterOf(status, headers) ?? null;
    this.#report(url, status < 500, origin, retryAfter);
  }

  /** A request failed. Not reported when the failure says nothing about the site. */
  failed(url: string | URL, error: unknown, signal: AbortSignal | undefined, origin?: string): void {
    // Not when the caller aborted, another guard refused, or the request could not be sent.
    if (signal?.aborted !== true && refusalIn(error) === undefined && isNetworkError(error))
      this.#report(url, false, origin);
  }

  /** A site did not respond. */
  unreachable(url: string | URL): void {
    this.#report(url, false, undefined);
  }

  #report(
    url: string | URL,
    reachable: boolean,
    origin: string | undefined,
    retryAfter: string | null = null,
  ): void {
    try {
      this.#client.reportSite(url, reachable, origin, retryAfter ?? undefined);
    } catch {
      // A client closed meanwhile needs no report. The response still goes to the caller.
    }
  }
}

/** Error codes of network failures: of Node, undici, and TLS as OpenSSL names them. */
const NETWORK_CODE =
  /^(?:E[A-Z]{2,}$|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT)|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether an error, or one of its causes, has the code of a network failure. */
function isNetworkError(error: unknown): boolean {
  for (const each of causesOf(error)) {
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
  }
  return false;
}
