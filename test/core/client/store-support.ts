import {
  RobotsClient,
  type RobotsClientOptions,
  type RobotsStore,
  type StoreEvent,
} from '../../../src/index.ts';
import {
  fakeOrigin,
  type FakeOrigin,
  type FakeScript,
  virtualClock,
  type VirtualClock,
} from '../../../src/extras/testing/index.ts';
import { opened } from '../../support/opened.ts';

export const RULES = 'User-agent: *\nDisallow: /private\n';

/** A site that is closed after the test. */
export async function siteWith(robots: FakeScript = RULES): Promise<FakeOrigin> {
  return opened(await fakeOrigin({ robots }));
}

export interface Process {
  readonly robots: RobotsClient;
  readonly events: StoreEvent[];
  /** The events in short: `timeout get`, `rejected version`, `suspended`. */
  readonly received: string[];
}

/** A client like one in a process of its own: what it shares with others is the store and the time. */
export function startProcess(
  store: RobotsStore,
  clock: VirtualClock,
  options: RobotsClientOptions = {},
): Process {
  const events: StoreEvent[] = [];
  const received: string[] = [];
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    clock,
    random: () => 0,
    store,
    // Real time, and short: hanging stores are waited for.
    storeDeadlineMs: 20,
    onStoreEvent: (event) => {
      events.push(event);
      received.push(inShort(event));
    },
    ...options,
  });
  opened(robots);
  return { robots, events, received };
}

/** A process that asks about a page, and ends. */
export async function visit(url: string, ...process: Parameters<typeof startProcess>): Promise<void> {
  const { robots } = startProcess(...process);
  await robots.canFetch(url);
  await robots.close();
}

export function startClock(): VirtualClock {
  return virtualClock();
}

function inShort(event: StoreEvent): string {
  if (event.type === 'rejected') return `rejected ${event.reason}`;
  return 'operation' in event ? `${event.type} ${event.operation}` : event.type;
}

/** Everybody who can go on has. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
}
