import { setMaxListeners } from 'node:events';
import { type Clock, onAbort, sleepWith, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { QueueDeferral } from './request-guard.ts';
import type { Crawler, CrawlRequest, RequestSource } from './types.ts';

/** The longest time out of the queue: it is shorter than the lock of a request, and than a queue waits for news. */
const LONGEST_MS = 60_000;
/** The least time, so that a request whose time has come by a clock set forward does not spin. */
const SHORTEST_MS = 100;

interface DeferredContext {
  readonly crawler: Crawler;
  readonly clock: Clock;
  /** Aborted when the client closes: nothing that waits can be decided then. */
  readonly closing: AbortSignal;
}

/** The requests of one crawler that wait for the time at which they go back to the queue. */
export class DeferredRequests {
  readonly #context: DeferredContext;
  /** With the origins that they wait for. */
  readonly #waiting = new Map<Promise<void>, string | undefined>();
  /** Why they are deferred, by their keys: the queue gives back another object. */
  readonly #deferrals = new Map<string, QueueDeferral>();
  #ended = endOfCrawl();
  #unlisten: (() => void) | undefined;

  constructor(context: DeferredContext) {
    this.#context = context;
  }

  /**
   * Takes a request that was taken from `source`. It occupies none of the crawler's tasks, and goes back at `retryAt`. One
   * that is due later than its lock allows goes back before, and waits again when it is taken.
   */
  defer(request: CrawlRequest, source: RequestSource, deferral: QueueDeferral): void {
    const { closing, crawler } = this.#context;
    this.#unlisten ??= onAbort(closing, () => crawler.stop(String(closing.reason)));
    this.#deferrals.set(keyOf(request), deferral);
    const waiting = this.#giveBackAt(request, source, deferral.retryAt).finally(() =>
      this.#waiting.delete(waiting),
    );
    this.#waiting.set(waiting, deferral.wait?.origin);
  }

  /** Defers a request that was taken before its time. Another request for a permit would put it after itself. */
  defersAgain(request: CrawlRequest, source: RequestSource | undefined): boolean {
    const key = keyOf(request);
    const deferral = this.#deferrals.get(key);
    this.#deferrals.delete(key);
    if (source === undefined || deferral === undefined) return false;
    if (deferral.retryAt <= this.#context.clock.now()) return false;
    this.defer(request, source, deferral);
    return true;
  }

  /** How many wait for an origin. */
  waitingFor(origin: string): number {
    return Array.from(this.#waiting.values()).filter((each) => each === origin).length;
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
    this.#unlisten?.();
    this.#unlisten = undefined;
    this.#ended = endOfCrawl();
    await Promise.all(this.#waiting.keys());
    this.#deferrals.clear();
  }

  async #giveBackAt(request: CrawlRequest, source: RequestSource, retryAt: number): Promise<void> {
    const { clock, crawler } = this.#context;
    const waitMs = Math.min(Math.max(retryAt - clock.now(), SHORTEST_MS), LONGEST_MS);
    // It ends early with the crawler.
    await sleepWith(clock, waitMs, this.#ended.signal).catch(() => undefined);
    try {
      await source.reclaimRequest(request);
    } catch (error) {
      crawler.log.warning(
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
