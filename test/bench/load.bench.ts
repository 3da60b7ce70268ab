import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { ColdCrawler } from './cold-crawler.ts';
import { median, type Row } from './measure.ts';
import { startProcess } from './program.ts';

const ORIGINS = 10_000;
const BAR = 1.05;
/** Of wall-clock time, which leaves out what connections cost after their turn: no measure, but a bound. */
const MAX_WALL = 2;

/** How many origins a crawler asks before the next one has its turn. */
const TURN = 500;

const NAMES: readonly ColdCrawler[] = ['bare', 'canFetch'];

/** Cold questions to as many origins, against the HTTP client alone that reads the same files. */
export async function* coldOrigins(rounds: number): AsyncGenerator<Row> {
  const server = await startProcess('loopback-server.js');
  const originsOf = (network: number, count: number): string[] =>
    Array.from(
      { length: count },
      (_, index) => `http://127.${network}.${index >> 8}.${index & 0xff}:${server.port}`,
    );
  const [warming, origins] = [originsOf(2, TURN), originsOf(1, ORIGINS)];
  for (const concurrency of [16, 32, 256]) {
    const took: Record<ColdCrawler, number>[] = [];
    for (let round = 0; round < rounds; round++) took.push(await inTurns(warming, origins, concurrency));
    const seconds = (name: ColdCrawler): string =>
      `${(median(took.map((times) => times[name])) / 1_000).toFixed(2)} s`;
    const ratio = median(took.map((times) => times.canFetch / times.bare));
    yield {
      what: `${ORIGINS.toLocaleString('en')} cold origins`,
      way: `\`canFetch\`, ${concurrency} under way`,
      ours: seconds('canFetch'),
      peer: `${seconds('bare')} undici`,
      ratio: `${ratio.toFixed(2)} ×`,
      bar: `≤ ${BAR} ×`,
      used: ratio / BAR,
    };
  }
  server.child.disconnect();
}

/**
 * The processor time of each crawler for all origins, in milliseconds. They take turns of 500 origins, so that what else
 * the machine does slows all alike.
 *
 * @throws Error when a crawler takes much longer than undici, whatever its processor time: it asks too few at a time.
 */
async function inTurns(
  warming: readonly string[],
  origins: readonly string[],
  concurrency: number,
): Promise<Record<ColdCrawler, number>> {
  const crawlers = NAMES.map((name) => new CrawlerProcess(name, concurrency));
  for (const crawler of crawlers) await crawler.ask(warming);
  const tookMs = { bare: 0, canFetch: 0 };
  for (let start = 0; start < origins.length; start += TURN) {
    const some = origins.slice(start, start + TURN);
    for (const crawler of (start / TURN) % 2 === 0 ? crawlers : [...crawlers].reverse()) {
      const startedAt = performance.now();
      await crawler.ask(some);
      tookMs[crawler.name] += performance.now() - startedAt;
    }
  }
  const longest = tookMs.canFetch / tookMs.bare;
  if (longest > MAX_WALL)
    throw new Error(`Expected ${MAX_WALL} × the time of undici at most, got ${longest}`);
  const processorMs = { bare: 0, canFetch: 0 };
  for (const crawler of crawlers) processorMs[crawler.name] = await crawler.close();
  return processorMs;
}

/** A crawler in a process of its own: `cold-crawler.ts`. */
class CrawlerProcess {
  readonly name: ColdCrawler;
  readonly #process: ChildProcess;
  #isClosed = false;

  constructor(name: ColdCrawler, concurrency: number) {
    this.name = name;
    this.#process = fork(new URL('cold-crawler.js', import.meta.url), [name, String(concurrency)]);
    this.#process.once('exit', (code) => {
      if (!this.#isClosed) throw new Error(`Expected ${name} to ask its origins, got exit code ${code}`);
    });
  }

  /** Returns its processor time in milliseconds since it asked the first list. */
  async ask(origins: readonly string[]): Promise<number> {
    this.#process.send(origins);
    const [processorMs] = (await once(this.#process, 'message')) as [number];
    return processorMs;
  }

  async close(): Promise<number> {
    const processorMs = await this.ask([]);
    this.#isClosed = true;
    this.#process.disconnect();
    return processorMs;
  }
}
