import { type Clock, codeOf, headerField, omitUndefined } from '../base/index.ts';
import type { Decision, OriginPacing, Pause, PauseMessage, SentRequest } from '../decision/index.ts';
import { asksForPause, gatekeeperIn, priceIn } from '../lifecycle/index.ts';
import { requestRate, type RobotsFile } from '../rules/index.ts';
import { RobotsDeferredError } from './deferred.ts';
import { hostOf, type Pace, paceOf } from './options.ts';
import { PacingClock } from './pacing-clock.ts';
import { askedPauseMs, isEdgeRefusal, type PageResponse, type PauseSignal } from './pause.ts';
import { PagePermit, type PermitContext, type RequestPermit, type Reservation } from './permit.ts';
import type { FleetSchedule, PacingQueue } from './queue.ts';
import { PacingQueues, type PacingTotals, scopeOf } from './queues.ts';
import { type Deferral, type Gap, gapOf, MIN_RETRY_MS } from './schedule.ts';

type Settled = Exclude<Reservation, { status: 'refused' }>;

export interface PacerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxOrigins: number;
  /** The schedule of a fleet. While it cannot be reached the client uses its own. */
  readonly fleet?: FleetSchedule | undefined;
  /** The file that a decision rests on, for its `Request-rate`. */
  readonly fileOf?: (decision: Decision) => RobotsFile | undefined;
  /** Called when a request is deferred. */
  readonly onDeferral?: (decision: Decision, deferral: Omit<Deferral, 'causeMs'>) => void;
  /** Called when a pause begins here, and when it becomes longer, or another member of the fleet learnt of it. */
  readonly onPause?: (pause: Omit<PauseMessage, 'client'>, begins: boolean) => void;
  /** Called when the request of a booking has ended. */
  readonly onBookedRequest?: (request: SentRequest) => void;
}

/** The delays of a policy. */
interface StatedDelays {
  readonly crawlDelayMs?: number;
  readonly requestRateMs?: number;
}

const DEFAULT_PACE = paceOf({}, Infinity);

/** Lets requests start when they may. */
export class Pacer implements PermitContext {
  readonly clock: PacingClock;
  readonly #options: PacerOptions;
  readonly #queues: PacingQueues;
  /** Files without `Request-rate` for these agents, as nearly all are: each is read once for it. */
  readonly #withoutRate = new WeakMap<RobotsFile, Set<string>>();
  /** How the pages of an origin were paced last. */
  readonly #paces = new Map<string, { readonly scope: string; readonly pace: Pace }>();

  constructor(options: PacerOptions) {
    const { maxOrigins, fleet, onPause } = options;
    this.#options = options;
    this.clock = new PacingClock(options.clock);
    this.#queues = new PacingQueues(maxOrigins, {
      clock: this.clock,
      fleet,
      onSharedPause: ({ scope, origin }, pause) =>
        onPause?.({ scope, origin, ...this.#inEpochMs(pause) }, false),
    });
  }

  /**
   * Books a start for the URL of `decision`, allowed or not. Synchronous, unless the fleet has to be asked. Rejects
   * only with the reason of `signal`.
   */
  book(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Settled | Promise<Settled> {
    const now = this.clock.now();
    const queue = this.#queueFor(decision, pace, now);
    const gap = this.#gapOf(decision, pace);
    if (queue === undefined) return this.#deferredBooking(decision, gap, limitReached(gap, now));
    const permit = this.#permitFor(queue, decision, pace, gap, now, true);
    const settled = (deferral: Deferral | undefined): Settled =>
      deferral === undefined ? this.#booked(permit) : this.#deferredBooking(decision, gap, deferral);
    const acquired = queue.acquire(permit, now, signal);
    return acquired instanceof Promise ? acquired.then(settled) : settled(acquired);
  }

  /**
   * Acquires the permit of a request, which starts now. A promise only when it has to wait: the start is then when that
   * resolves.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  acquire(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): RequestPermit | Promise<RequestPermit> {
    const now = this.clock.now();
    const queue = this.#queueFor(decision, pace, now);
    const gap = this.#gapOf(decision, pace);
    if (queue === undefined) throw this.#deferred(decision, limitReached(gap, now), true);
    const permit = this.#permitFor(queue, decision, pace, gap, now, false);
    const acquired = queue.acquire(permit, now, signal);
    if (acquired instanceof Promise) {
      return acquired.then((deferral) => {
        if (deferral !== undefined) throw this.#deferred(decision, deferral);
        permit.waitedMs = permit.at - now;
        return permit;
      });
    }
    if (acquired !== undefined) throw this.#deferred(decision, acquired);
    return permit;
  }

  learn({ decision, pace, at, queue }: PagePermit, response: PageResponse): boolean {
    const { status, headers } = response;
    if (!asksForPause(status, pace.statuses) && !(pace.pauseOnRefusal && isEdgeRefusal(response)))
      return false;
    const askedMs = askedPauseMs(headerField(headers, 'retry-after'), this.#options.clock.now());
    const now = this.clock.now();
    // The queue of a request that took very long may have been removed.
    const current = this.#queues.get(queue.scope, decision.origin, now);
    this.#pause(current, decision.origin, now, { askedMs, startedAt: at, backOff: pace.backOff, status });
    return true;
  }

  /**
   * Learns that the site asked for a pause with this `Retry-After`, in the response to a request that was perhaps not
   * paced, or to one for robots.txt.
   *
   * @param reportedAt Epoch ms. The pause counts from then, not from when the pacer was loaded.
   */
  report(origin: string, retryAfter: string, reportedAt: number, status?: number): void {
    const askedMs = askedPauseMs(retryAfter, reportedAt);
    if (askedMs === undefined) return;
    const leftMs = askedMs - Math.max(0, this.#options.clock.now() - reportedAt);
    if (leftMs <= 0) return;
    const now = this.clock.now();
    const queue = this.#queues.get(this.#scopeOf(origin), origin, now);
    this.#pause(queue, origin, now, { askedMs: leftMs, startedAt: undefined, backOff: false, status });
  }

  /** Whether a response with this status asks for a pause, as the pages of this origin are paced. */
  asksForPause(origin: string, status: number | undefined): boolean {
    return asksForPause(status, this.#paces.get(origin)?.pace.statuses);
  }

  /** The pause of an origin that is known here, in epoch ms. */
  pauseOf(origin: string): Pause | undefined {
    const pause = this.#queues.peek(this.#scopeOf(origin))?.schedule.pauseAt(this.clock.now());
    return pause && this.#inEpochMs(pause);
  }

  /** The requests that share the schedule of an origin. */
  queueOf(origin: string): Pick<PacingQueue, 'waiting' | 'waitsForEnd'> | undefined {
    return this.#queues.peek(this.#scopeOf(origin));
  }

  /** The end of the pause of an origin that is known here, in epoch ms. */
  pausedUntil(origin: string): number | undefined {
    const until = this.#queues.peek(this.#scopeOf(origin))?.schedule.pauseAt(this.clock.now())?.until;
    return until && Math.ceil(this.clock.epochMs(until));
  }

  /**
   * The queue of an origin, and its pause here or in the fleet; `undefined` when nothing is known of it. Never rejects.
   *
   * @param stated The delays that its robots.txt states. They count while no request has set the gap.
   */
  async pacingOf(origin: string, stated: StatedDelays): Promise<OriginPacing | undefined> {
    const { fleet } = this.#options;
    const scope = this.#scopeOf(origin);
    const queue =
      fleet === undefined ? this.#queues.peek(scope) : this.#queues.get(scope, origin, this.clock.now());
    await queue?.askForPause();
    if (queue === undefined || (fleet !== undefined && queue.isIdleAt(this.clock.now()))) return undefined;
    return this.#describe(queue, gapOf(stated, stated.requestRateMs, DEFAULT_PACE));
  }

  /** The queues in which requests wait, or that are in a pause: what slows a crawl. The longest come first. */
  slowed(): readonly OriginPacing[] {
    const now = this.clock.now();
    return this.#queues
      .all()
      .filter(({ waiting, schedule }) => waiting > 0 || schedule.pauseAt(now) !== undefined)
      .map((queue) => this.#describe(queue, gapOf({}, undefined, DEFAULT_PACE)))
      .sort((one, other) => other.waiting - one.waiting);
  }

  #describe(queue: PacingQueue, unknownGap: Gap): OriginPacing {
    const now = this.clock.now();
    const next = queue.nextStart(now, unknownGap);
    const pause = queue.schedule.pauseAt(now);
    return {
      scope: queue.scope,
      waiting: queue.waiting,
      inFlight: queue.schedule
        .inFlightAt(now)
        .map(({ url, at }) => ({ url, startedAt: this.clock.epochMs(at) })),
      ...next,
      nextAt: Math.ceil(this.clock.epochMs(next.nextAt)),
      drainsAt: Math.ceil(this.clock.epochMs(next.drainsAt)),
      ...(pause === undefined ? undefined : { pause: this.#inEpochMs(pause) }),
    };
  }

  totals(): PacingTotals {
    return this.#queues.totals(this.clock.now());
  }

  /** Forgets gaps and pauses. Requests that wait go on. */
  clear(): void {
    this.#queues.clear();
  }

  /** Rejects all waiting requests with `reason`, and forgets all schedules. */
  close(reason: unknown): void {
    this.#queues.close(reason);
  }

  /** The queue of a request. Its scope and pace hold for robots.txt of its origin, too. */
  #queueFor(decision: Decision, pace: Pace, now: number): PacingQueue | undefined {
    const { origin } = decision;
    const scope = scopeOf(pace.scope, decision);
    const known = this.#paces.get(origin);
    if (known?.scope !== scope || known.pace !== pace) {
      if (this.#paces.size >= this.#options.maxOrigins) {
        const [oldest = ''] = this.#paces.keys();
        this.#paces.delete(oldest);
      }
      this.#paces.set(origin, { scope, pace });
    }
    return this.#queues.get(scope, origin, now);
  }

  #scopeOf(origin: string): string {
    return this.#paces.get(origin)?.scope ?? hostOf(origin);
  }

  #permitFor(
    queue: PacingQueue,
    decision: Decision,
    pace: Pace,
    gap: Gap,
    now: number,
    isBooking: boolean,
  ): PagePermit {
    const { fetchedAt } = decision.robots;
    // The request for robots.txt counts as one. It could not be paced itself, because the delay was unknown. A future
    // time means that the clock was set back since.
    const robotsAt = fetchedAt === undefined ? -Infinity : this.clock.fromEpochMs(fetchedAt);
    const notBefore = robotsAt > now ? -Infinity : robotsAt + gap.delayMs;
    return new PagePermit(this, { decision, pace, gap, queue, notBefore, isBooking, now });
  }

  #gapOf(decision: Decision, pace: Pace): Gap {
    return gapOf(decision, this.#requestRateMs(decision), pace);
  }

  #requestRateMs(decision: Decision): number | undefined {
    const file = this.#options.fileOf?.(decision);
    const { agent } = decision;
    if (file === undefined || this.#withoutRate.get(file)?.has(agent) === true) return undefined;
    if (requestRate(file, agent) !== undefined)
      return requestRate(file, agent, { atMs: this.#options.clock.now() });
    this.#withoutRate.set(file, (this.#withoutRate.get(file) ?? new Set()).add(agent));
    return undefined;
  }

  #deferred(decision: Decision, deferral: Deferral, isFull = false): RobotsDeferredError {
    return new RobotsDeferredError(decision, { ...this.#deferralOf(decision, deferral), isFull });
  }

  #pause(
    queue: PacingQueue | undefined,
    origin: string,
    now: number,
    signal: Omit<PauseSignal, 'now' | 'random'>,
  ): void {
    if (queue === undefined) return;
    const { random, onPause } = this.#options;
    const before = queue.schedule.pauseAt(now);
    const pause = queue.learn({ ...signal, now, random });
    if (pause === undefined) return;
    onPause?.({ scope: queue.scope, origin, ...this.#inEpochMs(pause) }, pause.from !== before?.from);
  }

  #deferralOf(decision: Decision, { retryAt, delayFrom, causeMs }: Deferral): Deferral {
    const deferral = { retryAt: Math.ceil(this.clock.epochMs(retryAt)), delayFrom };
    this.#options.onDeferral?.(decision, deferral);
    return { ...deferral, causeMs };
  }

  #deferredBooking(decision: Decision, { delayMs }: Gap, deferral: Deferral): Settled {
    const waitMs = Math.ceil(deferral.retryAt - this.clock.now());
    const { retryAt, delayFrom } = this.#deferralOf(decision, deferral);
    return { status: 'deferred', decision, delayMs, waitMs, retryAt, delayFrom };
  }

  #booked(permit: PagePermit): Settled {
    const { decision, gap, delayFrom, at } = permit;
    let isReported = false;
    return {
      status: 'booked',
      decision,
      delayMs: gap.delayMs,
      delayFrom,
      at: this.clock.epochMs(at),
      waitMs: Math.max(0, at - this.clock.now()),
      done: (response) => {
        permit.at = Math.max(at, this.#startOf(permit, response));
        permit.done(response);
        if (!isReported) this.#options.onBookedRequest?.(this.#sentRequest(permit, response));
        isReported = true;
      },
      release: () => permit.release(),
    };
  }

  /** When the request of a booking was sent: as the caller says, else at its time. Not later than now. */
  #startOf({ at }: PagePermit, { startedAt = NaN }: PageResponse = {}): number {
    return Math.min(Number.isFinite(startedAt) ? this.clock.fromEpochMs(startedAt) : at, this.clock.now());
  }

  #sentRequest(permit: PagePermit, response: PageResponse = {}): SentRequest {
    const { url, decision, pace } = permit;
    const { status, headers, error } = response;
    return omitUndefined({
      url,
      origin: decision.origin,
      startedAt: Math.round(this.clock.epochMs(this.#startOf(permit, response))),
      status,
      error: status === undefined && error !== undefined ? codeOf(error) : undefined,
      retryAfter: asksForPause(status, pace.statuses) ? headerField(headers, 'retry-after') : undefined,
      gatekeeper: gatekeeperIn(response),
      price: status === 402 ? priceIn(headers) : undefined,
      pacing: permit.pacing,
    });
  }

  #inEpochMs(pause: Pause): Pause {
    return { ...pause, from: this.clock.epochMs(pause.from), until: this.clock.epochMs(pause.until) };
  }
}

/** The deferral of a request to an origin that has no queue, because the maximum of queues is in use. */
function limitReached({ delayMs }: Gap, now: number): Deferral {
  return { retryAt: now + Math.max(MIN_RETRY_MS, delayMs), delayFrom: 'concurrency', causeMs: undefined };
}
