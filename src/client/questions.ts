import { RobotsClosedError } from '../base/index.ts';
import type { CacheEntry, OriginCache } from '../cache/index.ts';
import {
  decide,
  decideByOverride,
  type Decision,
  decideUnknown,
  permits,
  type Purpose,
} from '../decision/index.ts';
import { attemptDue, type RobotsSource } from '../lifecycle/index.ts';
import { type Agent, AgentTokens, type Tokens } from '../rules/agent-tokens.ts';
import type { RobotsFile } from '../rules/index.ts';
import { isRobotsTarget, locate, LocatedUrl } from '../url/index.ts';
import { channels, publishCacheEvent, publishDecision } from './diagnostics.ts';
import type { OriginSettings } from './overrides.ts';
import type { Settings } from './settings.ts';

/** The parts of a client that questions are answered with. */
export interface QuestionContext {
  readonly settings: Settings;
  readonly origins: OriginSettings;
  readonly cache: OriginCache;
  /** The client, for messages about its decisions. */
  readonly client: object;
}

/**
 * Answers the questions of one client: from memory when it has fresh rules, else after a fetch. `RobotsClient` has the
 * methods for users. Guards, the service and the command ask here, by `client[QUESTIONS]`.
 *
 * Each question first reads its URL into {@link located}, and the next question overwrites it. So nothing is allocated
 * for a question that memory answers with yes or no.
 */
export class Questions {
  private readonly settings: Settings;
  private readonly origins: OriginSettings;
  /** The overrides of {@link origins}, stored here because every question reads them. */
  private readonly overrides: OriginSettings['overrides'];
  readonly agents: AgentTokens;
  private readonly cache: OriginCache;
  private readonly client: object;
  /**
   * The files of decisions that were made for a purpose after a fetch. Memory may make room for others before the
   * purpose is looked up; without the file nothing would be disallowed for it.
   */
  private readonly keptFiles = new WeakMap<RobotsSource, RobotsFile>();
  /** The URL of the question that was read last. */
  located: LocatedUrl = new LocatedUrl();
  private closed = false;
  /** Questions answered from memory. */
  hits = 0;
  /** Questions that had to wait. */
  misses = 0;

  constructor({ settings, origins, cache, client }: QuestionContext) {
    this.settings = settings;
    this.origins = origins;
    this.overrides = origins.overrides;
    this.agents = new AgentTokens(settings.tokens);
    this.cache = cache;
    this.client = client;
  }

  /**
   * Reads a question.
   *
   * @returns the tokens of `agent`.
   * @throws RobotsInvalidUrlError, RobotsInvalidOptionsError for an agent without product token, RobotsClosedError.
   */
  read(url: string | URL, agent: Agent | undefined): Tokens {
    this.assertOpen();
    const tokens = agent === undefined ? this.settings.tokens : this.agents.of(agent);
    // A subscriber may ask the client while this question publishes. It must not overwrite the URL of this question.
    if (channels.cache.hasSubscribers) this.located = new LocatedUrl();
    locate(url, this.located);
    return tokens;
  }

  /** The answer of `RobotsClient.permits` for the question that was read. */
  permits(tokens: Tokens): boolean | undefined {
    const allowed = this.allows(tokens);
    if (allowed !== undefined) this.hits++;
    return allowed;
  }

  /**
   * The decision for the question that was read. A promise only when something has to be fetched.
   *
   * @param keepsFile Whether {@link fileOf} needs the file of a fetched decision.
   */
  decide(tokens: Tokens, signal: AbortSignal | undefined, keepsFile = false): Decision | Promise<Decision> {
    const { located } = this;
    const known = this.decideFromMemory(tokens, true);
    return known === undefined
      ? this.decideAfterFetch(located, tokens, signal, keepsFile)
      : publishDecision(known, this.client);
  }

  /** The decision for the question that was read, without I/O; `undefined` when an answer has to be fetched first. */
  decideFromMemory(tokens: Tokens, mayRefresh: boolean): Decision | undefined {
    const { located } = this;
    const { origin } = located;
    const override = this.overrides.size === 0 ? undefined : this.overrides.get(origin);
    if (override !== undefined) return decideByOverride(override, tokens, located);
    const now = this.settings.clock.now();
    const entry = this.cache.recall(origin);
    if (entry === undefined) {
      return decideUnknown(this.origins.profileOf(origin), this.origins.canAsk(origin), tokens, located, now);
    }
    if (isRobotsTarget(located)) return decide(entry, tokens, located, now, 'memory');
    if (!entry.isQuietAt(now)) {
      const due = attemptDue(entry.record, entry.profile, now);
      if (due === 'now') return undefined;
      if (due === 'ahead' && mayRefresh) {
        // The attempt may call functions of the user, who may ask the client.
        this.located = new LocatedUrl();
        if (this.cache.refresh(origin)) publishCacheEvent(origin, 'refresh');
      }
    }
    this.hits++;
    publishCacheEvent(origin, 'hit');
    return decide(entry, tokens, located, now, 'memory');
  }

  /**
   * `RobotsClient.check`, but a promise only when something has to be fetched. Guards call this, so that their request
   * starts synchronously when the origin is known.
   *
   * @throws the errors of `check`; synchronously when nothing has to be fetched.
   */
  check(
    url: string | URL,
    agent?: Agent,
    options?: { readonly signal?: AbortSignal; readonly purpose?: Purpose },
  ): Decision | Promise<Decision> {
    options?.signal?.throwIfAborted();
    const keepsFile = options?.purpose !== undefined;
    return this.decide(this.read(url, agent), options?.signal, keepsFile);
  }

  /** The origin of `url` when {@link permits} is true. Guards call this, so that a request needs its URL read once. */
  allowedOrigin(url: string, agent?: Agent): string | undefined {
    const tokens = this.read(url, agent);
    // A refusal is counted by the question for its reasons.
    return this.allows(tokens) === true ? (this.hits++, this.located.origin) : undefined;
  }

  /** `RobotsClient.report` for an origin that was asked about. */
  reportOrigin(origin: string, reachable: boolean): void {
    if (!this.closed && this.origins.canAsk(origin)) this.cache.reportSite(origin, reachable);
  }

  /** `RobotsClient.peek`, but it starts a refresh which is due ahead. The service and the command ask this first. */
  recall(url: string | URL, agent?: Agent): Decision | undefined {
    const known = this.decideFromMemory(this.read(url, agent), true);
    return known === undefined ? undefined : publishDecision(known, this.client);
  }

  /** The entry of `origin` in memory, or the fetched one when an attempt is due. */
  async recallOrFetch(
    origin: string,
    signal: AbortSignal | undefined,
  ): Promise<{ entry: CacheEntry; source: RobotsSource['source'] }> {
    const known = this.cache.recall(origin);
    if (known !== undefined && attemptDue(known.record, known.profile, this.settings.clock.now()) !== 'now') {
      return { entry: known, source: 'memory' };
    }
    return this.cache.fetch(origin, signal);
  }

  /** The file that a decision rests on, while memory has it, or it was made for a purpose. */
  fileOf({ origin, state, robots }: Decision): RobotsFile | undefined {
    if (state !== 'rules' && state !== 'last-good') return undefined;
    const kept = this.keptFiles.get(robots);
    if (kept !== undefined) return kept;
    return (this.overrides.get(origin) ?? this.cache.recall(origin))?.file;
  }

  /** @throws RobotsClosedError after {@link close}. */
  assertOpen(): void {
    if (this.closed) throw new RobotsClosedError();
  }

  /** From now on every question is refused. */
  close(): void {
    this.closed = true;
  }

  /** The answer of {@link permits}, not counted. */
  private allows(tokens: Tokens): boolean | undefined {
    const { located } = this;
    if (channels.decision.hasSubscribers || channels.cache.hasSubscribers) return undefined;
    if (this.overrides.size > 0 && this.overrides.has(located.origin)) return undefined;
    const entry = this.cache.recall(located.origin);
    if (entry === undefined) return undefined;
    return permits(entry, tokens, located, this.settings.clock.now());
  }

  private async decideAfterFetch(
    located: LocatedUrl,
    tokens: Tokens,
    signal: AbortSignal | undefined,
    keepsFile: boolean,
  ): Promise<Decision> {
    // Other questions read their URLs into `this.located` during the wait.
    this.located = new LocatedUrl();
    this.misses++;
    publishCacheEvent(located.origin, 'miss');
    const { entry, source } = await this.cache.fetch(located.origin, signal);
    const decision = decide(entry, tokens, located, this.settings.clock.now(), source);
    this.cache.updateSize(entry);
    if (keepsFile && entry.file !== undefined) this.keptFiles.set(decision.robots, entry.file);
    return publishDecision(decision, this.client);
  }
}
