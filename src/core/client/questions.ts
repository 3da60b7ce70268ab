import { type Lazy, RobotsClosedError, type TracedWork, tracedWork } from '../base/index.ts';
import { type CacheEntry, cacheChannels, type OriginMemory, type Renewals } from '../cache/index.ts';
import {
  decide,
  decideByOverride,
  type Decision,
  type DecisionContext,
  decideUnknown,
  decisionChannels,
  permits,
  type Purpose,
} from '../decision/index.ts';
import type { Recorder } from './evidence/recorder.ts';
import { attemptDue, type RobotsSource } from '../lifecycle/index.ts';
import type { Pace, TakenSlot } from '../pacing/index.ts';
import type { Pacer } from '../pacing/pacer.ts';
import { type Agent, AgentTokens, type Tokens } from '../rules/agent-tokens.ts';
import type { RobotsFile } from '../rules/index.ts';
import { isRobotsTarget, locate, LocatedUrl, targetOf } from '../url/index.ts';
import type { OriginSettings } from './origin-settings.ts';
import type { Settings } from './settings.ts';

/** The parts of a client that questions are answered with. */
export interface QuestionContext {
  readonly settings: Settings;
  readonly origins: OriginSettings;
  readonly memory: OriginMemory;
  readonly renewals: Renewals;
  readonly pacer: Lazy<Pacer>;
  /** The client, for messages about its decisions. */
  readonly client: object;
  /** Writes down what is decided. */
  readonly recorder?: Recorder | undefined;
}

/** `tracing:canfetch:question:*`: a question that waits for the store, or for an attempt. */
export interface CheckMessage {
  /** Without userinfo and fragment. */
  readonly url: string;
  readonly origin: string;
  /** Whether it waits for what another question, or a refresh, has started. */
  readonly shared: boolean;
  /** The client that was asked. */
  readonly client: object;
  /** At its end: the decision. */
  readonly result?: Decision;
  /** At its end: why there is none, such as the reason of an aborted signal. */
  readonly error?: unknown;
}

const waiting: TracedWork<CheckMessage> = tracedWork('canfetch:question');

/**
 * The URL of {@link Questions.permits} and {@link Questions.allowedOrigin}, for all clients: nothing else may use it.
 * The next such question overwrites it, so between its reading and the answer no function of the user is called.
 */
const reused = new LocatedUrl();

interface AskOptions {
  readonly signal?: AbortSignal;
  readonly purpose?: Purpose;
}

/**
 * Answers the questions of one client: from memory when it has fresh rules, else after a renewal. `RobotsClient` has
 * the methods for users. Guards, the service and the command ask here, by `client[QUESTIONS]`.
 */
export class Questions {
  readonly agents: AgentTokens;
  readonly #settings: Settings;
  readonly #origins: OriginSettings;
  /** The overrides of the origins, stored here because every question reads them. */
  readonly #overrides: OriginSettings['overrides'];
  readonly #memory: OriginMemory;
  readonly #renewals: Renewals;
  readonly #pacer: Lazy<Pacer>;
  readonly #client: object;
  readonly #recorder: Recorder | undefined;
  /**
   * The files of decisions that were made for a purpose after a fetch. Memory may make room for others before the
   * purpose is looked up; without the file nothing would be disallowed for it.
   */
  readonly #keptFiles = new WeakMap<RobotsSource, RobotsFile>();
  #closed = false;
  /** Questions answered from memory. */
  hits = 0;
  /** Questions that had to wait. */
  misses = 0;

  constructor({ settings, origins, memory, renewals, pacer, client, recorder }: QuestionContext) {
    this.#settings = settings;
    this.#origins = origins;
    this.#overrides = origins.overrides;
    this.agents = new AgentTokens(settings.tokens);
    this.#memory = memory;
    this.#renewals = renewals;
    this.#pacer = pacer;
    this.#client = client;
    this.#recorder = recorder;
  }

  /**
   * `RobotsClient.permits`.
   *
   * @throws the errors of `RobotsClient.canFetch`.
   */
  permits(url: string | URL, agent: Agent | undefined): boolean | undefined {
    const allowed = this.#allows(url, agent);
    if (allowed === undefined) return undefined;
    // What is recorded has its reasons.
    if (this.#recorder !== undefined) return this.recall(url, agent, false)?.allowed;
    this.hits++;
    return allowed;
  }

  /** The origin of `url` when {@link permits} is true. Guards call this, so that a request needs its URL read once. */
  allowedOrigin(url: string, agent?: Agent): string | undefined {
    if (this.#recorder !== undefined) return undefined;
    // A refusal is counted by the question for its reasons.
    return this.#allows(url, agent) === true ? (this.hits++, reused.origin) : undefined;
  }

  /**
   * `RobotsClient.check`, but a promise only when robots.txt has to be fetched.
   *
   * @throws the errors of `check`; synchronously when nothing has to be fetched.
   */
  ask(url: string | URL, agent?: Agent, options?: AskOptions): Decision | Promise<Decision> {
    const decided = this.askUntold(url, agent, options);
    return decided instanceof Promise ? decided.then((decision) => this.tell(decision)) : this.tell(decided);
  }

  /**
   * {@link ask}, but nobody is told of the decision. Guards call this: their request starts synchronously when the origin
   * is known. It may be decided several times, and is told of once, by {@link tell}.
   */
  askUntold(url: string | URL, agent?: Agent, options?: AskOptions): Decision | Promise<Decision> {
    options?.signal?.throwIfAborted();
    const tokens = this.#tokensOf(agent);
    const located = locate(url);
    const known = this.#decideFromMemory(located, tokens, true);
    if (known === undefined) return this.#decideTraced(located, tokens, options);
    this.#memory.events.publish();
    return known;
  }

  /**
   * The decision from memory alone; `undefined` when robots.txt has to be fetched.
   *
   * @param mayRefresh Whether a renewal that is due ahead is started. `RobotsClient.peek` starts none; the service and
   *   the command, which ask this first, do.
   */
  recall(url: string | URL, agent?: Agent, mayRefresh = true): Decision | undefined {
    const known = this.recallUntold(url, agent, mayRefresh);
    return known === undefined ? undefined : this.tell(known);
  }

  /** {@link recall}, but nobody is told of the decision. */
  recallUntold(url: string | URL, agent?: Agent, mayRefresh = true): Decision | undefined {
    const tokens = this.#tokensOf(agent);
    const known = this.#decideFromMemory(locate(url), tokens, mayRefresh);
    this.#memory.events.publish();
    return known;
  }

  /** Tells those who listen of a decision, after the events that led to it. Returns the decision. */
  tell(decision: Decision, context?: DecisionContext): Decision {
    this.#recorder?.decided(decision, context);
    if (decisionChannels.decision.hasSubscribers) {
      decisionChannels.decision.publish({ ...context, decision, client: this.#client });
    }
    return decision;
  }

  /** A guard sends a request without a question. */
  tellIgnored(url: string, because: string): void {
    this.#recorder?.ignored(url, because);
    const { ignored } = decisionChannels;
    if (ignored.hasSubscribers) ignored.publish({ url, because, client: this.#client });
  }

  /** `RobotsClient.report` for an origin that was asked about. */
  reportOrigin(origin: string, reachable: boolean): void {
    if (!this.#closed && this.#origins.canAsk(origin)) this.#memory.noteSite(origin, reachable);
  }

  /**
   * `RobotsClient.takeSlot`, but a promise only when the request has to wait. Guards call this.
   *
   * @throws the errors of `takeSlot`; synchronously when nothing has to be waited for.
   */
  takeSlot(decision: Decision, pace: Pace, signal: AbortSignal | undefined): TakenSlot | Promise<TakenSlot> {
    this.assertOpen();
    const { part } = this.#pacer;
    if (part !== undefined) return part.take(decision, pace, signal);
    return this.#pacer.get().then((pacer) => pacer.take(decision, pace, signal));
  }

  /** The entry of `origin` in memory, or a renewed one when an attempt is due. */
  async recallOrRenew(
    origin: string,
    signal: AbortSignal | undefined,
  ): Promise<{ entry: CacheEntry; source: RobotsSource['source'] }> {
    const now = this.#settings.clock.now();
    const known = this.#memory.lookUpAt(origin, now);
    this.#memory.events.publish();
    if (known !== undefined && attemptDue(known.record, known.profile, now) !== 'now') {
      return { entry: known, source: 'memory' };
    }
    return this.#renewals.renew(origin, signal);
  }

  /** The file that a decision rests on, while memory has it, or it was made for a purpose. */
  fileOf({ origin, state, robots }: Decision): RobotsFile | undefined {
    if (state !== 'rules' && state !== 'last-good') return undefined;
    const kept = this.#keptFiles.get(robots);
    if (kept !== undefined) return kept;
    return (this.#overrides.get(origin) ?? this.#memory.peek(origin))?.file;
  }

  /** @throws RobotsClosedError after {@link close}. */
  assertOpen(): void {
    if (this.#closed) throw new RobotsClosedError();
  }

  /** From now on every question is refused. */
  close(): void {
    this.#closed = true;
  }

  /** @throws RobotsInvalidOptionsError for an agent without product token, RobotsClosedError. */
  #tokensOf(agent: Agent | undefined): Tokens {
    this.assertOpen();
    return agent === undefined ? this.#settings.tokens : this.agents.of(agent);
  }

  /** The answer of {@link permits}, not counted. */
  #allows(url: string | URL, agent: Agent | undefined): boolean | undefined {
    const tokens = this.#tokensOf(agent);
    // The clock may ask the client, so it is read before the URL.
    const now = this.#settings.clock.now();
    locate(url, reused);
    if (decisionChannels.decision.hasSubscribers || cacheChannels.cache.hasSubscribers) return undefined;
    if (isRobotsTarget(reused)) return true;
    const { origin } = reused;
    if (this.#overrides.size > 0 && this.#overrides.has(origin)) return undefined;
    const entry = this.#memory.lookUp(origin);
    return entry === undefined ? undefined : permits(entry, tokens, reused, now);
  }

  /** The decision without I/O; `undefined` when robots.txt has to be fetched first. */
  #decideFromMemory(located: LocatedUrl, tokens: Tokens, mayRefresh: boolean): Decision | undefined {
    const { origin } = located;
    const override = this.#overrides.size === 0 ? undefined : this.#overrides.get(origin);
    const now = this.#settings.clock.now();
    if (override !== undefined) return this.#noteMade(decideByOverride(override, tokens, located), now);
    const entry = this.#memory.lookUpAt(origin, now);
    if (entry === undefined) {
      const { profileOf } = this.#origins;
      const canAsk = this.#origins.canAsk(origin);
      return this.#noteMade(decideUnknown(profileOf(origin), canAsk, tokens, located, now), now);
    }
    if (!isRobotsTarget(located)) {
      if (!entry.isQuietAt(now)) {
        const due = attemptDue(entry.record, entry.profile, now);
        if (due === 'now') return undefined;
        if (due === 'ahead' && mayRefresh && this.#renewals.renewAhead(origin)) {
          this.#memory.events.add(origin, 'refresh');
        }
      }
      this.hits++;
      this.#memory.events.add(origin, 'hit');
    }
    return this.#noteMade(decide(entry, tokens, located, now, 'memory'), now, entry);
  }

  /** Notes when a decision was made, if there is evidence of it. */
  #noteMade<Made extends Decision | undefined>(decision: Made, now: number, entry?: CacheEntry): Made {
    if (this.#recorder !== undefined && decision !== undefined) {
      this.#recorder.made(decision, now, entry?.record);
    }
    return decision;
  }

  #decideTraced(located: LocatedUrl, tokens: Tokens, options: AskOptions | undefined): Promise<Decision> {
    if (!waiting.hasSubscribers) return this.#decideAfterRenewal(located, tokens, options);
    const { origin, href } = located;
    const url = origin + targetOf(href);
    const message = { url, origin, shared: this.#renewals.isRenewing(origin), client: this.#client };
    return waiting.tracePromise(() => this.#decideAfterRenewal(located, tokens, options), message);
  }

  async #decideAfterRenewal(
    located: LocatedUrl,
    tokens: Tokens,
    options: AskOptions | undefined,
  ): Promise<Decision> {
    const { events } = this.#memory;
    this.misses++;
    events.add(located.origin, 'miss');
    events.publish();
    const { entry, source } = await this.#renewals.renew(located.origin, options?.signal);
    const now = this.#settings.clock.now();
    const decision = this.#noteMade(decide(entry, tokens, located, now, source), now, entry);
    this.#memory.updateSize(entry);
    if (options?.purpose !== undefined && entry.file !== undefined)
      this.#keptFiles.set(decision.robots, entry.file);
    events.publish();
    return decision;
  }
}
