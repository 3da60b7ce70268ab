import { RobotsClient, type RobotsClientOptions } from '../../src/index.ts';

/** A realistic moment to start from: an lru-cache or a header date must never see the year 1970. */
export const START = Date.UTC(2026, 0, 15, 12);

/** A clock that stands until it is moved. */
export class VirtualClock {
  private time = START;

  now(): number {
    return this.time;
  }

  advance(ms: number): void {
    this.time += ms;
  }
}

export interface TestClient {
  readonly client: RobotsClient;
  readonly clock: VirtualClock;
}

/** A client in virtual time, without jitter, for agent `ExampleBot`. */
export function testClient(options: RobotsClientOptions = {}): TestClient {
  const clock = new VirtualClock();
  const client = new RobotsClient({
    agent: 'ExampleBot/1.0 (+https://example.com/bot)',
    clock,
    random: () => 0,
    ...options,
  });
  return { client, clock };
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
