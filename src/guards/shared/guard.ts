import type { Clock } from '../../core/base/index.ts';
import type { Decision } from '../../core/decision/index.ts';
import { type Pace, RobotsDeferredError, type TakenSlot } from '../../core/pacing/index.ts';
import { AskedClient, type GuardClient } from './client.ts';
import { Identity } from './identity.ts';
import { type GuardOptions, type GuardSettings, readGuardOptions } from './options.ts';
import { type Refusal, refusalFor } from './refusal.ts';
import { type AnswerFields, redirects, usageHeaders } from './answer.ts';
import { GuardEvents } from './events.ts';
import type { Hop, HopOptions } from './hop.ts';
import type { NodeAnswers } from './node-answers.ts';
import { SiteReports } from './site-reports.ts';
import { UsagePreferences } from './usage.ts';

/** What a library allows its guard to do. */
export interface GuardAbilities {
  /** Whether the guard sees header fields in {@link Guard.look} before anybody reads the body. @default false */
  readonly seesHeaders?: boolean;
  /** Sees the header of an answer, for a library that shows the guard only answers whose body was read. */
  readonly answers?: NodeAnswers;
  /** Awaited after robots.txt was fetched, before the slot of the request. */
  readonly afterAsking?: () => Promise<unknown>;
}

/**
 * The steps that every request of every library takes, in this order:
 *
 * 1. *decide*: may it be requested? The client is asked.
 * 2. *admit*: what follows from the decision and the options: refused, ignored, or on to the next step.
 * 3. *pace*: it waits for its slot.
 * 4. *send*: it leaves in its slot.
 * 5. *look*: the site has answered. Its header fields may disallow the purpose of the guard.
 * 6. *record*: it is over, and its slot with it.
 *
 * {@link admit} takes the first three. A library that sends by itself calls {@link pass} in place of `admit` and `leave`.
 * What is known of a request is in its {@link Hop}.
 */
export class Guard<Result = unknown> {
  readonly onDisallow: GuardSettings<Result>['onDisallow'];
  readonly clock: Clock;
  /** Sets and checks the `User-Agent` of requests; `undefined` when neither is needed. */
  readonly identity: Identity | undefined;
  /** Tells the client how the sites answer. */
  readonly reports: SiteReports;
  readonly #asked: AskedClient;
  readonly #events: GuardEvents;
  readonly #usage: UsagePreferences;
  readonly #settings: GuardSettings<Result>;
  readonly #answers: NodeAnswers | undefined;
  readonly #afterAsking: GuardAbilities['afterAsking'];
  readonly #needsNoDecision: boolean;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(client: GuardClient, options: GuardOptions<Result>, abilities: GuardAbilities = {}) {
    const settings = readGuardOptions(options);
    this.#settings = settings;
    this.#asked = new AskedClient(client, settings);
    this.#events = new GuardEvents(client, this.#asked, settings);
    this.#usage = new UsagePreferences(client, settings, abilities.seesHeaders === true);
    this.#answers = abilities.answers;
    this.#afterAsking = abilities.afterAsking;
    this.#needsNoDecision =
      settings.filter === undefined &&
      settings.pace === undefined &&
      settings.purpose === undefined &&
      settings.addressPolicy === 'any';
    this.reports = new SiteReports(client);
    this.identity = identityOf(client, settings);
    this.onDisallow = settings.onDisallow;
    this.clock = settings.clock;
  }

  /**
   * The origin of `url` when memory alone allows the request, and no option of the guard needs the decision: most
   * requests of a crawler. Such a request needs no {@link Hop}. Any other takes the steps.
   */
  allowedOrigin(url: string): string | undefined {
    return this.#needsNoDecision ? this.#asked.allowedOrigin(url) : undefined;
  }

  /** Whether the robots.txt of `url` is in memory, so that it will not be fetched. */
  knows(url: URL): boolean {
    return this.#asked.knows(url);
  }

  /** Whether refusals are enforced; `false` in a dry run. */
  get enforces(): boolean {
    return this.#settings.enforces;
  }

  /** Whether requests wait for slots. */
  get paces(): boolean {
    return this.#settings.pace !== undefined;
  }

  /** The longest wait of a request for its slot, in ms. */
  get maxDelayMs(): number {
    return this.#settings.pace?.maxDelayMs ?? 0;
  }

  /**
   * Decides, refuses, and waits for the slot of an allowed request. A promise only when something has to be waited for,
   * so that the request otherwise starts synchronously.
   *
   * @returns the refusal; `undefined` when the request may be sent.
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), the reason of an aborted signal, and what the client or `filter`
   * throws.
   */
  admit(hop: Hop): Refusal | undefined | Promise<Refusal | undefined> {
    if (!reachesSite(hop.url) || this.#settings.filter?.(new URL(hop.url)) === false) return undefined;
    if (hop.options.because !== undefined) {
      this.#events.ignored(hop.url, hop.options.because);
      return undefined;
    }
    const decided = this.#decide(hop);
    return decided instanceof Promise
      ? decided.then((decision) => this.#paceOrRefuse(hop, decision))
      : this.#paceOrRefuse(hop, decided);
  }

  /**
   * {@link admit}, for a library that sends the request when this has resolved.
   *
   * @throws the refusal, and what `admit` throws.
   */
  async pass(hop: Hop): Promise<void> {
    const refusal = await this.admit(hop);
    if (refusal !== undefined) throw refusal;
    await this.leave(hop);
    this.#answers?.expect(hop);
  }

  /**
   * An admitted request leaves in its slot. `undefined` when it may be sent at once; a promise when another request left
   * meanwhile. Whatever prevents the departure, or the answer, is told to {@link fail}.
   */
  leave(hop: Hop): Promise<void> | undefined {
    const { slot, options } = hop;
    if (slot?.leaveNow() === false) return slot.leave(options.signal).then(() => this.#started(hop));
    this.#started(hop);
    return undefined;
  }

  #started(hop: Hop): void {
    if (reachesSite(hop.url)) hop.startedAt ??= this.#asked.requestStart;
  }

  /**
   * Looks at the header of an answer.
   *
   * @returns the refusal of an answer whose header fields disallow the purpose of the guard. Its body must not be read.
   */
  look(hop: Hop, status: number, headers: AnswerFields): Refusal | undefined {
    hop.slot?.answered({ status, headers });
    const refusal = this.#look(hop, status, headers);
    this.#events.responded(hop, status, headers, refusal);
    return refusal;
  }

  /**
   * {@link look} and {@link record} at once, for a library that shows no end of the body behind the header, or has read it
   * already.
   */
  conclude(hop: Hop, status: number, headers: AnswerFields): Refusal | undefined {
    this.#answers?.forget(hop);
    hop.slot?.done({ status, headers });
    const refusal = this.#look(hop, status, headers);
    this.#events.responded(hop, status, headers, refusal);
    return refusal;
  }

  #look(hop: Hop, status: number, headers: AnswerFields): Refusal | undefined {
    hop.status = status;
    const { decision } = hop;
    this.reports.answered(hop.url, status, headers, decision?.origin);
    if (status === 402) this.#events.paymentRequired(hop.url);
    if (this.#settings.purpose === undefined || decision?.allowed !== true || hop.refusalReported)
      return undefined;
    if (redirects(status, headers)) return undefined;
    const refused = this.#usage.refuse(decision, usageHeaders(headers));
    return refused && this.#refuse(hop, refused);
  }

  /** The request failed, before or after its answer began. */
  fail(hop: Hop, error: unknown): void {
    // A site whose body breaks off has answered, so it is reachable.
    if (hop.status === undefined) this.reports.failed(hop.url, error, hop.options.signal);
    this.#events.failed(hop, error);
    this.record(hop);
  }

  /** The request is over, as far as its library shows: its slot ends. Called once for each request that was admitted. */
  record(hop: Hop): void {
    this.#answers?.forget(hop);
    hop.slot?.done();
    this.#events.failed(hop);
  }

  /**
   * Looks a link up in memory, before a crawler queues it.
   *
   * @returns the decision that keeps the link out. While robots.txt is unreachable it is not kept out, because that may
   * have changed when its turn comes.
   */
  lookUp(url: string): Decision | undefined {
    if (!URL.canParse(url) || !reachesSite(url)) return undefined;
    if (this.#settings.filter?.(new URL(url)) === false) return undefined;
    const decision = this.#asked.decideFromMemory(url);
    if (decision === undefined || decision.reason === 'unreachable') return undefined;
    this.#events.lookedUp(decision);
    return decision.allowed ? undefined : decision;
  }

  /** The refusal of `url` by what is in memory. Nobody is told of it. */
  refusalInMemory(url: string): Refusal | undefined {
    if (!URL.canParse(url) || !reachesSite(url)) return undefined;
    const decision = this.#asked.decideFromMemory(url);
    return decision?.allowed === false ? refusalFor(decision) : undefined;
  }

  #decide(hop: Hop): Decision | Promise<Decision> {
    // A serialised string is faster to read than a URL.
    const url = typeof hop.url === 'string' ? hop.url : hop.url.href;
    const decided = this.#asked.decide(url, hop.options.signal);
    if (!(decided instanceof Promise)) return (hop.decision = decided);
    return decided.then(async (decision) => {
      await this.#afterAsking?.();
      hop.options.signal?.throwIfAborted();
      return (hop.decision = decision);
    });
  }

  #paceOrRefuse(hop: Hop, decision: Decision): Refusal | undefined | Promise<Refusal | undefined> {
    const refused = this.#refusedBy(decision);
    const { pace, enforces } = this.#settings;
    const isSent = refused === undefined || !enforces;
    if (!isSent || pace === undefined || hop.options.waits === false) return this.#tell(hop, refused);
    const taken = this.#takeSlot(decision, pace, hop.options);
    if (taken instanceof Promise) return this.#waitForSlot(hop, taken, refused);
    hop.slot = taken;
    return this.#tell(hop, refused);
  }

  /** A promise when the request has to wait, or will not get a slot. */
  #takeSlot(decision: Decision, pace: Pace, options: HopOptions): TakenSlot | Promise<TakenSlot> {
    const { maxDelayMs = Infinity, signal } = options;
    const limited = maxDelayMs < pace.maxDelayMs ? { ...pace, maxDelayMs } : pace;
    try {
      return this.#asked.takeSlot(decision, limited, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Waits for the slot of a request. The rules may have changed after that, so it is decided again. */
  async #waitForSlot(
    hop: Hop,
    taking: Promise<TakenSlot>,
    refusedAtFirst: Decision | undefined,
  ): Promise<Refusal | undefined> {
    let refused = refusedAtFirst;
    try {
      hop.slot = await taking;
      if (hop.slot.waitedMs > 0) refused = this.#refusedBy(await this.#decide(hop));
    } catch (error) {
      hop.slot?.release();
      this.#events.decided(hop, refused);
      if (!hop.isRedirected || !(error instanceof RobotsDeferredError)) throw error;
      throw new RobotsDeferredError(error.decision, error, hop.way);
    }
    return this.#tell(hop, refused);
  }

  /** Tells of a request whose decision is final, once however long it waited. Returns the refusal. */
  #tell(hop: Hop, refused: Decision | undefined): Refusal | undefined {
    this.#events.decided(hop, refused);
    const refusal = refused && this.#refuse(hop, refused);
    if (refusal !== undefined) hop.slot?.release();
    return refusal;
  }

  /** The decision that refuses a request: that of robots.txt, or with a purpose one about the use of the page. */
  #refusedBy(decision: Decision): Decision | undefined {
    return decision.allowed ? this.#usage.refuse(decision) : decision;
  }

  /** Tells of a refusal. Returns it, unless this is a dry run. */
  #refuse(hop: Hop, refused: Decision): Refusal | undefined {
    hop.refusalReported = true;
    this.#events.refused(refused, hop.way);
    return this.#settings.enforces ? hop.refusalBy(refused) : undefined;
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
