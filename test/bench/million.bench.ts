import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { Dispatcher, request } from 'undici';
import { RobotsClient } from '../../src/index.ts';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.ts';
import { benchFiles } from './files.ts';
import type { Row } from './measure.ts';

const CONCURRENCY = 256;
/** Of 100 hosts: with a file, without one, refusing, dead. */
const KINDS = [70, 24, 3, 3] as const;

/** Serves robots.txt of hosts without sockets: what remains is the work of undici, of the client, and of the store. */
class HostsInMemory extends Dispatcher {
  readonly #bodies: readonly Buffer[];
  #next = 0;

  constructor(bodies: readonly Uint8Array[]) {
    super();
    this.#bodies = bodies.map((body) => Buffer.from(body));
  }

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const number = this.#next++;
    const [withFile, without, refusing] = KINDS;
    const kind = number % 100;
    setImmediate(() => {
      // As undici 7 calls the handlers of its own `request`.
      handler.onConnect?.(() => undefined);
      if (kind >= withFile + without + refusing) {
        handler.onError?.(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
        return;
      }
      const status = kind < withFile ? 200 : kind < withFile + without ? 404 : 503;
      const headers = ['content-type', 'text/plain', 'date', new Date(number * 1_000).toUTCString()];
      const raw = headers.map((field) => Buffer.from(field));
      handler.onHeaders?.(status, raw, () => undefined, '');
      if (status === 200) handler.onData?.(this.#bodies[number % this.#bodies.length]!);
      handler.onComplete?.([]);
    });
    return true;
  }

  override async close(): Promise<void> {}
  override async destroy(): Promise<void> {}
}

interface Crawled {
  readonly processorUs: number;
  readonly heldBytes: number;
  readonly origins: number;
  readonly longestPauseMs: number;
  /** `total` that `onProgress` showed when half of the origins were done. */
  readonly halfTotal: number;
}

/** `prefetch` of many hosts, with the default bounds of memory, beside bare undici. */
export async function* millionHosts(count: number): AsyncGenerator<Row> {
  const bodies = benchFiles().files.map(({ bytes }) => bytes);
  const bare = await measured(count, async (urls) => {
    const dispatcher = new HostsInMemory(bodies);
    const fetchNext = async (): Promise<void> => {
      for (const url of urls) {
        try {
          await (await request(`${url}robots.txt`, { dispatcher })).body.text();
        } catch {
          // A dead host.
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, fetchNext));
    return undefined;
  });
  yield row(count, 'bare undici, nothing kept', bare, bare);
  yield row(count, 'prefetch', await prefetched(count, bodies, false), bare);
  yield row(count, 'prefetch with LMDB', await prefetched(count, bodies, true), bare);
}

async function prefetched(count: number, bodies: readonly Uint8Array[], hasStore: boolean): Promise<Crawled> {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-million-'));
  const store = hasStore ? lmdbStore({ path: folder }) : undefined;
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    concurrency: CONCURRENCY,
    dispatcher: new HostsInMemory(bodies),
    addressPolicy: 'any',
    storeDeadlineMs: 10_000,
    ...(store === undefined ? {} : { store }),
  });
  const crawled = await measured(count, async (urls) => {
    let halfTotal = 0;
    const onProgress = ({ done, total }: { done: number; total: number }): void => {
      if (done === count / 2) halfTotal = total;
    };
    await robots.prefetch(urls, { onProgress });
    return { halfTotal, origins: robots.stats().origins };
  });
  await robots.close();
  await store?.close();
  rmSync(folder, { recursive: true });
  return crawled;
}

async function measured(
  count: number,
  crawl: (urls: Iterable<string>) => Promise<{ halfTotal: number; origins: number } | undefined>,
): Promise<Crawled> {
  const pauses: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.push(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  const heldBefore = await usedMemory();
  pauses.length = 0;
  const before = process.cpuUsage();
  const seen = await crawl(hosts(count));
  const { user, system } = process.cpuUsage(before);
  observer.disconnect();
  const longestPauseMs = Math.max(0, ...pauses);
  const heldBytes = (await usedMemory()) - heldBefore;
  return {
    processorUs: (user + system) / count,
    heldBytes,
    origins: seen?.origins ?? 0,
    halfTotal: seen?.halfTotal ?? 0,
    longestPauseMs,
  };
}

function* hosts(count: number): Generator<string> {
  for (let number = 0; number < count; number++) yield `https://host${number}.example/`;
}

function row(count: number, how: string, crawled: Crawled, bare: Crawled): Row {
  const { processorUs, heldBytes, origins, longestPauseMs, halfTotal } = crawled;
  const held = origins === 0 ? '' : `${origins} origins kept in ${(heldBytes / 1_048_576).toFixed(0)} MiB, `;
  const progress = halfTotal === 0 ? '' : `, half way: total ${halfTotal}`;
  return {
    what: `${count} hosts: ${how}`,
    ours: `${processorUs.toFixed(0)} µs of processor an origin`,
    peer: `${held}longest pause for garbage ${longestPauseMs.toFixed(0)} ms${progress}`,
    ratio: `${(processorUs / bare.processorUs).toFixed(2)} ×`,
    bar: '',
    held: true,
  };
}

/** Some of what is gone is only let go of after a turn. */
async function usedMemory(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
