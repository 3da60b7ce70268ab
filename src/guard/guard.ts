import { causesOf, type Clock, invalid, orAborted, RobotsInvalidOptionsError } from '../base/index.ts';
import { DECIDE, type Decision } from '../decision/index.ts';
import { refreshAheadAt } from '../lifecycle/index.ts';
import { type AddressPolicy, isStricter } from '../net/address-policy.ts';
import type { Pace, TakenSlot } from '../pacing/index.ts';
import type { Agent } from '../rules/agent-tokens.ts';
import type { Fields } from './fetch/response.ts';
import { type GuardOptions, type GuardSettings, readGuardOptions } from './options.ts';
import { Identity } from './identity.ts';
import { refusal } from './refusal.ts';

/** Of Node, of undici, and of TLS as OpenSSL names it. */
const NETWORK_CODE =
  /^(?:E[A-Z]{2,}$|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT)|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether an error, or what caused it, has a code of the network. */
function isNetworkError(error: unknown): boolean {
  for (const each of causesOf(error)) {
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
  }
  return false;
}

/** The part of a `RobotsClient` that guards use. */
export interface GuardClient {
  peek(url: string | URL, agent?: Agent): Decision | undefined;
  check(url: string | URL, agent?: Agent, options?: { readonly signal?: AbortSignal }): Promise<Decision>;
  /**
   * Asked instead of `peek` and `check`: gives a promise only when robots.txt has to be fetched first, rejects with the
   * reason of `signal`, and starts a refresh when one is due.
   *
   * @internal
   */
  [DECIDE]?(
    url: string | URL,
    agent?: Agent,
    options?: { readonly signal?: AbortSignal },
  ): Decision | Promise<Decision>;
  /** Which addresses requests for robots.txt may go to. A guard with a stricter policy of its own is refused. */
  readonly addressPolicy?: AddressPolicy;
  /** Who asks, if requests are to be told who they are of. */
  readonly agent?: Agent;
  report(url: string | URL, signal: { readonly reachable: boolean; readonly retryAfter?: string }): void;
  /** Needed for `pacing` alone, unless there is `takeSlot`. Resolves with the milliseconds it took. */
  waitForSlot?(decision: Decision, options: SlotOptions): Promise<number>;
  /** The slot of a request, which is checked again when the request leaves. */
  takeSlot?(decision: Decision, options: SlotOptions): Promise<TakenSlot>;
}

/** How a guard wants a slot. Milliseconds. */
interface SlotOptions {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly signal?: AbortSignal;
}

/** What a guard has to know of a request besides its URL. */
export interface GuardedRequest {
  readonly signal?: AbortSignal | undefined;
  /** Why robots.txt is not to be asked. */
  readonly because?: string | undefined;
  /** Whether it can wait for its slot. Default `true`. */
  readonly paced?: boolean;
  /** Awaited when the client had to ask for robots.txt, before the slot of the request. */
  readonly afterAsking?: () => Promise<unknown>;
  /**
   * Is given the slot when it has come, to leave in it right before the request is sent. Without it the request counts
   * as sent when the guard lets it go.
   */
  readonly onSlot?: (slot: TakenSlot) => void;
}

/** What all guards share: whether a URL may be requested, and what to say if not. */
export class Guard<Answer = unknown> {
  readonly onDisallow: GuardSettings<Answer>['onDisallow'];
  readonly clock: Clock;
  /** Who requests say they are; `undefined` when nothing is to be done about it. */
  readonly identity: Identity | undefined;
  private readonly client: GuardClient;
  private readonly settings: GuardSettings<Answer>;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(client: GuardClient, options: GuardOptions<Answer>) {
    if (!isGuardClient(client)) throw invalid('the client', 'a RobotsClient', client);
    this.client = client;
    this.settings = readGuardOptions(options);
    if (this.settings.pace !== undefined && !canPace(client)) {
      throw invalid('the client', 'one with `waitForSlot` when `pacing` is set', client);
    }
    assertAsStrict(client, this.settings.addressPolicy);
    this.identity = identityOf(client, this.settings);
    this.onDisallow = this.settings.onDisallow;
    this.clock = this.settings.clock;
  }

  /**
   * The decision that keeps `url` from being requested; `undefined` when it may be. A promise only when the client
   * has to go and ask: what it knows is used at once, so that the request starts in the caller's own turn.
   *
   * @throws the reason of an aborted signal, and what the client or an observer throws.
   */
  refuses(
    url: string | URL,
    request: GuardedRequest = {},
  ): Decision | undefined | Promise<Decision | undefined> {
    return reachesSite(url) ? this.refusesSite(url, request) : undefined;
  }

  /** {@link refuses} for a URL that {@link reachesSite}. */
  refusesSite(
    url: string | URL,
    request: GuardedRequest,
  ): Decision | undefined | Promise<Decision | undefined> {
    if (this.settings.filter?.(new URL(url)) === false) return undefined;
    if (request.because !== undefined) {
      this.settings.onIgnored?.({ url: new URL(url).href, because: request.because });
      return undefined;
    }
    const { pace } = this.settings;
    if (pace !== undefined && request.paced !== false) return this.paced(url, pace, request);
    // A string that is serialised already is read faster than a URL.
    const text = typeof url === 'string' ? url : url.href;
    const decision = this.decide(text, request);
    return decision instanceof Promise ? decision.then((late) => this.weigh(late)) : this.weigh(decision);
  }

  /** Whether the robots.txt of `url` is at hand, so that it will not be asked for. */
  knows(url: URL): boolean {
    return this.client.peek(url, this.settings.agent) !== undefined;
  }

  /** Whether refusals are refusals, and not a dry run. */
  get enforces(): boolean {
    return this.settings.enforces;
  }

  /** The longest a request is held back for its slot, in ms. */
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
    if (refused !== undefined) throw refusal(refused);
  }

  /** Tells the client what an answer shows of the site's availability, and what pause it asks for. */
  answered(url: string | URL, status: number, headers: Fields): void {
    this.report(url, status < 500, asksForPause(status) ? headers.get('retry-after') : null);
  }

  /** Tells the client that a request failed, unless the failure says nothing of the site. */
  failed(url: string | URL, error: unknown, signal: AbortSignal | undefined): void {
    // Not when the caller left, a guard further in refused, or the request could not even be sent.
    if (signal?.aborted !== true && isNetworkError(error)) this.unanswered(url);
  }

  /** Tells the client that a site gave no answer. */
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
    const { agent } = this.settings;
    if (client[DECIDE] !== undefined) {
      return client[DECIDE](url, agent, signal === undefined ? undefined : { signal });
    }
    const known = client.peek(url, agent);
    if (known !== undefined) {
      // `peek` starts no refresh: without this, a crawler that only fetches would meet the end of every answer.
      if (endsSoon(known, this.clock.now())) client.check(url, agent).catch(() => undefined);
      return known;
    }
    // Whatever a client of another make gives, it is waited for, never taken for a decision.
    if (signal === undefined) return Promise.resolve(client.check(url, agent));
    return orAborted(Promise.resolve(client.check(url, agent, { signal })), signal);
  }

  /** {@link refuses}, when the slot of the request has come. */
  private async paced(url: string | URL, pace: Pace, request: GuardedRequest): Promise<Decision | undefined> {
    const { signal, onSlot } = request;
    const decision = await this.decide(url, request);
    const refused = this.weigh(decision);
    if (refused !== undefined) return refused;
    const slot = await this.takeSlot(decision, pace, signal);
    try {
      // A long wait outlasts rules. A dry run tells of a refusal once.
      if (slot.waitedMs > 0 && decision.allowed) {
        const changed = this.weigh(await this.decide(url, request));
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

  private weigh(decision: Decision): Decision | undefined {
    if (decision.allowed) return undefined;
    this.settings.onRefusal?.(decision);
    return this.settings.enforces ? decision : undefined;
  }

  private report(url: string | URL, reachable: boolean, retryAfter: string | null = null): void {
    try {
      const signal = reachable ? REACHABLE : UNREACHABLE;
      this.client.report(url, retryAfter === null ? signal : { reachable, retryAfter });
    } catch {
      // A client closed meanwhile has no use for it; the answer is the caller's all the same.
    }
  }
}

const REACHABLE = Object.freeze({ reachable: true });
const UNREACHABLE = Object.freeze({ reachable: false });

/** RFC 6585 §4 and RFC 9110 §15.6.4: where `Retry-After` tells how long to wait before a new request. */
const asksForPause: (status: number) => boolean = (status) => status === 429 || status === 503;

/** Whether the answer a decision rests on is in the last tenth of its life. */
function endsSoon({ robots: { fetchedAt, staleAt } }: Decision, now: number): boolean {
  return fetchedAt !== undefined && staleAt !== undefined && now >= refreshAheadAt({ fetchedAt, staleAt });
}

/**
 * Whether a request for `url` reaches a site at all: `data:`, `blob:` and `about:` do not.
 *
 * @throws TypeError when it is no absolute URL.
 */
export function reachesSite(url: string | URL): boolean {
  // The parser passes over white space before and within the scheme: only what looks usual needs none.
  if (typeof url === 'string') {
    return url.startsWith('https:') || url.startsWith('http:') || reachesSite(new URL(url));
  }
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'ftp:';
}

/** Robots.txt would be asked for where no page may be. Of a client of another make the policy may be unknown. */
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
