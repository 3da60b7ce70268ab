import { describe, expect, it } from 'vitest';
import {
  paceOf,
  type PageResponse,
  type RequestPermit,
  RobotsDeferredError,
} from '../../../src/core/pacing/index.ts';
import { Pacer } from '../../../src/core/pacing/pacer.ts';
import { START } from '../../support/client.ts';
import { Chance, SEED } from '../../support/random.ts';
import { runs } from '../../support/thorough.ts';
import { decisionFor } from './support.ts';

/** Two origins of one host: they share everything but the gap that each states. */
const ORIGINS = ['https://a.example', 'http://a.example'];
const MINUTE = 60_000;
const SEQUENCES = runs(500);

/** A clock that can be set, and timers, which do not care. */
class SettableClock {
  /** The time that the clock shows. */
  shown = START;
  /** The time as it should count: all that passed, and forward jumps. */
  counted = 0;
  #passed = 0;
  readonly #sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();

  readonly now = (): number => this.shown;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const sleeper = {
        until: this.#passed + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });

  wasSet = false;

  set(byMs: number): void {
    this.wasSet = true;
    this.shown += byMs;
    this.counted += Math.max(0, byMs);
  }

  /** Lets `ms` pass, and stops at each time that a request waits for. */
  async pass(ms: number): Promise<void> {
    const end = this.#passed + ms;
    for (;;) {
      await settled();
      const next = Math.min(end, ...Array.from(this.#sleepers, ({ until }) => until));
      this.shown += next - this.#passed;
      this.counted += next - this.#passed;
      this.#passed = next;
      for (const sleeper of [...this.#sleepers]) if (sleeper.until <= next) sleeper.wake();
      if (next === end) return settled();
    }
  }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 30; turns++) await Promise.resolve();
}

/** What must hold, in the plainest words: it knows nothing of lines and schedules. */
class Model {
  readonly concurrency: number;
  readonly statuses: readonly number[];
  lastAt = -Infinity;
  lastGapMs = 0;
  latencyGapMs = 0;
  readonly underWay = new Map<
    object,
    { readonly startedAt: number; freeAt: number; hasResponse?: boolean }
  >();
  pause = { from: -Infinity, until: -Infinity, incident: 0 };

  constructor(concurrency: number, statuses: readonly number[]) {
    this.concurrency = concurrency;
    this.statuses = statuses;
  }

  left(request: object, gapMs: number, at: number, heldMs: number): void {
    expect(at - this.lastAt).toBeGreaterThanOrEqual(Math.max(gapMs, this.lastGapMs, this.latencyGapMs));
    expect(at).toBeGreaterThanOrEqual(this.pause.until);
    expect(this.heldAt(at)).toBeLessThan(this.concurrency);
    this.underWay.set(request, { startedAt: at, freeAt: at + heldMs });
    this.lastAt = at;
    this.lastGapMs = gapMs;
  }

  heldAt(now: number): number {
    return [...this.underWay.values()].filter(({ freeAt }) => freeAt > now).length;
  }

  answered(startedAt: number, at: number, askedMs: number | undefined): void {
    if (startedAt <= this.pause.from) {
      if (askedMs !== undefined) this.pause.until = Math.max(this.pause.until, at + askedMs);
      return;
    }
    const incident = at - this.pause.until >= 30 * MINUTE ? 1 : this.pause.incident + 1;
    const guessedMs = Math.min(30_000 * 2 ** (incident - 1), 60 * MINUTE);
    const until = Math.max(this.pause.until, at + (askedMs ?? guessedMs));
    this.pause = { from: at, until, incident };
  }
}

/** A request that has started, or is booked. */
interface StartedPage {
  readonly slot: Pick<RequestPermit, 'done'> & Partial<Pick<RequestPermit, 'responded' | 'bodyRead'>>;
  readonly startedAt: number;
  readonly key: object;
  readonly latencyFactor: number;
  readonly maxDelayMs: number;
  isMeasured?: boolean;
}

/** One crawl of one host, with everything that may go wrong. */
class Crawl {
  readonly clock = new SettableClock();
  readonly model: Model;
  readonly #pacer: Pacer;
  readonly #next: () => number;
  readonly #left: StartedPage[] = [];
  readonly #gaps: readonly number[];
  readonly #latencyFactor: number;
  readonly #waiting = new Set<AbortController>();
  #asked = 0;
  #lastLeft = -1;
  #released = 0;
  pending = 0;
  readonly failures: unknown[] = [];

  constructor(seed: number) {
    const chance = new Chance(seed);
    this.#next = () => chance.next();
    this.model = new Model(this.#one([1, 1, 2, 3]), this.#one([[429, 503], [429, 503], [420]]));
    this.#gaps = ORIGINS.map(() => this.#one([0, 100, 1_000]));
    this.#latencyFactor = this.#one([0, 0, 2]);
    this.#pacer = new Pacer({ clock: this.clock, random: () => 0.5, maxOrigins: 4 });
  }

  async act(): Promise<void> {
    this.#released = 0;
    const kind = this.#next();
    if (kind < 0.35) this.ask(this.#one([0, 1_000, 300_000, Infinity]), this.#next());
    else if (kind < 0.6) this.#answer();
    else if (kind < 0.65) this.#abort();
    else if (kind < 0.7) this.#book();
    else if (kind < 0.78) this.#stream();
    else if (kind < 0.82) this.clock.set(this.#one([-3_600_000, -5_000, -7, 7, 5_000, 3_600_000]));
    else await this.clock.pass(this.#one([1, 99, 450, 1_000, 20_000, 31_000, 40 * MINUTE]));
    await settled();
  }

  ask(maxDelayMs: number, fate = 1): void {
    const leaving = new AbortController();
    const turn = this.#asked++;
    this.pending++;
    this.#waiting.add(leaving);
    const { gapMs, decision } = this.#page();
    const pace = this.#pace(maxDelayMs);
    // It throws when it need not wait to know.
    const take = async (): Promise<RequestPermit> => this.#pacer.acquire(decision, pace, leaving.signal);
    take()
      .then(async (slot) => {
        if (fate < 0.1) {
          this.#released++;
          return slot.release();
        }
        // At the same instant the order is that of promises.
        if (this.clock.counted > this.model.lastAt) expect(turn).toBeGreaterThan(this.#lastLeft);
        this.#lastLeft = Math.max(this.#lastLeft, turn);
        const startedAt = this.clock.counted;
        this.model.left(slot, gapMs, startedAt, 10 * MINUTE);
        this.#left.push({ slot, startedAt, key: slot, ...pace });
      })
      .catch((error: unknown) => {
        if (leaving.signal.aborted) expect(error).toBe(leaving.signal.reason);
        else this.#judge(error, maxDelayMs);
      })
      .catch((error: unknown) => this.failures.push(error))
      .finally(() => {
        this.pending--;
        this.#waiting.delete(leaving);
      });
  }

  /** Ends everything, and sees that nothing is left over: a request that has all the time leaves. */
  async end(): Promise<void> {
    while (this.#left.length > 0) this.#answer();
    for (let hours = 0; hours < 12 && this.pending > 0; hours++) {
      await this.clock.pass(60 * MINUTE);
      while (this.#left.length > 0) this.#answer();
    }
    expect(this.pending).toBe(0);
    await this.clock.pass(3 * 60 * MINUTE);
    this.ask(0);
    await settled();
    expect(this.#left).toHaveLength(1);
    this.#pacer.close(new Error('closed'));
  }

  #answer(): void {
    const index = Math.floor(this.#next() * this.#left.length);
    for (const request of this.#left.splice(index, 1)) {
      const { slot, startedAt, key } = request;
      const kind = this.#next();
      if (kind < 0.1) slot.done();
      else if (kind < 0.7) {
        slot.done({ status: 200, headers: { 'retry-after': '9' } });
        this.#measure(request);
      } else {
        const retryAfter = this.#one([undefined, undefined, '0', '-3', 'soon', '2', '60']);
        const askedMs = retryAfter === '2' ? 2_000 : retryAfter === '60' ? 60_000 : undefined;
        const answer: PageResponse = {
          status: this.#one([...this.model.statuses, 403]),
          headers: retryAfter === undefined ? {} : { 'Retry-After': retryAfter },
        };
        // The end of a connection is often reported before the response.
        if (this.#next() < 0.3) slot.done();
        slot.done(answer);
        slot.done({ status: 429, headers: { 'retry-after': '3600' } });
        this.#measure(request);
        this.model.answered(startedAt, this.clock.counted, askedMs);
      }
      this.model.underWay.delete(key);
    }
  }

  /** A deferral names a cause that is true, and a time to come. */
  #judge(error: unknown, maxDelayMs: number): void {
    expect(error).toBeInstanceOf(RobotsDeferredError);
    const { delayFrom, retryAt } = error as RobotsDeferredError;
    const now = this.clock.counted;
    expect(retryAt).toBeGreaterThan(this.clock.shown);
    expect(maxDelayMs).toBeLessThan(Infinity);
    if (delayFrom === 'retry-after' || delayFrom === 'back-off') {
      if (!this.clock.wasSet) expect(this.model.pause.until).toBeGreaterThan(now);
    } else if (delayFrom === 'concurrency') {
      // A permit may have ended since. Others may have one and not have started, or have just released it. After the clock was set, permits may last longer, and those that wait have not looked at it yet.
      const others = this.clock.wasSet ? Infinity : this.pending - 1 + this.#released;
      expect(this.model.underWay.size + others).toBeGreaterThanOrEqual(this.model.concurrency);
    } else if (delayFrom === 'latency') expect(this.#latencyFactor).toBeGreaterThan(0);
    else expect(Math.max(...this.#gaps)).toBeGreaterThan(0);
  }

  /** The header of a response has come, or its end. */
  #measure(request: StartedPage): void {
    const { startedAt, latencyFactor, maxDelayMs } = request;
    if (latencyFactor === 0 || request.isMeasured === true) return;
    request.isMeasured = true;
    // A clock that was set in the meantime measures something else.
    const latencyMs = this.clock.wasSet ? 0 : Math.max(0, this.clock.counted - startedAt);
    this.model.latencyGapMs = Math.min(
      Math.round(latencyMs * latencyFactor),
      Math.min(maxDelayMs, 5 * MINUTE),
    );
  }

  #page(): { readonly gapMs: number; readonly decision: ReturnType<typeof decisionFor> } {
    const index = Math.floor(this.#next() * ORIGINS.length);
    const gapMs = this.#gaps[index]!;
    return { gapMs, decision: decisionFor(ORIGINS[index]!, gapMs) };
  }

  #pace(maxDelayMs: number): ReturnType<typeof paceOf> {
    const { concurrency, statuses } = this.model;
    const options = {
      pauseOnRefusal: true,
      concurrency,
      backOff: { statuses },
      latencyFactor: this.#latencyFactor,
    };
    return paceOf(options, maxDelayMs);
  }

  /** The body of a response comes, and holds its permit 30 s more. */
  #stream(): void {
    const request = this.#left[Math.floor(this.#next() * this.#left.length)];
    const { slot, key } = request ?? {};
    const held = this.model.underWay.get(key ?? {});
    if (slot?.responded === undefined || held === undefined || held.freeAt <= this.clock.counted) return;
    if (held.hasResponse) slot.bodyRead?.();
    else {
      slot.responded({ status: 200 });
      if (request !== undefined) this.#measure(request);
    }
    held.hasResponse = true;
    held.freeAt = this.clock.counted + 30_000;
  }

  #abort(): void {
    const [first] = this.#waiting;
    first?.abort(new Error('left'));
  }

  #book(): void {
    const { gapMs, decision } = this.#page();
    const pace = this.#pace(Infinity);
    const result = this.#pacer.book(decision, pace, undefined);
    if (result instanceof Promise || result.status !== 'booked') return;
    if (this.#next() < 0.3) return result.release();
    const startedAt = this.clock.counted + result.waitMs;
    // Until its time comes no other request may start, and a pause that begins meanwhile cannot be seen here.
    this.model.left(result, gapMs, startedAt, 30_000);
    this.#left.push({ slot: result, startedAt, key: result, ...pace });
  }

  #one<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#next() * values.length)]!;
  }
}

describe('for any answers, delays, aborts and clocks', () => {
  it('no two requests are closer than the gap, no more are under way than allowed, none leaves in a pause, all places come back', async () => {
    for (let seed = SEED; seed < SEED + SEQUENCES; seed++) {
      const crawl = new Crawl(seed);
      try {
        for (let steps = 0; steps < 30; steps++) await crawl.act();
        await crawl.end();
        for (const failure of crawl.failures) throw failure;
      } catch (error) {
        throw new Error(`Sequence ${seed} failed`, { cause: error });
      }
    }
  }, 300_000);
});
