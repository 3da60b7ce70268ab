import { Agent, request } from 'undici';
import { RobotsClient } from '../../src/index.ts';

/*
 * The process of one crawler of `cold`. Each crawler has its own, so it does not pay for connections that another keeps open.
 * It receives lists of origins, and closes when a list is empty. After each list it sends its processor time in milliseconds
 * since the end of the first one.
 */
export type ColdCrawler = 'bare' | 'canFetch';

const USER_AGENT = 'ExampleBot/1.0';
const name = process.argv[2] as ColdCrawler;
const concurrency = Number(process.argv[3]);

interface Crawler {
  ask(origins: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const crawlers: Readonly<Record<ColdCrawler, () => Crawler>> = {
  bare() {
    const dispatcher = new Agent();
    return {
      ask: (origins) =>
        concurrently(origins, async (origin) => {
          const { body } = await request(`${origin}/robots.txt`, {
            dispatcher,
            headers: { 'user-agent': USER_AGENT },
          });
          await body.text();
        }),
      close: () => dispatcher.destroy(),
    };
  },
  canFetch() {
    const robots = new RobotsClient({ agent: USER_AGENT, concurrency });
    return {
      ask: (origins) =>
        concurrently(origins, async (origin) => {
          if (!(await robots.canFetch(`${origin}/page`)))
            throw new Error(`Expected ${origin} to allow the page`);
        }),
      close: () => robots.close(),
    };
  },
};

async function concurrently(
  origins: readonly string[],
  ask: (origin: string) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let origin = origins[next++]; origin !== undefined; origin = origins[next++]) await ask(origin);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

const crawler = crawlers[name]();
let before: NodeJS.CpuUsage | undefined;
process.on('message', async (origins: readonly string[]) => {
  await (origins.length === 0 ? crawler.close() : crawler.ask(origins));
  before ??= process.cpuUsage();
  const { user, system } = process.cpuUsage(before);
  process.send!((user + system) / 1_000);
});
