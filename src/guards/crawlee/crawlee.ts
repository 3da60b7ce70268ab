/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import { setMaxListeners } from 'node:events';
import { guardContext as guardPlaywright } from '../browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../browser/puppeteer.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import { assertThrowing, guardedTwice, type ThrowingGuardOptions } from '../shared/options.ts';
import { CrawlerGuard } from './crawler-guard.ts';
import { PageGuards } from './page-guard.ts';
import {
  crawlerClass,
  type Crawler,
  type CrawlerClass,
  type CrawlingContext,
  type CrawlRequest,
  type RequestSource,
  type SkippedRequest,
} from './types.ts';
import {
  type Clock,
  isRobotsError,
  RobotsInvalidOptionsError,
  sleepWith,
  urlWithoutUserinfo,
} from '../../core/base/index.ts';
import { refusalIn } from '../shared/refusal-errors.ts';
import { guardHttpClient } from './http-client.ts';

export type { SkippedRequest } from './types.ts';
export type { RobotsInit, IgnoredRequest, ThrowingGuardOptions } from '../shared/options.ts';
export type { OtherIdentity } from '../shared/identity.ts';

/**
 * Makes a subclass of a crawler class of Crawlee 3 (3.14 or later). It checks requests and their redirects against the
 * robots.txt of their own origin. Works with `BasicCrawler`, `HttpCrawler`, `CheerioCrawler` and other subclasses of
 * these, and with `PlaywrightCrawler` and `PuppeteerCrawler` on Chromium.
 *
 * A request that is refused is skipped: `onSkippedRequest({ url, reason: 'robotsTxt', decision })` is called (see
 * {@link SkippedRequest}), and the request is neither retried nor failed. Links and start URLs that a robots.txt in
 * memory disallows are not added to the queue; adding never waits for a robots.txt. Other URLs are decided when they
 * are taken from the queue. While robots.txt is unreachable, `decision.reason` is `'unreachable'`, and
 * `decision.retryAt` is the time from which to crawl that URL again.
 *
 * `context.sendRequest` is guarded too, and throws the refusal. A request with
 * `userData: { robots: { ignore: true, because: '…' } }`, or `sendRequest({ robots: … })`, is not checked.
 *
 * With `pacing` a request waits for its permit before it is handled, and counts as one of the concurrent requests while
 * it waits, but not for `requestHandlerTimeoutSecs`. A request that has to wait longer than `maxDelayMs` goes back to
 * the queue until it may leave (`retryAt` of `RobotsDeferredError`). That is neither a failure nor a retry, says
 * nothing about the session, and leaves the place to a request for another site. Within a handler, redirects and
 * `sendRequest` wait at most half of the time-out, and then the whole request goes back. A browser waits within
 * `navigationTimeoutSecs`.
 *
 * An `httpClient` of your own sends one hop at a time (`followRedirect: false`). A client that follows redirects
 * nevertheless is detected and refused. Requests that a handler makes by other means are not checked: use `guardFetch`
 * for them.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { CheerioCrawler } from '@crawlee/cheerio';
 * import { RobotsClient } from 'canfetch';
 * import { withRobots } from 'canfetch/crawlee';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const PoliteCrawler = withRobots(CheerioCrawler, robots);
 * const crawler = new PoliteCrawler({ requestHandler: ({ enqueueLinks }) => enqueueLinks() });
 * await crawler.run(['https://example.com/page']);
 * ```
 */
export function withRobots<Class extends new (...args: never[]) => object>(
  crawler: Class,
  client: RobotsClient,
  options: ThrowingGuardOptions = {},
): Class {
  assertThrowing(options);
  const pages = new PageGuards({
    playwright: (context) => guardPlaywright(context, client, options),
    puppeteer: (context) => guardPuppeteer(context, client, options),
  });
  const guard = new CrawlerGuard(client, options, pages);
  // The guard of a subclass would wait for the permit that the other one holds.
  if (Reflect.get(Object(Reflect.get(Object(crawler), 'prototype')), GUARDED) === true)
    throw guardedTwice('a crawler class');
  const guarded = withGuardedRequests(withCheckedLinks(crawlerClass(crawler), guard), guard);
  // Crawlee uses the name in its logs.
  Object.defineProperty(guarded, 'name', { value: crawler.name });
  Object.defineProperty(guarded.prototype, GUARDED, { value: true });
  return guarded as unknown as Class;
}

/** A registered symbol, so that another copy of this package in the process finds it too. */
const GUARDED: unique symbol = Symbol.for('canfetch.crawler');
/** Beyond it, links may be reported again. */
const MAX_SKIPPED = 100_000;
/** The longest time out of the queue: it is shorter than the lock of a request, and than a queue waits for news. */
const LONGEST_MS = 60_000;
/** The least time, so that a request whose time has come by a clock set forward does not spin. */
const SHORTEST_MS = 100;

/** A subclass of `Base` that adds no link to the queue which robots.txt in memory disallows, and skips with reasons. */
function withCheckedLinks(Base: CrawlerClass, guard: CrawlerGuard): CrawlerClass {
  return class extends Base {
    /** The URLs that were reported as skipped in this run: a link may stand on every page. */
    readonly #skipped = new Set<string>();

    constructor(...args: unknown[]) {
      super(...args);
      assertRespectful(args[0]);
      // Without it Crawlee does not check links.
      this.respectRobotsTxtFile = true;
      this.log = guard.logging(this.log);
    }

    override addRequests(requests: unknown, ...rest: unknown[]): Promise<unknown> {
      return guard.adding(requests, (noted) => super.addRequests(noted, ...rest));
    }

    override enqueueLinksWithCrawlDepth(links: object, ...rest: unknown[]): Promise<unknown> {
      return guard.adding(links, () => super.enqueueLinksWithCrawlDepth(links, ...rest));
    }

    override async getRobotsTxtFileForUrl(): Promise<{ isAllowed(url: string): boolean }> {
      return { isAllowed: (url) => guard.mayBeAdded(url) };
    }

    override isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean> {
      return guard.isAllowed(url, this.browserPool !== undefined);
    }

    override async handleSkippedRequest(skipped: SkippedRequest): Promise<void> {
      guard.explain(skipped);
      if (skipped.reason === 'robotsTxt') {
        if (this.#skipped.has(skipped.url)) return;
        if (this.#skipped.size >= MAX_SKIPPED) this.#skipped.clear();
        this.#skipped.add(skipped.url);
      }
      return super.handleSkippedRequest(skipped);
    }

    override teardown(): Promise<void> {
      this.#skipped.clear();
      return super.teardown();
    }
  };
}

/** A subclass of `Base` whose requests take the steps of the guard, and go back to the queue when they are deferred. */
function withGuardedRequests(Base: CrawlerClass, guard: CrawlerGuard): CrawlerClass {
  return class extends Base {
    readonly #deferred = new DeferredRequests(this, guard.clock);

    constructor(...args: unknown[]) {
      super(...args);
      this.httpClient = guardHttpClient(this.httpClient, guard.stepsOf);
      if (this.browserPool !== undefined) {
        this.preNavigationHooks = [...(this.preNavigationHooks ?? []), guard.enterPage];
        this.postNavigationHooks = [guard.leavePage, ...(this.postNavigationHooks ?? [])];
      }
    }

    override _runTaskFunction(): Promise<void> {
      const { navigationTimeoutMillis = Infinity, requestHandlerTimeoutMillis = Infinity } = this;
      const context = {
        maxWaitMs: Math.min(navigationTimeoutMillis, requestHandlerTimeoutMillis) / 2,
        stopping: this.#deferred.ended,
        ignoresTlsErrors: this.ignoreSslErrors === true,
      };
      return guard.handling(context, async (handled) => {
        await super._runTaskFunction().catch((error: unknown) => {
          // Crawlee knows nothing of a request that is deferred before it is handled.
          if (handled.deferral === undefined) throw error;
        });
        const { deferral, taken } = handled;
        if (deferral === undefined || taken === undefined || this.requestManager === undefined) return;
        const url = urlWithoutUserinfo(taken.url);
        if (deferral.stopsCrawler === true) this.stop(`${url} goes back to the queue: ${deferral.message}`);
        else this.log.debug(`Request ${url} goes back to the queue later: ${deferral.message}`);
        this.#deferred.defer(taken, this.requestManager, deferral.retryAt);
      });
    }

    /** What waits goes back to the queue. */
    override stop(reason?: string): void {
      super.stop(reason);
      this.#deferred.stop();
    }

    override async _fetchNextRequest(): Promise<CrawlRequest | null> {
      guard.extendLocks(this.requestQueue);
      const request = await super._fetchNextRequest();
      if (request === null || this.#deferred.defersAgain(request, this.requestManager)) return null;
      if (guard.request !== undefined) guard.request.taken = request;
      return request;
    }

    override _runRequestHandler(context: CrawlingContext): Promise<void> {
      return runHandler(this, guard, context, () => super._runRequestHandler(context));
    }

    override async _requestFunctionErrorHandler(
      error: unknown,
      context: CrawlingContext,
      source: RequestSource,
    ): Promise<void> {
      if (guard.request?.deferral === undefined) {
        return super._requestFunctionErrorHandler(error, context, source);
      }
      // Crawlee would mark it as bad next.
      context.session = undefined;
    }

    override async teardown(): Promise<void> {
      await this.#deferred.end();
      return super.teardown();
    }
  };
}

/** Runs the handler of a request that was taken from the queue. A refused request is skipped: that is no failure. */
async function runHandler(
  crawler: Crawler,
  { request: guarded }: CrawlerGuard,
  { request }: CrawlingContext,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    await guarded?.begin(crawler.preNavigationHooks !== undefined);
    await handle();
  } catch (error) {
    if ((await guarded?.defers(error)) === true) throw error;
    const refusal = await guarded?.refusal();
    // A refusal and invalid options would be the same at the next try, so do not retry.
    if (refusal !== undefined || refusalIn(error) !== undefined || isRobotsError(error))
      request.noRetry = true;
    if (refusal === undefined) throw error;
    // Crawlee counts it as finished otherwise.
    crawler.stats?.requestsInProgress?.delete(request.id ?? request.uniqueKey ?? '');
    crawler.log.warning(`Skipping request ${urlWithoutUserinfo(request.url)}`);
    await crawler.handleSkippedRequest({ url: request.url, reason: 'robotsTxt' });
  }
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
function assertRespectful(options: unknown): void {
  const given: unknown = Reflect.get(Object(options), 'respectRobotsTxtFile');
  if (given === undefined || given === true) return;
  throw new RobotsInvalidOptionsError(
    'Expected `respectRobotsTxtFile` to be left out or true: `withRobots` decides instead, for its `agent`',
  );
}

/** The requests of one crawler that wait for the time at which they go back to the queue. */
class DeferredRequests {
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
