import { setImmediate } from 'node:timers/promises';
import { type Decision, profiles, RobotsClient } from '../../src/index.ts';
import { DAY, HOUR, MINUTE, SECOND, VirtualClock } from '../support/client.ts';
import { runSteps } from '../support/socket-steps.ts';
import { Chance } from '../support/random.ts';
import { type Site, startRawSite } from '../support/site.ts';
import { anyBehaviour, type Behaviour, move } from './behaviour.ts';
import { AGENT, DRAWN, type Expected, Model } from './model.ts';

export interface SoakOptions {
  readonly seed: number;
  /** Asked after each round. */
  readonly goesOn: (rounds: number) => boolean;
  readonly sites?: number;
}

export interface SoakReport {
  readonly rounds: number;
  readonly questions: number;
  readonly requests: number;
  readonly clients: number;
  /** By name, how often each behaviour was met. */
  readonly met: Readonly<Record<string, number>>;
}

const PATHS = ['/', '/a', '/a/b/c', '/b?x=1', '/x.pdf'];
const JUMPS = [
  ...[0, SECOND, 20 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 22 * HOUR],
  ...[DAY, 8 * DAY, 31 * DAY],
];
/** Rounds that one client lives. */
const LIFE = 40;
const DEADLINE_MS = 1_000;

interface Place {
  readonly site: Site;
  behaviour: Behaviour | undefined;
}

/**
 * Clients under every profile and over both transports ask loopback origins that fail at random, while the clock
 * jumps; a model without sockets runs beside each. Throws where an answer, or a count of requests, is not the model's.
 */
export async function soak({ seed, goesOn, sites = 24 }: SoakOptions): Promise<SoakReport> {
  const chance = new Chance(seed);
  const places = await Promise.all(Array.from({ length: sites }, startPlace));
  const report = { rounds: 0, questions: 0, requests: 0, clients: 0, met: {} as Record<string, number> };
  try {
    while (goesOn(report.rounds)) {
      const profile = chance.pick(Object.values(profiles));
      const clock = new VirtualClock();
      const client = new RobotsClient({
        agent: `${AGENT}/1.0`,
        profile,
        clock,
        random: () => DRAWN,
        deadlineMs: DEADLINE_MS,
        concurrency: 8,
        ...(chance.happens(0.5) ? { transport: { fetch } } : {}),
      });
      report.clients++;
      const party = { client, model: new Model(profile), clock, chance };
      try {
        for (let age = 0; age < LIFE && goesOn(report.rounds); age++) {
          await playRound(party, places, report);
          report.rounds++;
        }
      } finally {
        await client.close();
      }
    }
    return report;
  } catch (cause) {
    throw new Error(`Seed ${seed}, round ${report.rounds}`, { cause });
  } finally {
    await Promise.all(places.map(({ site }) => site.close()));
  }
}

async function startPlace(): Promise<Place> {
  const place: { site: Site | undefined; behaviour: Behaviour | undefined } = {
    site: undefined,
    behaviour: undefined,
  };
  const site = await startRawSite((socket) => {
    const request = place.site?.requests.at(-1);
    if (request === undefined || place.behaviour === undefined) return;
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': acceptEncoding = '' } = request.headers;
    const asked = { path: request.url, ifNoneMatch, acceptEncoding: String(acceptEncoding) };
    void runSteps(socket, place.behaviour.runSteps(asked));
  });
  place.site = site;
  return place as Place;
}

/** What is about to be asked of one origin, and what is to come of it. */
interface Case {
  readonly place: Place;
  readonly origin: string;
  readonly path: string;
  readonly expected: Expected;
  readonly isKnown: boolean;
  readonly requests: number;
  readonly etag: string | undefined;
}

interface Party {
  readonly client: RobotsClient;
  readonly model: Model;
  readonly clock: VirtualClock;
  readonly chance: Chance;
}

async function playRound(
  { client, model, clock, chance }: Party,
  places: readonly Place[],
  report: { questions: number; requests: number; met: Record<string, number> },
): Promise<void> {
  clock.advance(chance.happens(0.03) ? -chance.pick(JUMPS) : chance.pick(JUMPS));
  const now = clock.now();
  const asked = chance.some(places, 1 + chance.below(10));
  const elsewhere = places.find((place) => !asked.includes(place));
  const cases = asked.map((place, index): Case => {
    const { origin } = place.site;
    if (chance.happens(0.03)) {
      void client.invalidate(origin);
      model.forget(origin);
    }
    if (chance.happens(0.1)) {
      const reachable = chance.happens(0.5);
      client.report(origin, { reachable });
      model.report(origin, reachable, now);
    }
    const moves = index === 0 && elsewhere !== undefined && chance.happens(0.3);
    const moved = moves ? move(chance, elsewhere.site.origin) : undefined;
    const behaviour = moved?.from ?? anyBehaviour(chance, origin);
    place.behaviour = behaviour;
    if (moves) elsewhere.behaviour = moved?.at;
    const path = chance.pick(PATHS);
    const due = model.due(origin, now);
    const before = due === 'now' ? undefined : model.expect(origin, path, now);
    const etag = due === 'none' ? undefined : model.sentEtag(origin);
    if (due !== 'none') {
      report.met[behaviour.name] = (report.met[behaviour.name] ?? 0) + 1;
      model.attempt(origin, behaviour, now);
      if (moved !== undefined && elsewhere !== undefined) model.share(elsewhere.site.origin, moved.at, now);
    }
    return {
      place,
      origin,
      path,
      expected: before ?? model.expect(origin, path, now),
      isKnown: before !== undefined,
      requests: due === 'none' ? 0 : behaviour.requests(model.profile),
      etag,
    };
  });

  await Promise.all(cases.map((each) => question(client, each, chance)));
  // No caller waits for a refresh ahead of its time.
  while (client.stats().inFlight > 0) await setImmediate();

  for (const { place, requests, etag, origin } of cases) {
    const seen = place.site.requests;
    const mayRepeat = requests > 0 && place.behaviour?.breaks === true;
    if (seen.length !== requests && !(mayRepeat && seen.length === requests + 1)) {
      throw new Error(`${origin}, ${place.behaviour?.name}: ${seen.length} requests instead of ${requests}`);
    }
    if (requests > 0) assertSame('If-None-Match', seen[0]?.headers['if-none-match'], etag);
  }
  for (const { site } of places) report.requests += site.requests.splice(0).length;
  report.questions += cases.length;
}

/** Several callers at once, in several ways; one of them may leave. */
async function question(client: RobotsClient, each: Case, chance: Chance): Promise<void> {
  const url = each.origin + each.path;
  const peeked = client.peek(url);
  assertSame(
    'peek',
    peeked === undefined ? undefined : gist(peeked),
    each.isKnown ? each.expected : undefined,
  );
  const left = new AbortController();
  const leaving = chance.happens(0.2)
    ? client.check(url, undefined, { signal: left.signal }).then(gist, (reason: unknown) => reason)
    : undefined;
  const answers = [client.check(url), client.check(url), client.canFetch(url), client.policy(url)] as const;
  left.abort(each);
  const [one, other, allowed, policy] = await Promise.all(answers);
  const what = `${each.origin}, ${each.place.behaviour?.name}, ${one.robots.error ?? one.robots.source}`;
  assertSame(what, gist(one), each.expected);
  assertSame(what, gist(other), each.expected);
  assertSame('canFetch', allowed, each.expected.allowed);
  assertSame('policy', policy.state, each.expected.state);
  const end = await leaving;
  // Who is answered at once is answered, whatever becomes of the signal.
  if (end !== each && leaving !== undefined) assertSame('check', end, each.expected);
}

function gist(decision: Decision): Expected {
  const { state, reason, allowed, rule, retryAt } = decision;
  return { state, reason, allowed, line: rule?.line, retryAt };
}

function assertSame(what: string, actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}
