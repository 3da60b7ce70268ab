import {
  type Decision,
  type Reservation,
  type ReserveOptions,
  type RobotsClient,
} from '../../../src/index.ts';
import { virtualClock, type VirtualClock } from '../../../src/extras/testing/index.ts';
import { opened, openedClient } from '../../support/opened.ts';

/** Closes these after the test. */
export function closing(...some: AsyncDisposable[]): void {
  for (const each of some) opened(each);
}

export const SLOW = 'User-agent: *\nCrawl-delay: 2.5\nDisallow: /private\n';
export const A = 'https://a.example';
export const B = 'https://b.example';

/** A client for sites whose robots.txt is laid down, so that nothing is fetched. */
export function laidDown(texts: Record<string, string>) {
  const clock = virtualClock();
  const overrides = Object.fromEntries(Object.entries(texts).map(([origin, text]) => [origin, { text }]));
  const { robots: client } = openedClient({ clock, overrides });
  return { client, clock };
}

/** A fetch that answers at once and notes when it was called. */
export function noting(clock: VirtualClock, respond: (url: string) => Response = () => new Response(null)) {
  const startedAt = clock.now();
  const calls: [url: string, afterMs: number][] = [];
  const fetch = (url: string | URL | Request): Promise<Response> => {
    calls.push([String(url), clock.now() - startedAt]);
    return Promise.resolve(respond(String(url)));
  };
  return { fetch: fetch as typeof globalThis.fetch, calls };
}

export function booked(reservation: Reservation): Extract<Reservation, { status: 'booked' }> {
  if (reservation.status !== 'booked') throw new Error(`not booked: ${reservation.status}`);
  return reservation;
}

/** A decision that allows a page of `origin`, whose robots.txt states this delay. */
export function decisionFor(origin: string, crawlDelayMs?: number): Decision {
  return {
    url: `${origin}/`,
    origin,
    agent: 'ExampleBot',
    profile: 'rfc9309',
    allowed: true,
    state: 'rules',
    reason: 'no-rule',
    robots: { url: `${origin}/robots.txt`, source: 'memory' },
    ...(crawlDelayMs === undefined ? {} : { crawlDelayMs }),
  } as Decision;
}

/** Starts a request when it may, and ends it. Returns the milliseconds waited. */
export async function waitForStart(
  client: RobotsClient,
  decision: Decision,
  options: ReserveOptions = {},
): Promise<number> {
  const permit = await client.acquirePermit(decision, options);
  permit.done();
  return permit.waitedMs;
}
