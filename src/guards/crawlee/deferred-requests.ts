import { setMaxListeners } from 'node:events';
import { type Clock, sleepWith, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { Crawler, CrawlRequest, RequestSource } from './types.ts';

/** The longest time out of the queue: it is shorter than the lock of a request, and than a queue waits for news. */
const LONGEST_MS = 60_000;
/** The least time, so that a request whose time has come by a clock set forward does not spin. */
const SHORTEST_MS = 100;

/** The requests of one crawler that wait for the time at which they go back to the queue. */
export class DeferredRequests {
  readonly #crawler: Crawler;
  readonly #clock: Clock;
  readonly #waiting = new Set<Promise<void>>();
  /** When deferred requests are due, by their keys: the queue gives back another object. */
  readonly #dueAt = new Map<string, number>();
  #ended = endOfCrawl();

  constructor(crawler: Crawler, clock: Clock) {
    this.#crawler = crawler;
    this.#clock = clock;
  }

  /**
   * Takes a request that was taken from `source`. It occupies none of the crawler's tasks, and goes back at `retryAt`. One
   * that is due later than its lock allows goes back before, and waits again when it is taken.
   */
  defer(request: CrawlRequest, source: RequestSource, retryAt: number): void {
    this.#dueAt.set(keyOf(request), retryAt);
    const waiting = this.#giveBackAt(request, source, retryAt).finally(() => this.#waiting.delete(waiting));
    this.#waiting.add(waiting);
  }

  /** Defers a request that was taken before its time. Another request for a permit would put it after itself. */
  defersAgain(request: CrawlRequest, source: RequestSource | undefined): boolean {
    const key = keyOf(request);
    const dueAt = this.#dueAt.get(key);
    this.#dueAt.delete(key);
    if (source === undefined || dueAt === undefined || dueAt <= this.#clock.now()) return false;
    this.defer(request, source, dueAt);
    return true;
  }

  /** Aborted when the crawler stops or ends. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Gives all of them back now: the next crawl finds them in the queue. */
  stop(): void {
    this.#ended.abort();
  }

  /** The crawler has ended, and may begin anew. */
  async end(): Promise<void> {
    this.stop();
    this.#ended = endOfCrawl();
    await Promise.all(this.#waiting);
    this.#dueAt.clear();
  }

  async #giveBackAt(request: CrawlRequest, source: RequestSource, retryAt: number): Promise<void> {
    const waitMs = Math.min(Math.max(retryAt - this.#clock.now(), SHORTEST_MS), LONGEST_MS);
    // It ends early with the crawler.
    await sleepWith(this.#clock, waitMs, this.#ended.signal).catch(() => undefined);
    try {
      await source.reclaimRequest(request);
    } catch (error) {
      this.#crawler.log.warning(
        `Cannot give ${urlWithoutUserinfo(request.url)} back to the queue: ${String(error)}`,
      );
    }
  }
}

/** Each request that waits listens to its signal. */
function endOfCrawl(): AbortController {
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  return ended;
}

function keyOf({ id, uniqueKey, url }: CrawlRequest): string {
  return uniqueKey ?? id ?? url;
}
