import {
  type ClientMessage,
  type Clock,
  type HeaderFields,
  invalid,
  Lazy,
  RobotsClosedError,
  type Publisher,
  RobotsInvalidOptionsError,
  throwIfAborted,
  type TracedWork,
  tracedWork,
  VERSION,
} from '../base/index.ts';
import type { CacheEntry } from '../cache/entry.ts';
import { cacheChannels } from '../cache/cache-events.ts';
import type { OriginMemory } from '../cache/origin-memory.ts';
import type { OriginRefresher } from '../cache/origin-refresher.ts';
import {
  decide,
  decideByOverride,
  type ClientEvent,
  type ClientEventName,
  type ClientListener,
  type Decision,
  type DecisionContext,
  type DecisionUsage,
  type Purpose,
  decideUnknown,
  decisionChannels,
  permits,
  type RobotsSource,
} from '../decision/index.ts';
import type { Recorder } from './evidence/recorder.ts';
import { attemptDue, stateOf, timeInPause } from '../lifecycle/index.ts';
import { type Agent, AgentTokens, type Tokens } from '../decision/agent-tokens.ts';
import type { RobotsFile } from '../rules/index.ts';
import { isRobotsTarget, locate, LocatedUrl, targetOf } from '../url/index.ts';
import type { StoredOrigins } from '../store/stored-origins.ts';
import type { OriginSettings } from './origin-settings.ts';
import { PagePacing } from './page-pacing.ts';
import type { Settings } from './settings.ts';

/** The parts of a client that decisions are made with. */
export interface EngineContext {
  readonly settings: Settings;
  readonly origins: OriginSettings;
  readonly memory: OriginMemory;
  readonly refresher: OriginRefresher;
  readonly stored: Lazy<StoredOrigins> | undefined;
  /** The client, for messages about its decisions. */
  readonly client: object;
  /** Records decisions as evidence. */
  readonly recorder?: Recorder | undefined;
}

/** `tracing:canfetch:check:*`: a question that waits for the store, or for an attempt. */
export interface CheckMessage extends ClientMessage {
  /** Without userinfo and fragment. */
  readonly url: string;
  readonly origin: string;
  /** Whether it waits for what another question, or a refresh, has started. */
  readonly shared: boolean;
  /** At its end: the decision. */
  readonly result?: Decision;
  /** At its end: why there is none, such as the reason of an aborted signal. */
  readonly error?: unknown;
}

const waiting: TracedWork<CheckMessage> = tracedWork('canfetch:check');

/** The URL of {@link ClientEngine.allows}. Overwritten by the next call, so it must not be kept. */
const scratch = new LocatedUrl();

/** Options of {@link ClientEngine.decide}. */
export interface DecideOptions {
  /** Rejects this call only, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Keeps the file of the decision, so that `usageOf` finds it even if memory has dropped the origin. */
  readonly purpose?: Purpose | undefined;
}

/**
 * What guards and applications ask a client for. It decides from memory when that has fresh rules, else after a refresh.
 * Three methods ask:
 *
 * | method                               | result   | I/O                                               |
 * | ------------------------------------ | -------- | ------------------------------------------------- |
 * | {@link ClientEngine.allows}           | boolean  | none; `undefined` when memory cannot decide       |
 * | {@link ClientEngine.decideFromMemory} | decision | none; `undefined` when robots.txt must be fetched |
 * | {@link ClientEngine.decide}           | decision | fetches robots.txt when it must                   |
 *
 * All are silent: the caller publishes a decision with {@link ClientEngine.publishDecision}, once for each request,
 * even if it was decided again. The methods of `RobotsClient` for users publish by themselves. Every other event goes to its
 * listeners by {@link ClientEngine.publish}.
 */
export class ClientEngine {
  /** The version of the package that made the client. See `engineOf`. */
  readonly version: string = VERSION;
  readonly agents: AgentTokens;
  readonly #settings: Settings;
  readonly #origins: OriginSettings;
  readonly #memory: OriginMemory;
  readonly #refresher: OriginRefresher;
  readonly pacing: PagePacing;
  /** What reads statements about the use of pages. */
  readonly usage: Lazy<typeof import('../decision/decide-usage.ts')> = new Lazy(
    () => import('../decision/decide-usage.ts'),
  );
  /** The client, for messages about what its guards do. */
  readonly client: object;
  readonly #recorder: Recorder | undefined;
  /**
   * The files of decisions that were made for a purpose after a fetch. Memory may evict the origin before the
   * purpose is looked up; without the file nothing would be disallowed for it.
   */
  readonly #keptFiles = new WeakMap<RobotsSource, RobotsFile>();
  readonly #ending = new AbortController();
  /** Questions served from memory. */
  hits = 0;
  /** Questions that had to wait. */
  misses = 0;

  constructor({ settings, origins, memory, refresher, stored, client, recorder }: EngineContext) {
    this.#settings = settings;
    this.#origins = origins;
    this.agents = new AgentTokens(settings.tokens);
    this.#memory = memory;
    this.#refresher = refresher;
    this.client = client;
    this.#recorder = recorder;
    this.pacing = new PagePacing({
      settings,
      client,
      stored,
      ending: this.ending,
      fileOf: (decision) => this.fileOf(decision),
      onDeferral: (decision, deferral) => this.publish('deferred', { decision, ...deferral }),
      onPause: (pause, begins) => {
        if (begins) this.publish('pause', pause);
        else this.#recorder?.pause(pause);
      },
      onBookedRequest: (request) => this.publish('request', request),
    });
  }

  /** Whether decisions are written down as evidence. Then each needs its reasons, so {@link allows} does not suffice. */
  get isRecording(): boolean {
    return this.#recorder !== undefined;
  }

  /**
   * Whether the rules in memory that are in force allow `url`. Allocates nothing while they are fresh.
   *
   * @param located Filled with the origin and the target of `url`, for callers that need them.
   * @returns `undefined` when memory has no rules in force, a refresh is due, the origin is overridden, or a diagnostics
   *   channel about decisions has a subscriber.
   * @throws the errors of `RobotsClient.canFetch`.
   */
  allows(url: string | URL, agent?: Agent, located: LocatedUrl = scratch): boolean | undefined {
    const tokens = this.#tokensOf(agent);
    // The user's clock may ask the client, which overwrites `scratch`: from here on it is read only to look for a pause.
    const now = this.#settings.clock.now();
    if (now >= this.#origins.profileEndsAt) this.#endProfiles(now);
    locate(url, located);
    if (decisionChannels.decision.hasSubscribers || cacheChannels.cache.hasSubscribers) return undefined;
    // RFC 9309 §2.2.2: "The /robots.txt URI is implicitly allowed."
    if (isRobotsTarget(located)) return true;
    const { origin } = located;
    if (this.#origins.overrideAt(origin, now) !== undefined) return undefined;
    const entry = this.#memory.get(origin);
    if (entry === undefined) return undefined;
    if (entry.isFreshAndNotDue(now)) return permits(entry, tokens, located);
    if (!this.#servesRulesInPause(entry, now)) return undefined;
    // That read the user's clock.
    return permits(entry, tokens, locate(url, located));
  }

  /** Whether the rules in memory state a `Crawl-delay` for an agent. */
  hasDelay(origin: string, agent?: Agent): boolean {
    const file = this.#memory.get(origin)?.file;
    if (file === undefined) return false;
    return file.rulesetFor(file.chooseAgent(this.#tokensOf(agent))).crawlDelayMs > 0;
  }

  /** Whether the rules of an entry serve because its origin pauses. No refresh is due then. */
  #servesRulesInPause(entry: CacheEntry, now: number): boolean {
    if (!this.#refresher.servesInPause(entry)) return false;
    const { record, profile } = entry;
    return stateOf(record, profile, timeInPause(record, profile, now)).state === 'rules';
  }

  /** Counts a used result of {@link allows}. The other methods count by themselves. */
  countHit(): void {
    this.hits++;
  }

  /**
   * The decision from memory alone; `undefined` when robots.txt must be fetched.
   *
   * @param mayRefresh Whether a background refresh that is due is started. Default: false.
   * @throws the errors of `RobotsClient.canFetch`.
   */
  decideFromMemory(url: string | URL, agent?: Agent, mayRefresh = false): Decision | undefined {
    const tokens = this.#tokensOf(agent);
    const known = this.#decideKnown(locate(url), tokens, mayRefresh);
    this.#memory.events.publish();
    return known;
  }

  /**
   * The decision. A promise only when robots.txt must be fetched: otherwise requests start synchronously. Starts a
   * background refresh that is due.
   *
   * @throws the errors of `RobotsClient.canFetch`; synchronously when nothing has to be fetched.
   */
  decide(url: string | URL, agent?: Agent, options?: DecideOptions): Decision | Promise<Decision> {
    throwIfAborted(options?.signal);
    if (options?.purpose !== undefined && this.usage.value === undefined)
      return this.usage.load().then(() => this.decide(url, agent, options));
    const tokens = this.#tokensOf(agent);
    const located = locate(url);
    const known = this.#decideKnown(located, tokens, true);
    if (known === undefined) return this.#decideTraced(located, tokens, options);
    if (options?.purpose !== undefined) this.#keepFile(known);
    this.#memory.events.publish();
    return known;
  }

  /**
   * Whether the rules in memory, or the caller's own text, disallow the URL of a redirect, for the client's own agent. Never fetches, so there is no
   * recursion. The origin being fetched is skipped: its rules are just being replaced, and a robots.txt moved to a
   * disallowed folder would open its site at every refresh.
   */
  disallowsRedirect(url: string, asked: string): boolean {
    const located = locate(url);
    if (located.origin === asked || isRobotsTarget(located)) return false;
    const now = this.#settings.clock.now();
    const { tokens } = this.#settings;
    const override = this.#origins.overrideAt(located.origin, now);
    if (override !== undefined)
      return override.state === 'rules' && !decideByOverride(override, tokens, located).allowed;
    const entry = this.#memory.peek(located.origin);
    if (entry === undefined || attemptDue(entry.record, entry.profile, now) === 'now') return false;
    const decision = decide(entry, tokens, located, now, 'memory');
    return decision.reason === 'rule' && !decision.allowed;
  }

  /** Publishes a decision, after the events that led to it. Returns it. */
  publishDecision(decision: Decision, context?: DecisionContext): Decision {
    if (this.hasListener('decision')) this.publish('decision', { ...context, decision });
    return decision;
  }

  /** Whether {@link publish} reaches anybody. */
  hasListener(name: ClientEventName): boolean {
    return this.#listener?.[name] !== undefined || decisionChannels[name].hasSubscribers;
  }

  /** Passes an event on: to the evidence, then to the subscribers of the channel. */
  publish<Name extends ClientEventName>(name: Name, event: ClientEvent<Name>): void {
    this.#listener?.[name]?.(event);
    const channel: Publisher<ClientEvent<Name> & ClientMessage> = decisionChannels[name];
    if (channel.hasSubscribers) channel.publish({ ...event, client: this.client });
  }

  get #listener(): ClientListener | undefined {
    return this.#recorder;
  }

  /** The clock of the client. */
  get clock(): Clock {
    return this.#settings.clock;
  }

  /** When a request of a guard starts, in epoch ms; `undefined` when nothing subscribes to requests. */
  get requestStart(): number | undefined {
    return this.hasListener('request') ? this.#settings.clock.now() : undefined;
  }

  /** `RobotsClient.report` for an origin. Does nothing when the client is closed. */
  reportOrigin(origin: string, reachable: boolean, retryAfter?: string): void {
    if (this.#isClosed) return;
    // An origin that cannot be asked has no record.
    if (this.#origins.canAsk(origin)) this.#memory.noteSite(origin, reachable);
    if (retryAfter !== undefined) this.pacing.pause(origin, retryAfter);
  }

  /** The file that a decision rests on, while memory has it, or it was made for a purpose. */
  fileOf({ origin, state, robots }: Decision): RobotsFile | undefined {
    if (state !== 'rules' && state !== 'last-good') return undefined;
    const kept = this.#keptFiles.get(robots);
    if (kept !== undefined) return kept;
    return robots.source === 'override'
      ? this.#origins.overridingFile(origin)
      : this.#memory.peek(origin)?.file;
  }

  /** `RobotsClient.usageOf`, once {@link usage} is loaded: {@link decide} with a purpose loads it. */
  usageOf(decision: Decision, purpose: Purpose, headers?: HeaderFields): DecisionUsage {
    return this.usage.value!.usageOf(decision, this.fileOf(decision), purpose, headers);
  }

  /** Another attempt may end before the purpose is looked up. */
  #keepFile(decision: Decision): void {
    const file = this.fileOf(decision);
    if (file !== undefined) this.#keptFiles.set(decision.robots, file);
  }

  /** @throws RobotsClosedError after {@link close}. */
  assertOpen(): void {
    if (this.#isClosed) throw new RobotsClosedError();
  }

  get #isClosed(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Aborted when the client closes: what waits for anything of it ends with this reason. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** From now on every question is refused. */
  close(reason: RobotsClosedError): void {
    this.#ending.abort(reason);
  }

  /** @throws RobotsInvalidOptionsError for an agent without product token, RobotsClosedError. */
  #tokensOf(agent: Agent | undefined): Tokens {
    this.assertOpen();
    return agent === undefined ? this.#settings.tokens : this.agents.of(agent);
  }

  /** The decision without I/O; `undefined` when robots.txt must be fetched first. */
  #decideKnown(located: LocatedUrl, tokens: Tokens, mayRefresh: boolean): Decision | undefined {
    const { origin } = located;
    const now = this.#settings.clock.now();
    const override = this.#origins.overrideAt(origin, now);
    if (override !== undefined)
      return this.#recordDecisionTime(decideByOverride(override, tokens, located), now);
    if (now >= this.#origins.profileEndsAt) this.#endProfiles(now);
    const entry = this.#memory.getAt(origin, now);
    if (entry === undefined) {
      const { profileOf } = this.#origins;
      const canAsk = this.#origins.canAsk(origin);
      return this.#recordDecisionTime(decideUnknown(profileOf(origin), canAsk, tokens, located, now), now);
    }
    let at = now;
    if (!isRobotsTarget(located)) {
      if (!entry.isFreshAndNotDue(now)) {
        const due = attemptDue(entry.record, entry.profile, now);
        if (due !== 'none' && this.#refresher.servesInPause(entry)) {
          at = timeInPause(entry.record, entry.profile, now);
        } else if (due === 'now') return undefined;
        else if (due === 'ahead' && mayRefresh) this.#refresher.refreshInBackground(origin);
      }
      this.hits++;
      this.#memory.events.add(origin, 'hit');
    }
    const decision = this.#untilPauseEnds(decide(entry, tokens, located, at, 'memory'));
    return this.#recordDecisionTime(decision, now, entry, at !== now);
  }

  /** Where an override that is a profile has ended, another profile reads the response otherwise: it is fetched anew. */
  #endProfiles(now: number): void {
    for (const origin of this.#origins.endProfiles(now)) this.#memory.forget(origin);
  }

  /** In a pause robots.txt is not requested: of its end and the next attempt the later time governs. */
  #untilPauseEnds(decision: Decision): Decision {
    if (decision.reason !== 'unreachable' || decision.retryAt === undefined) return decision;
    const until = this.#refresher.pausedUntil(decision.origin);
    return until === undefined || until <= decision.retryAt ? decision : { ...decision, retryAt: until };
  }

  /** For evidence: a guard may publish the decision much later. */
  #recordDecisionTime<Made extends Decision | undefined>(
    decision: Made,
    now: number,
    entry?: CacheEntry,
    paused = false,
  ): Made {
    if (this.#recorder !== undefined && decision !== undefined) {
      this.#recorder.onDecisionMade(decision, now, entry?.record, paused);
    }
    return decision;
  }

  #decideTraced(located: LocatedUrl, tokens: Tokens, options: DecideOptions | undefined): Promise<Decision> {
    if (!waiting.hasSubscribers) return this.#decideAfterRefresh(located, tokens, options);
    const { origin, href } = located;
    const url = origin + targetOf(href);
    const message = { url, origin, shared: this.#refresher.isRefreshing(origin), client: this.client };
    return waiting.tracePromise(() => this.#decideAfterRefresh(located, tokens, options), message);
  }

  async #decideAfterRefresh(
    located: LocatedUrl,
    tokens: Tokens,
    options: DecideOptions | undefined,
  ): Promise<Decision> {
    const { events } = this.#memory;
    this.misses++;
    events.add(located.origin, 'miss');
    events.publish();
    const { entry, source } = await this.#refresher.refresh(located.origin, options?.signal);
    const now = this.#settings.clock.now();
    const at = this.#refresher.readTime(entry, now);
    const decision = this.#recordDecisionTime(
      this.#untilPauseEnds(decide(entry, tokens, located, at, source)),
      now,
      entry,
      at !== now,
    );
    this.#memory.updateSize(entry);
    if (options?.purpose !== undefined && entry.file !== undefined)
      this.#keptFiles.set(decision.robots, entry.file);
    events.publish();
    return decision;
  }
}

/**
 * The property of a client that has its engine. A registered symbol, because a program may load the package twice: the
 * client by `import`, the guard by `require`.
 */
export const ENGINE: unique symbol = Symbol.for('canfetch.engine');

/**
 * The engine of a `RobotsClient`.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for any other object, and for a client of another
 *   version of this package, whose engine may differ.
 */
export function engineOf(client: { readonly [ENGINE]: ClientEngine }): ClientEngine {
  const { [ENGINE]: engine }: { readonly [ENGINE]?: ClientEngine } = Object(client);
  if (engine === undefined) throw invalid('the client', 'a RobotsClient', client);
  if (engine.version === VERSION) return engine;
  throw new RobotsInvalidOptionsError(
    `Expected the client to be a RobotsClient of canfetch ${VERSION}, as this is, got one of canfetch ${engine.version}; ` +
      'install one version for both',
  );
}
