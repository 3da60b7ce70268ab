import { type Clock, invalid, orAborted, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import {
  type Decision,
  decisionChannels,
  type DecisionContext,
  type DecisionUsage,
  type Purpose,
  type SentRequest,
} from '../../core/decision/index.ts';
import { refreshAheadAt } from '../../core/lifecycle/index.ts';
import { type AddressPolicy, isStricter } from '../../core/net/address-policy.ts';
import type { Pace, TakenSlot } from '../../core/pacing/index.ts';
import type { Agent } from '../../core/rules/agent-tokens.ts';
import type { UsageOptions } from '../../core/rules/index.ts';
import { type DecisionEngine, engineOf } from '../../core/client/engine.ts';
import { LocatedUrl } from '../../core/url/index.ts';
import type { GuardSettings } from './options.ts';

/** Reused: the next request overwrites it. */
const requested = new LocatedUrl();

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
  usageOf?(decision: Decision, purpose: Purpose, headers?: UsageOptions): DecisionUsage;
  /** Needed for `pacing` without `takeSlot`. Resolves with the milliseconds waited. */
  waitForSlot?(decision: Decision, options: SlotOptions): Promise<number>;
  /** Takes the slot of a request. It is checked again when the request leaves. */
  takeSlot?(decision: Decision, options: SlotOptions): Promise<TakenSlot>;
}

/** The settings of a guard that concern its client. */
type ClientSettings = Pick<GuardSettings<unknown>, 'agent' | 'purpose' | 'pace' | 'addressPolicy' | 'clock'>;

/** Options of the slot that a guard takes. All in ms. */
interface SlotOptions {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly signal?: AbortSignal;
}

/** The client of a guard, asked with the agent and the purpose of the guard. */
export class AskedClient {
  readonly #client: GuardClient;
  /** Absent for a client of another class, or of another version: its public methods are called. */
  readonly #engine: DecisionEngine | undefined;
  readonly #agent: Agent | undefined;
  readonly #purpose: Purpose | undefined;
  readonly #clock: Clock;

  /**
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a client that lacks what the settings need.
   */
  constructor(client: GuardClient, settings: ClientSettings) {
    if (!isGuardClient(client)) throw invalid('the client', 'a RobotsClient', client);
    if (settings.purpose !== undefined && typeof client.usageOf !== 'function') {
      throw invalid('the client', 'one with `usageOf` when `purpose` is set', client);
    }
    if (settings.pace !== undefined && !canPace(client)) {
      throw invalid('the client', 'one with `waitForSlot` when `pacing` is set', client);
    }
    assertAsStrict(client, settings.addressPolicy);
    this.#client = client;
    this.#engine = engineOf(client);
    this.#agent = settings.agent;
    this.#purpose = settings.purpose;
    this.#clock = settings.clock;
  }

  /**
   * The decision about `url`. A promise only when robots.txt has to be fetched.
   *
   * @throws the reason of an aborted signal, and what the client throws.
   */
  decide(url: string | URL, signal: AbortSignal | undefined): Decision | Promise<Decision> {
    signal?.throwIfAborted();
    const client = this.#client;
    const agent = this.#agent;
    const purpose = this.#purpose;
    const engine = this.#engine;
    if (engine !== undefined) {
      if (purpose !== undefined) {
        return engine.decide(url, agent, signal === undefined ? { purpose } : { signal, purpose });
      }
      return engine.decide(url, agent, signal === undefined ? undefined : { signal });
    }
    const known = client.peek(url, agent);
    if (known !== undefined) {
      // `peek` starts no refresh. Without this, a crawler that only fetches would wait at the end of every lifetime.
      if (endsSoon(known, this.#clock.now())) client.check(url, agent).catch(() => undefined);
      return known;
    }
    // A client of another class may return anything, so the result is always awaited.
    if (signal === undefined) return Promise.resolve(client.check(url, agent));
    return orAborted(Promise.resolve(client.check(url, agent, { signal })), signal);
  }

  /** The decision about `url` from memory alone. */
  decideFromMemory(url: string): Decision | undefined {
    const engine = this.#engine;
    return engine === undefined
      ? this.#client.peek(url, this.#agent)
      : engine.decideFromMemory(url, this.#agent);
  }

  /** Tells those who listen of the decision about a request. A client of another class does so when it is asked. */
  tell(decision: Decision, context?: DecisionContext): void {
    this.#engine?.publishDecision(decision, context);
  }

  /** Tells those who listen of a request without a question. */
  publishIgnored(url: string, because: string): void {
    if (this.#engine !== undefined) return this.#engine.publishIgnored(url, because);
    const { ignored } = decisionChannels;
    if (ignored.hasSubscribers) ignored.publish({ url, because, client: this.#client });
  }

  /** When a request starts; `undefined` when nobody listens to {@link publishRequest}. */
  get requestStart(): number | undefined {
    const engine = this.#engine;
    if (engine !== undefined) return engine.requestStart;
    return decisionChannels.request.hasSubscribers ? this.#clock.now() : undefined;
  }

  /** Publishes the response to a request, or its failure. */
  publishRequest(request: SentRequest): void {
    if (this.#engine !== undefined) return this.#engine.publishRequest(request);
    const { request: requests } = decisionChannels;
    if (requests.hasSubscribers) requests.publish({ ...request, client: this.#client });
  }

  /** The origin of `url` when memory alone allows a request; `undefined` when {@link decide} has to be asked. */
  allowedOrigin(url: string): string | undefined {
    const engine = this.#engine;
    // Evidence needs the decision.
    if (engine === undefined || engine.requestStart !== undefined) return undefined;
    try {
      if (engine.allows(url, this.#agent, requested) !== true) return undefined;
    } catch {
      // `decide` throws the same error.
      return undefined;
    }
    engine.countHit();
    return requested.origin;
  }

  /** Whether the robots.txt of `url` is in memory, so that it will not be fetched. */
  knows(url: URL): boolean {
    return this.decideFromMemory(url.href) !== undefined;
  }

  /**
   * Takes the slot of a request. A promise only when the request has to wait, or the client is of another class. The
   * slot is checked again at departure only if the client has `takeSlot`.
   *
   * @throws what the client throws.
   */
  takeSlot(decision: Decision, pace: Pace, signal: AbortSignal | undefined): TakenSlot | Promise<TakenSlot> {
    const client = this.#client;
    if (this.#engine !== undefined) return this.#engine.takeSlot(decision, pace, signal);
    const options = signal === undefined ? pace : { ...pace, signal };
    // A client of another class may return anything, so the result is always awaited.
    return client.takeSlot === undefined
      ? Promise.resolve(client.waitForSlot?.(decision, options)).then(uncheckedSlot)
      : Promise.resolve(client.takeSlot(decision, options));
  }
}

/** The slot of a request whose client has only waited for it. */
function uncheckedSlot(waitedMs = 0): TakenSlot {
  const nothing = (): void => undefined;
  return {
    waitedMs,
    leaveNow: () => true,
    leave: () => Promise.resolve(),
    release: nothing,
    answered: nothing,
    done: nothing,
  };
}

/** Whether the answer behind a decision is in the last tenth of its lifetime. */
function endsSoon({ robots: { fetchedAt, staleAt } }: Decision, now: number): boolean {
  return fetchedAt !== undefined && staleAt !== undefined && now >= refreshAheadAt({ fetchedAt, staleAt });
}

function canPace({ waitForSlot, takeSlot }: GuardClient): boolean {
  return typeof waitForSlot === 'function' || typeof takeSlot === 'function';
}

function isGuardClient(client: unknown): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return ['peek', 'check', 'report'].every((name) => typeof Reflect.get(client, name) === 'function');
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
