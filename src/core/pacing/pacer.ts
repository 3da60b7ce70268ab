import {
  type Clock,
  codeOf,
  headerField,
  omitUndefined,
  urlWithoutUserinfo,
  warnOnce,
} from '../base/index.ts';
import type { Decision, OriginPacing, Pause, PauseMessage, SentRequest } from '../decision/index.ts';
import { asksForPause, gatekeeperIn, priceIn } from '../lifecycle/index.ts';
import { requestRate, type RobotsFile } from '../rules/index.ts';
import { RobotsDeferredError } from './deferred.ts';
import type { Fleet } from './fleet-slots.ts';
import { defaultGap, type Gap, gapOf } from './gap.ts';
import { hostOf, type Pace, paceOf } from './options.ts';
import { PacingClock } from './pacing-clock.ts';
import {
  askedPauseMs,
  askedPauseOf,
  isEdgeRefusal,
  type PageResponse,
  type PauseSignal,
} from './pause-length.ts';
import { type Permit, MIN_RETRY_MS, type Deferral, NO_RESPONSE_TTL_MS, PERMIT_TTL_MS } from './starts.ts';
import type { PacingQueue } from './queue.ts';
import { PacingQueues, type PacingTotals, scopeOf } from './queues.ts';
import {
  HeldPermit,
  type Learnt,
  longestGapMs,
  type RequestPermit,
  type Reservation,
} from './request-permit.ts';

export interface PacerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxOrigins: number;
  /** The schedule of a fleet. While it cannot be reached the client uses its own. */
  readonly fleet?: Fleet | undefined;
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
export class Pacer {
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
  book(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Reservation | Promise<Reservation> {
    const now = this.clock.now();
    const queue = this.#queueFor(decision, pace, now);
    const gap = this.#gapOf(decision, pace);
    if (queue === undefined) return this.#deferredBooking(decision, gap, limitReached(gap, now));
    const permit = this.#permitFor(decision, pace, gap, now, {
      isBooking: true,
      ttlMs: PERMIT_TTL_MS,
      onExpiry: undefined,
    });
    const settled = (deferral: Deferral | undefined): Reservation =>
      deferral === undefined
        ? this.#booked(permit, queue, decision)
        : this.#deferredBooking(decision, gap, deferral);
    const acquired = queue.acquire(permit, now, signal);
    return acquired instanceof Promise ? acquired.then(settled) : settled(acquired);
  }

  /**
   * Acquires the permit of a request, which starts now. A promise only when it has to wait: the start is then when that
   * resolves.
   *
   * @param endsByItself Whether the permit ends 30 seconds after its start, as that of a booking does. A guard ends its own.
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  acquire(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
    endsByItself = false,
  ): RequestPermit | Promise<RequestPermit> {
    const now = this.clock.now();
    const queue = this.#queueFor(decision, pace, now);
    const gap = this.#gapOf(decision, pace);
    if (queue === undefined) throw this.#deferred(decision, limitReached(gap, now), true);
    const ttlMs = endsByItself ? PERMIT_TTL_MS : NO_RESPONSE_TTL_MS;
    const onExpiry = endsByItself ? () => warnOfPermit(decision.url) : undefined;
    const permit = this.#permitFor(decision, pace, gap, now, { isBooking: false, ttlMs, onExpiry });
    const settled = (deferral: Deferral | undefined): RequestPermit => {
      if (deferral !== undefined) throw this.#deferred(decision, deferral);
      return new HeldPermit(permit, queue, this.clock, this.#learn, permit.at - now);
    };
    const acquired = queue.acquire(permit, now, signal);
    return acquired instanceof Promise ? acquired.then(settled) : settled(acquired);
  }

  /** Learns what the response to a request says. */
  readonly #learn = (permit: Permit, { scope }: PacingQueue, response: PageResponse): Learnt => {
    const { origin, pace, at: startedAt } = permit;
    const { status } = response;
    const isNotNow = asksForPause(status, pace.statuses);
    if (!isNotNow && !(pace.pauseOnRefusal && isEdgeRefusal(response))) return { pauses: false };
    const askedMs = askedPauseOf(response, this.#options.clock.now());
    const now = this.clock.now();
    // The queue of a request that took very long may have been removed.
    const queue = this.#queues.get(scope, origin, now);
    this.#pause(queue, origin, now, { askedMs, startedAt, backOff: pace.backOff, status });
    if (!isNotNow) return { pauses: true };
    if (pace.learn) queue?.starts.learnGap(permit, now, longestGapMs(pace.maxDelayMs));
    const until = queue?.starts.pauseAt(now)?.until;
    return { pauses: true, retryAt: until && Math.ceil(this.clock.epochMs(until)) };
  };

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
    const pause = this.#queues.peek(this.#scopeOf(origin))?.starts.pauseAt(this.clock.now());
    return pause && this.#inEpochMs(pause);
  }

  /** The requests that share the schedule of an origin. */
  queueOf(origin: string): Pick<PacingQueue, 'waiting' | 'waitsForEnd'> | undefined {
    return this.#queues.peek(this.#scopeOf(origin));
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
      .filter(({ waiting, starts }) => waiting > 0 || starts.pauseAt(now) !== undefined)
      .map((queue) => this.#describe(queue, gapOf({}, undefined, DEFAULT_PACE)))
      .sort((one, other) => other.waiting - one.waiting);
  }

  #describe(queue: PacingQueue, unknownGap: Gap): OriginPacing {
    const now = this.clock.now();
    const next = queue.nextStart(now, unknownGap);
    const pause = queue.starts.pauseAt(now);
    return {
      scope: queue.scope,
      waiting: queue.waiting,
      inFlight: queue.starts
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
    return this.#queues.get(this.setPace(decision, pace), decision.origin, now);
  }

  /** Says how the pages of an origin are paced. Returns their scope. */
  setPace(page: Pick<Decision, 'url' | 'origin'>, pace: Pace): string {
    const { origin } = page;
    const known = this.#paces.get(origin);
    // Only a function may tell the pages of an origin apart.
    if (known?.pace === pace && typeof pace.scope !== 'function') return known.scope;
    const scope = scopeOf(pace.scope, page);
    if (known?.scope !== scope || known.pace !== pace) {
      if (this.#paces.size >= this.#options.maxOrigins) {
        const [oldest = ''] = this.#paces.keys();
        this.#paces.delete(oldest);
      }
      this.#paces.set(origin, { scope, pace });
    }
    return scope;
  }

  #scopeOf(origin: string): string {
    return this.#paces.get(origin)?.scope ?? hostOf(origin);
  }

  #permitFor(
    decision: Decision,
    pace: Pace,
    gap: Gap,
    now: number,
    { isBooking, ttlMs, onExpiry }: Pick<Permit, 'isBooking' | 'ttlMs' | 'onExpiry'>,
  ): Permit {
    const { url, origin } = decision;
    const { fetchedAt } = decision.robots;
    const { defaultDelayMs } = pace;
    // The request for robots.txt counts as one. It could not be paced itself, because the delay was unknown: behind a long
    // one a program that lives for a minute would get no page at all. A future time means that the clock was set back since.
    const gapToRobots = gap.delayMs > defaultDelayMs ? defaultGap(defaultDelayMs) : gap;
    const robotsAt = fetchedAt === undefined ? -Infinity : this.clock.fromEpochMs(fetchedAt);
    const notBefore = robotsAt > now ? -Infinity : robotsAt + gapToRobots.delayMs;
    // All have one shape, written out: a spread takes ten times as long.
    return {
      url,
      origin,
      pace,
      gap,
      notBefore,
      gapToRobots,
      isBooking,
      ttlMs,
      onExpiry,
      deadline: now + (isBooking ? pace.maxDelayMs : pace.maxTotalWaitMs),
      firstAt: undefined,
      delayFrom: gap.delayFrom,
      slot: undefined,
      at: now,
      countsFrom: now,
      isCold: false,
      expiresAt: now,
      isReleased: false,
      previousStart: undefined,
    };
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
    const before = queue.starts.pauseAt(now);
    const pause = queue.pause({ ...signal, now, random });
    if (pause === undefined) return;
    onPause?.({ scope: queue.scope, origin, ...this.#inEpochMs(pause) }, pause.from !== before?.from);
  }

  #deferralOf(decision: Decision, { retryAt, delayFrom, causeMs }: Deferral): Deferral {
    const deferral = { retryAt: Math.ceil(this.clock.epochMs(retryAt)), delayFrom };
    this.#options.onDeferral?.(decision, deferral);
    return { ...deferral, causeMs };
  }

  #deferredBooking(decision: Decision, { delayMs }: Gap, deferral: Deferral): Reservation {
    const waitMs = Math.ceil(deferral.retryAt - this.clock.now());
    const { retryAt, delayFrom } = this.#deferralOf(decision, deferral);
    return { status: 'deferred', decision, delayMs, waitMs, retryAt, delayFrom };
  }

  #booked(permit: Permit, queue: PacingQueue, decision: Decision): Reservation {
    const { gap, delayFrom, at } = permit;
    const held = new HeldPermit(permit, queue, this.clock, this.#learn, 0);
    let isReported = false;
    return {
      status: 'booked',
      decision,
      delayMs: gap.delayMs,
      delayFrom,
      at: this.clock.epochMs(at),
      waitMs: Math.max(0, at - this.clock.now()),
      done: (response) => {
        const startedAt = this.#startOf(permit, response);
        if (startedAt > at) queue.starts.sent(permit, startedAt);
        held.done(response);
        if (!isReported)
          this.#options.onBookedRequest?.(
            this.#sentRequest(held, permit, decision.origin, startedAt, response),
          );
        isReported = true;
      },
      release: () => held.release(),
    };
  }

  /** When the request of a booking was sent: as the caller says, else at its time. Not later than now. */
  #startOf({ at }: Permit, { startedAt = NaN }: PageResponse = {}): number {
    return Math.min(Number.isFinite(startedAt) ? this.clock.fromEpochMs(startedAt) : at, this.clock.now());
  }

  #sentRequest(
    { pacing }: HeldPermit,
    { url, pace }: Permit,
    origin: string,
    startedAt: number,
    response: PageResponse = {},
  ): SentRequest {
    const { status, headers, error } = response;
    return omitUndefined({
      url,
      origin,
      startedAt: Math.round(this.clock.epochMs(startedAt)),
      status,
      error: status === undefined && error !== undefined ? codeOf(error) : undefined,
      retryAfter: asksForPause(status, pace.statuses) ? headerField(headers, 'retry-after') : undefined,
      gatekeeper: gatekeeperIn(response),
      price: status === 402 ? priceIn(headers) : undefined,
      pacing,
    });
  }

  #inEpochMs(pause: Pause): Pause {
    return {
      ...pause,
      from: this.clock.epochMs(pause.from),
      until: Math.ceil(this.clock.epochMs(pause.until)),
    };
  }
}

function warnOfPermit(url: string): void {
  warnOnce(
    `Expected \`done()\` or \`release()\` of the permit for ${urlWithoutUserinfo(url)}, but neither was called for ` +
      `${PERMIT_TTL_MS / 1_000} s: it was held all that time`,
    'CANFETCH_PERMIT_NOT_ENDED',
  );
}

/** The deferral of a request to an origin that has no queue, because the maximum of queues is in use. */
function limitReached({ delayMs }: Gap, now: number): Deferral {
  return { retryAt: now + Math.max(MIN_RETRY_MS, delayMs), delayFrom: 'concurrency', causeMs: undefined };
}
