import { type Clock, sleepBy } from '../../base/index.ts';
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
  #ended = new AbortController();

  constructor(crawler: Crawler, clock: Clock) {
    this.#crawler = crawler;
    this.#clock = clock;
  }

  /**
   * Takes a request that was taken from `source`. It occupies none of the crawler's tasks, and goes back at `retryAt`. One
   * that is due later than its lock allows goes back before, and is deferred again.
   */
  defer(request: CrawlRequest, source: RequestSource, retryAt: number): void {
    const waiting = this.#giveBackAt(request, source, retryAt).finally(() => this.#waiting.delete(waiting));
    this.#waiting.add(waiting);
  }

  /** Gives all of them back now, because the crawler ends: the next crawl finds them in the queue. */
  async end(): Promise<void> {
    this.#ended.abort();
    this.#ended = new AbortController();
    await Promise.all(this.#waiting);
  }

  async #giveBackAt(request: CrawlRequest, source: RequestSource, retryAt: number): Promise<void> {
    const waitMs = Math.min(Math.max(retryAt - this.#clock.now(), SHORTEST_MS), LONGEST_MS);
    // It ends early with the crawler.
    await sleepBy(this.#clock, waitMs, this.#ended.signal).catch(() => undefined);
    try {
      await source.reclaimRequest(request);
    } catch (error) {
      this.#crawler.log.warning(`Cannot give ${request.url} back to the queue: ${String(error)}`);
    }
  }
}
