import { causesOf, type Clock, invalid, orAborted, RobotsInvalidOptionsError } from '../base/index.ts';
import {
  type Decision,
  decisionChannels,
  type DecisionUsage,
  type Purpose,
  QUESTIONS,
} from '../decision/index.ts';
import { refreshAheadAt } from '../lifecycle/index.ts';
import { type AddressPolicy, isStricter } from '../net/address-policy.ts';
import type { Pace, TakenSlot } from '../pacing/index.ts';
import type { Agent } from '../rules/agent-tokens.ts';
import type { UsageOptions } from '../rules/index.ts';
import type { Fields } from './fetch/response.ts';
import { type GuardOptions, type GuardSettings, readGuardOptions } from './options.ts';
import { Identity } from './identity.ts';
import { refusalFor } from './refusal.ts';

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

/** The questions that only a client of this package answers. Guards ask them instead of `peek`, `check` and `report`. */
interface GuardQuestions {
  /** `check`, but a promise only when robots.txt has to be fetched first. Starts a refresh that is due. */
  check(
    url: string | URL,
    agent?: Agent,
    options?: { readonly signal?: AbortSignal; readonly purpose?: Purpose },
  ): Decision | Promise<Decision>;
  /** The origin of `url` when memory allows it without a reason to be asked for; `undefined` when {@link check} has to be called. */
  allowedOrigin(url: string, agent?: Agent): string | undefined;
  /** `report` for an origin that {@link allowedOrigin} returned. */
  reportOrigin(origin: string, reachable: boolean): void;
}

/** The part of a `RobotsClient` that guards use. */
export interface GuardClient {
  peek(url: string | URL, agent?: Agent): Decision | undefined;
  check(url: string | URL, agent?: Agent, options?: { readonly signal?: AbortSignal }): Promise<Decision>;
  /** @internal */
  readonly [QUESTIONS]?: GuardQuestions;
  /** The policy for addresses of robots.txt requests. A guard with a stricter policy is refused. */
  readonly addressPolicy?: AddressPolicy;
  /** The client's agent. Needed for `identify` and `onIdentity` alone. */
  readonly agent?: Agent;
  report(url: string | URL, signal: { readonly reachable: boolean; readonly retryAfter?: string }): void;
  /** Needed for `purpose` alone. */
  usageOf?(decision: Decision, purpose: Purpose, headers?: UsageOptions): DecisionUsage;
  /** Needed for `pacing` without `takeSlot`. Resolves with the milliseconds waited. */
  waitForSlot?(decision: Decision, options: SlotOptions): Promise<number>;
  /** Takes the slot of a request. It is checked again when the request leaves. */
  takeSlot?(decision: Decision, options: SlotOptions): Promise<TakenSlot>;
}

/** Options of the slot that a guard takes. All in ms. */
interface SlotOptions {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly signal?: AbortSignal;
}

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
  private readonly client: GuardClient;
  readonly #seesHeaders: boolean;
  readonly #needsNoDecision: boolean;
  private readonly settings: GuardSettings<Result>;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(client: GuardClient, options: GuardOptions<Result>, seesHeaders = false) {
    if (!isGuardClient(client)) throw invalid('the client', 'a RobotsClient', client);
    this.client = client;
    this.settings = readGuardOptions(options);
    this.#seesHeaders = seesHeaders;
    if (this.settings.purpose !== undefined && typeof client.usageOf !== 'function') {
      throw invalid('the client', 'one with `usageOf` when `purpose` is set', client);
    }
    if (this.settings.pace !== undefined && !canPace(client)) {
      throw invalid('the client', 'one with `waitForSlot` when `pacing` is set', client);
    }
    assertAsStrict(client, this.settings.addressPolicy);
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
    if (!this.#needsNoDecision) return undefined;
    try {
      return this.client[QUESTIONS]?.allowedOrigin(url, this.settings.agent);
    } catch {
      // `refusesSite` throws the same error.
      return undefined;
    }
  }

  /** Whether the robots.txt of `url` is in memory, so that it will not be fetched. */
  knows(url: URL): boolean {
    return this.client.peek(url, this.settings.agent) !== undefined;
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

  /** Reports a response to the client: the site is reachable, and may ask for a pause. */
  answered(url: string | URL, status: number, headers: Fields): void {
    this.report(url, status < 500, asksForPause(status) ? headers.get('retry-after') : null);
  }

  /** As {@link answered}, for an origin that {@link allowedOrigin} returned. */
  originAnswered(origin: string, status: number, headers: Fields): void {
    const questions = this.client[QUESTIONS];
    if (questions === undefined || asksForPause(status)) this.answered(`${origin}/`, status, headers);
    else questions.reportOrigin(origin, status < 500);
  }

  /** Reports a failed request to the client, unless the failure says nothing about the site. */
  failed(url: string | URL, error: unknown, signal: AbortSignal | undefined): void {
    // Not when the caller aborted, another guard refused, or the request could not be sent.
    if (signal?.aborted !== true && isNetworkError(error)) this.unanswered(url);
  }

  /** Reports to the client that a site did not answer. */
  unanswered(url: string | URL): void {
    this.report(url, false);
  }

  private decide(url: string | URL, { signal, afterAsking }: GuardedRequest): Decision | Promise<Decision> {
    const decision = this.ask(url, signal);
    if (afterAsking === undefined || !(decision instanceof Promise)) return decision;
    return decision.then(async (asked) => {
      await afterAsking();
      signal?.throwIfAborted();
      return asked;
    });
  }

  private ask(url: string | URL, signal: AbortSignal | undefined): Decision | Promise<Decision> {
    signal?.throwIfAborted();
    const { client } = this;
    const { agent, purpose } = this.settings;
    const questions = client[QUESTIONS];
    if (questions !== undefined) {
      if (purpose !== undefined) {
        return questions.check(url, agent, signal === undefined ? { purpose } : { signal, purpose });
      }
      return questions.check(url, agent, signal === undefined ? undefined : { signal });
    }
    const known = client.peek(url, agent);
    if (known !== undefined) {
      // `peek` starts no refresh. Without this, a crawler that only fetches would wait at the end of every lifetime.
      if (endsSoon(known, this.clock.now())) client.check(url, agent).catch(() => undefined);
      return known;
    }
    // A client of another class may return anything, so the result is always awaited.
    if (signal === undefined) return Promise.resolve(client.check(url, agent));
    return orAborted(Promise.resolve(client.check(url, agent, { signal })), signal);
  }

  /** Like {@link refuses}, after waiting for the slot of the request. */
  private async paced(url: string | URL, pace: Pace, request: GuardedRequest): Promise<Decision | undefined> {
    const { signal, onSlot } = request;
    const decided = this.decide(url, request);
    const decision = decided instanceof Promise ? await decided : decided;
    const refused = this.refusedOf(decision, request);
    if (refused !== undefined) return refused;
    const slot = await this.takeSlot(decision, pace, signal);
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

  private async takeSlot(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): Promise<TakenSlot> {
    const { client } = this;
    const options = signal === undefined ? pace : { ...pace, signal };
    if (client.takeSlot !== undefined) return client.takeSlot(decision, options);
    const waitedMs = (await client.waitForSlot?.(decision, options)) ?? 0;
    return { waitedMs, leaveNow: () => true, leave: () => Promise.resolve(), release: () => undefined };
  }

  private refusedOf(decision: Decision, { onDecision }: GuardedRequest): Decision | undefined {
    onDecision?.(decision);
    if (decision.allowed)
      return this.settings.purpose === undefined ? undefined : this.#refusedByUsage(decision);
    this.settings.onRefusal?.(decision);
    return this.settings.enforces ? decision : undefined;
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
    return decision === undefined || !decision.allowed ? undefined : this.#refusedByUsage(decision, headers);
  }

  #refusedByUsage(decision: Decision, headers?: UsageOptions): Decision | undefined {
    const { purpose, refusesUnknown } = this.settings;
    if (purpose === undefined || decision.reason === 'robots-txt') return undefined;
    const usage = this.client.usageOf?.(decision, purpose, headers);
    if (usage === undefined || usage.preference === 'allow') return undefined;
    // Without a preference in robots.txt, a header field of the response may still allow the purpose.
    const isDecided = headers !== undefined || !this.#seesHeaders;
    if (usage.preference === 'unknown' && !(refusesUnknown && isDecided)) return undefined;
    // In a dry run `onRefusal` was called before the request.
    if (headers !== undefined && usage.source?.line !== undefined && !this.settings.enforces)
      return undefined;
    const refused = { ...decision, usage };
    this.settings.onRefusal?.(refused);
    const { usage: channel } = decisionChannels;
    if (channel.hasSubscribers) channel.publish({ decision: refused, client: this.client });
    return this.settings.enforces ? refused : undefined;
  }

  private report(url: string | URL, reachable: boolean, retryAfter: string | null = null): void {
    try {
      const signal = reachable ? REACHABLE : UNREACHABLE;
      this.client.report(url, retryAfter === null ? signal : { reachable, retryAfter });
    } catch {
      // A client closed meanwhile needs no report. The response still goes to the caller.
    }
  }
}

const REACHABLE = Object.freeze({ reachable: true });
const UNREACHABLE = Object.freeze({ reachable: false });

/** RFC 6585 §4 and RFC 9110 §15.6.4: statuses whose `Retry-After` is the time to wait before a new request. */
const asksForPause: (status: number) => boolean = (status) => status === 429 || status === 503;

/** Whether the answer behind a decision is in the last tenth of its lifetime. */
function endsSoon({ robots: { fetchedAt, staleAt } }: Decision, now: number): boolean {
  return fetchedAt !== undefined && staleAt !== undefined && now >= refreshAheadAt({ fetchedAt, staleAt });
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

/**
 * Refuses a policy stricter than the client's: robots.txt would be requested where no page may be. A client of
 * another class may have no policy to compare.
 */
function assertAsStrict({ addressPolicy: ofClient }: GuardClient, ofGuard: AddressPolicy): void {
  if (ofClient === undefined || !isStricter(ofGuard, ofClient)) return;
  throw new RobotsInvalidOptionsError(
    `Expected \`addressPolicy\` to be no stricter than that of the client, got '${ofGuard}' over a client with ` +
      `'${ofClient}'; give the client \`addressPolicy: '${ofGuard}'\`, too`,
  );
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

function canPace({ waitForSlot, takeSlot }: GuardClient): boolean {
  return typeof waitForSlot === 'function' || typeof takeSlot === 'function';
}

function isGuardClient(client: unknown): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return ['peek', 'check', 'report'].every((name) => typeof Reflect.get(client, name) === 'function');
}
