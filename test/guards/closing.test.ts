import { expect, it } from 'vitest';
import { guardFetch, retryLater, RobotsClient, type RobotsStore } from '../../src/index.ts';

const never = <Value>(): Promise<Value> => new Promise(() => undefined);

/** A store that has gone: no call of it ends. */
const gone: RobotsStore = {
  get: never,
  set: never,
  delete: never,
  lease: never,
  reserve: never,
  pause: never,
};

/** Sites by their hosts: what they answer for robots.txt and for pages. */
async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { hostname, pathname } = new URL(String(input));
  const isRobots = pathname === '/robots.txt';
  if (hostname === 'hanging.example')
    return new Promise((_, reject) =>
      init?.signal?.addEventListener('abort', () => reject(init.signal!.reason)),
    );
  if (hostname === 'closed.example') return new Response('', { status: 503 });
  if (hostname === 'busy.example' && !isRobots)
    return new Response('', { status: 429, headers: { 'retry-after': '200' } });
  return new Response(isRobots ? 'User-agent: *\nCrawl-delay: 200\n' : 'a page');
}

it.each([
  ['without a store', undefined],
  ['with a store that has gone', gone],
])('the end of a client settles every wait of it within a second, %s', async (_, store) => {
  const robots = new RobotsClient({
    agent: 'ExampleBot',
    transport: { fetch },
    ...(store && { store, onStoreEvent: () => undefined }),
  });
  const get = guardFetch(fetch, robots, { pacing: true });
  const settled: string[] = [];
  const waits = ['slow', 'busy', 'closed', 'hanging'].flatMap((site) =>
    [1, 2, 3].map((page) => ({
      name: `${site} ${page}`,
      ended: retryLater(() => get(`https://${site}.example/${page}`)).then(
        () => 'page',
        (error: unknown) => String(Reflect.get(Object(error), 'code')),
      ),
    })),
  );
  for (const { name, ended } of waits) void ended.then((how) => settled.push(`${name}: ${how}`));
  const others = [
    robots.policy('https://hanging.example/').catch((error: unknown) => error),
    robots.prefetch(['https://hanging.example/']).catch((error: unknown) => error),
  ];
  await expect.poll(() => robots.stats().pacing.waiting).toBeGreaterThan(0);
  const started = performance.eventLoopUtilization();
  const closing = robots.close();
  await Promise.all([...waits.map(({ ended }) => ended), ...others]);
  // Not the time in which a busy machine works. The store has longer for what is written at the end.
  expect(performance.eventLoopUtilization(started).idle).toBeLessThan(1_000);
  await closing;
  expect(settled.filter((each) => !/^slow 1: page$|: ERR_ROBOTS_CLOSED$/.test(each))).toEqual([]);
  expect(settled).toHaveLength(12);
});
