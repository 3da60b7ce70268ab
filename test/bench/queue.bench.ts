import { virtualClock } from '../../src/extras/testing/index.ts';
import { type Clock, type Decision, RobotsClient } from '../../src/index.ts';
import { median, type Row, timed, usedBytes } from './measure.ts';

const WAITING = 5_000;
const DEPARTURE_BAR_US = 20;
const ORIGINS = 1_000;
const EACH = 1_000;
const MEMORY_BAR_KB = 1.5;

/** Requests that wait for one origin, and for many. */
export async function* queues(rounds: number): AsyncGenerator<Row> {
  yield await departures('without a gap', 0, rounds);
  yield await departures('a second apart, by a virtual clock', 1_000, rounds);
  yield await memoryOfWaiting();
}

async function departures(way: string, defaultDelayMs: number, rounds: number): Promise<Row> {
  const took: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const clock = defaultDelayMs === 0 ? {} : { clock: virtualClock({ autoAdvance: true }) };
    const robots = clientFor(1, clock);
    const [decision] = await decisionsOf(robots, 1);
    const { processorMs } = await timed(() =>
      Promise.all(Array.from({ length: WAITING }, () => visit(robots, decision!, defaultDelayMs))),
    );
    if (round >= 0) took.push((processorMs * 1_000) / WAITING);
    await robots.close();
  }
  const each = median(took);
  return {
    what: `a request behind ${WAITING.toLocaleString('en')} of its origin`,
    way,
    ours: `${each.toFixed(1)} µs`,
    bar: `≤ ${DEPARTURE_BAR_US} µs`,
    used: each / DEPARTURE_BAR_US,
  };
}

async function visit(robots: RobotsClient, decision: Decision, defaultDelayMs: number): Promise<void> {
  const permit = await robots.acquirePermit(decision, { defaultDelayMs });
  permit.done();
}

async function memoryOfWaiting(): Promise<Row> {
  const robots = clientFor(ORIGINS, {});
  const decisions = await decisionsOf(robots, ORIGINS);
  const before = await usedBytes();
  const waiting = decisions.flatMap((decision) =>
    Array.from({ length: EACH }, () => robots.acquirePermit(decision, { defaultDelayMs: 60_000 })),
  );
  const bytes = (await usedBytes()) - before;
  const settled = Promise.allSettled(waiting);
  await robots.close();
  await settled;
  const each = bytes / (ORIGINS * EACH) / 1_000;
  return {
    what: `memory of a waiting request, ${(EACH * ORIGINS) / 1e6} million`,
    ours: `${(bytes / 2 ** 20).toFixed(0)} MiB, ${each.toFixed(2)} kB each`,
    bar: `≤ ${MEMORY_BAR_KB} kB each`,
    used: each / MEMORY_BAR_KB,
  };
}

function clientFor(origins: number, clock: { readonly clock?: Clock }): RobotsClient {
  const texts = Array.from({ length: origins }, (_, index) => [
    siteOf(index),
    { text: 'Disallow: /private' },
  ]);
  return new RobotsClient({ agent: 'ExampleBot/1.0', overrides: Object.fromEntries(texts), ...clock });
}

function decisionsOf(robots: RobotsClient, origins: number): Promise<Decision[]> {
  return Promise.all(Array.from({ length: origins }, (_, index) => robots.check(`${siteOf(index)}/page`)));
}

const siteOf = (index: number): string => `https://site${index}.example`;
