import { DEFAULT_MAX_BODY_BYTES, Lazy } from '../../src/core/base/index.ts';
import { setImmediate } from 'node:timers/promises';
import { benchFiles, random } from '../bench/files.ts';
import { markdown } from '../bench/measure.ts';
import { type CacheEntry, OriginMemory, OriginRefresher } from '../../src/core/cache/index.ts';
import { attemptDue, type Outcome, profiles, stateOf } from '../../src/core/lifecycle/index.ts';
import type { StoreEvent } from '../../src/core/store/index.ts';
import { StoredOrigins } from '../../src/core/store/stored-origins.ts';
import { RecordCodec } from '../../src/core/store/record/record-codec.ts';
import { CountingStore } from './counting-store.ts';
import { simulatePauses } from './pauses.ts';

/**
 * `npm run simulate`: a fleet crawls for seven days of virtual time through the code that remembers, renews and stores
 * origins. Only the network and the server are left out. Then a crawl of sites that ask for pauses (`pauses.ts`).
 *
 * Scale: one in ten thousand of 10 million origins is played. The memory of each member, 50,000 origins, is reduced alike.
 * Counts are multiplied by ten thousand, because origins do not depend on each other. A session is ten links of one site,
 * one after the other. An origin has ten sessions a day on average, a popular one more; any member may get a session.
 */
const SCALE = 10_000;
const ORIGINS = 10_000_000 / SCALE;
const REMEMBERED = 50_000 / SCALE;
const DAYS = 7;
const SESSIONS_PER_ORIGIN_AND_DAY = 10;
const LINKS = 10;
const DAY_MS = 24 * 60 * 60 * 1000;
const START = Date.UTC(2026, 0, 1);
/** A share of the hosts fails for two days, the third and the fourth. */
const OUTAGE = { share: 0.03, from: START + 2 * DAY_MS, until: START + 4 * DAY_MS };
/** Hosts that answer 404, and hosts that never answer. Assumed: the corpus has only files. */
const SHARES = { missing: 0.2, dead: 0.02 };

const { files, origin: shape } = benchFiles();

interface Tally {
  sessions: number;
  attempts: number;
  fromStore: number;
  fromNetwork: number;
  lastGood: number;
  disallowed: number;
}

async function simulate(members: number): Promise<string[]> {
  const next = random(11);
  const clock = { time: START, now: () => clock.time };
  const store = new CountingStore(clock);
  const profile = profiles.rfc9309;
  const profileOf = (): typeof profile => profile;
  const codec = new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf });
  const tally: Tally = { sessions: 0, attempts: 0, fromStore: 0, fromNetwork: 0, lastGood: 0, disallowed: 0 };
  const hosts = Array.from({ length: ORIGINS }, (_, index) => ({
    origin: `https://site-${index}.example`,
    kind: next(),
    isDown: next() < OUTAGE.share,
    file: files[Math.floor(next() * files.length)]!,
  }));
  const byOrigin = new Map(hosts.map((host) => [host.origin, host]));
  const attempt = async (origin: string): Promise<Outcome> => {
    tally.attempts++;
    const { kind, isDown, file } = byOrigin.get(origin)!;
    const route = { finalUrl: `${origin}/robots.txt`, hops: 0 };
    const isOut = isDown && clock.time >= OUTAGE.from && clock.time < OUTAGE.until;
    if (isOut || kind < SHARES.dead) return { ...route, kind: 'unreachable', error: 'ECONNREFUSED' };
    if (kind < SHARES.dead + SHARES.missing)
      return { ...route, kind: 'unavailable', status: 404, headers: {} };
    return {
      ...route,
      kind: 'success',
      status: 200,
      headers: {},
      body: file.bytes.subarray(0, DEFAULT_MAX_BODY_BYTES),
      truncated: file.bytes.length > DEFAULT_MAX_BODY_BYTES,
    };
  };
  const troubles: StoreEvent[] = [];
  const caches = Array.from({ length: members }, (_, member) => {
    const jitter = random(member + 1);
    const stored = new StoredOrigins(
      {
        store,
        storeDeadlineMs: 60_000,
        onStoreEvent: (event) => void troubles.push(event),
        tokens: ['ExampleBot'],
        addressPolicy: 'no-public-to-private',
        deadlineMs: 10_000,
        clock,
        random: jitter,
      },
      codec,
      profileOf,
    );
    const memory = new OriginMemory({ maxOrigins: REMEMBERED, maxBytes: 2 ** 30, clock, profileOf });
    const attempts = { attempt };
    const options = {
      memory,
      attempts,
      concurrency: 32,
      clock,
      random: jitter,
      profileOf,
      isAskedAlike: () => true,
      pauses: { has: () => false, ask: () => undefined },
      stored: new Lazy(async () => stored),
    };
    return { memory, refreshers: new OriginRefresher(options) };
  });

  const sessions = ORIGINS * SESSIONS_PER_ORIGIN_AND_DAY * DAYS;
  for (let session = 0; session < sessions; session++) {
    clock.time = START + Math.floor((session / sessions) * DAYS * DAY_MS);
    // A tenth of the origins gets two thirds of the sessions.
    const { origin } = hosts[Math.floor(next() ** 6 * ORIGINS)]!;
    const { memory, refreshers } = caches[Math.floor(next() * members)]!;
    const known = memory.get(origin);
    const due = attemptDue(known?.record, profile, clock.time);
    let entry: CacheEntry | undefined = known;
    if (due === 'now') {
      const refreshed = await refreshers.refresh(origin);
      ({ entry } = refreshed);
      if (refreshed.source === 'store') tally.fromStore++;
      else tally.fromNetwork++;
    }
    if (due === 'ahead') refreshers.refreshInBackground(origin);
    // Records are written in the background: let that end, as it would before the next session.
    if (due !== 'none') await setImmediate();
    tally.sessions++;
    const { state } = stateOf(entry!.record, profile, clock.time);
    if (state === 'last-good') tally.lastGood++;
    if (state === 'disallow-all') tally.disallowed++;
  }
  const memoryBytes = caches.reduce((sum, { memory }) => sum + memory.stats().bytes, 0);
  const storedBytes = store.bytes;
  await Promise.all(caches.map(({ refreshers }) => refreshers.close(new Error('the simulation has ended'))));

  if (troubles.length > 0)
    throw new Error(`Expected no trouble with the store, got ${JSON.stringify(troubles[0])}`);

  const links = tally.sessions * LINKS;
  const perSecond = (count: number): string => ((count * SCALE) / (DAYS * 86_400)).toFixed(0);
  const percent = (count: number, digits = 2): string => `${((100 * count) / links).toFixed(digits)} %`;
  const megabytes = (bytes: number): string => `${((bytes * SCALE) / 1e6).toFixed(0)} MB`;
  return [
    String(members),
    perSecond(links),
    perSecond(tally.attempts),
    percent(links - tally.fromStore - tally.fromNetwork),
    percent(tally.fromStore),
    percent(tally.fromNetwork),
    percent(tally.lastGood * LINKS),
    percent(tally.disallowed * LINKS),
    megabytes(memoryBytes / members),
    perSecond(store.commands),
    `${((store.moved * SCALE) / (DAYS * 86_400) / 1e6).toFixed(1)} MB`,
    `${((storedBytes * SCALE) / 1e9).toFixed(1)} GB`,
  ];
}

console.log(`${shape}; 10 million origins at 1:${SCALE}, ${DAYS} days\n`);
const heads = ['members', 'questions/s', 'robots.txt/s', 'from memory', 'from the store', 'from the site'];
const table = [[...heads, 'last-good', 'disallow-all', 'memory a member', 'commands/s', 'moved/s', 'stored']];
for (const members of [1, 10, 100]) table.push(await simulate(members));
console.log(markdown(table));

console.log('\nA day of 10,000 sites, 3 % of which answer 429 in bursts\n');
console.log(markdown(await simulatePauses()));
