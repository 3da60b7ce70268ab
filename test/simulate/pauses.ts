import { setImmediate } from 'node:timers/promises';
import { random } from '../bench/files.ts';
import type { Decision } from '../../src/core/decision/index.ts';
import { paceOf, type PageResponse, type PacingOptions } from '../../src/core/pacing/index.ts';
import { Pacer } from '../../src/core/pacing/pacer.ts';
import { nextPause } from '../../src/core/pacing/pause.ts';
import { virtualClock, type VirtualClock } from '../../src/extras/testing/index.ts';

/**
 * A day of 10,000 sites, each with 60 pages that are crawled from some time of the day on. Three in a hundred sites answer
 * 429 in bursts of one to ten minutes, after 10 to 30 pages each; every second burst names its end. A page that was
 * answered 429 is asked for again. Answers take 100 to 400 ms.
 */
const SITES = 10_000;
const PAGES = 60;
const BUSY_SHARE = 0.03;
const DAY_MS = 24 * 60 * 60 * 1000;
const BACK_OFF = { firstMs: 30_000, maxMs: 3_600_000 };

interface Tally {
  pages: number;
  busy: number;
  /** Requests that left during a pause as the rules of pacing make it, whether the crawler knows it or not. */
  intoPause: number;
  /** The time that sites with bursts took, from the first request to the last page. */
  busyMs: number;
  busyPages: number;
}

/** A site that answers 429 now and then. */
class BurstingSite {
  readonly #next: () => number;
  #calmLeft: number;
  #burstUntil = -Infinity;
  #namesEnd = false;

  constructor(next: () => number) {
    this.#next = next;
    this.#calmLeft = 10 + Math.floor(next() * 20);
  }

  answer(now: number): PageResponse {
    if (now >= this.#burstUntil && this.#calmLeft-- > 0) return { status: 200 };
    if (now >= this.#burstUntil) {
      this.#burstUntil = now + 60_000 * (1 + 9 * this.#next());
      this.#namesEnd = !this.#namesEnd;
      this.#calmLeft = 10 + Math.floor(this.#next() * 20);
    }
    const leftSeconds = Math.ceil((this.#burstUntil - now) / 1_000);
    return { status: 429, headers: this.#namesEnd ? { 'retry-after': String(leftSeconds) } : {} };
  }
}

/** Crawls all pages of one site, one after the other. */
async function crawl(
  pacer: Pacer,
  clock: VirtualClock,
  index: number,
  pacing: PacingOptions,
  tally: Tally,
): Promise<void> {
  const next = random(index + 1);
  const site = next() < BUSY_SHARE ? new BurstingSite(next) : undefined;
  const decision = { origin: `https://site-${index}.example`, robots: {} } as Decision;
  const pace = paceOf(pacing, Infinity);
  const signal = new AbortController().signal;
  const startedAt = clock.now();
  let pause: ReturnType<typeof nextPause>;
  for (let left = PAGES; left > 0;) {
    const slot = await pacer.acquire(decision, pace, undefined);
    if (!slot.tryStart()) await slot.start();
    const startAt = clock.now();
    if (pause !== undefined && startAt < pause.until) tally.intoPause++;
    await clock.sleep(100 + Math.floor(300 * next()), signal);
    const answer = site?.answer(clock.now()) ?? { status: 200 };
    if (answer.status === 200) {
      left--;
      tally.pages++;
    } else {
      tally.busy++;
      const asked = Number(Reflect.get(Object(answer.headers), 'retry-after') ?? Number.NaN);
      const askedMs = Number.isNaN(asked) ? undefined : asked * 1_000;
      const signals = { startedAt: startAt, askedMs, backOff: BACK_OFF, random: () => 0.5 };
      pause = nextPause(pause, { now: clock.now(), ...signals }) ?? pause;
    }
    // The crawler without back-off does not read `Retry-After` either.
    slot.done(pacing.backOff === false ? {} : answer);
  }
  if (site === undefined) return;
  tally.busyMs += clock.now() - startedAt;
  tally.busyPages += PAGES;
}

/** The rows of a table: a crawler that backs off, and one that only keeps the gap. */
export async function simulatePauses(): Promise<string[][]> {
  const rows = [
    [
      'crawler',
      'pages',
      'pages/s',
      'requests answered 429',
      'requests into a pause',
      'pages/s of a site with bursts',
    ],
  ];
  const crawlers: readonly (readonly [string, PacingOptions])[] = [
    ['`pacing: true`', {}],
    ['without back-off', { backOff: false }],
  ];
  for (const [name, pacing] of crawlers) {
    const clock = virtualClock();
    const startedAt = clock.now();
    const pacer = new Pacer({ clock, random: () => 0.5, maxOrigins: SITES });
    const tally: Tally = { pages: 0, busy: 0, intoPause: 0, busyMs: 0, busyPages: 0 };
    const crawls: Promise<void>[] = [];
    for (let site = 0; site < SITES; site++) {
      await clock.advance(startedAt + Math.floor((site / SITES) * DAY_MS) - clock.now());
      crawls.push(crawl(pacer, clock, site, pacing, tally));
    }
    const crawled = { all: false };
    void Promise.all(crawls).then(() => (crawled.all = true));
    while (!crawled.all) {
      await clock.advance(60_000);
      await setImmediate();
    }
    const seconds = (clock.now() - startedAt) / 1_000;
    rows.push([
      name,
      String(tally.pages),
      (tally.pages / seconds).toFixed(1),
      String(tally.busy),
      String(tally.intoPause),
      (tally.busyPages / (tally.busyMs / 1_000)).toFixed(3),
    ]);
  }
  return rows;
}
