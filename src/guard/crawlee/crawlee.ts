/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import { isRobotsError, RobotsInvalidOptionsError } from '../../base/index.ts';
import { guardContext as guardPlaywright } from '../browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../browser/puppeteer.ts';
import type { GuardClient } from '../client.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../options.ts';
import { refusalIn } from '../refusal.ts';
import { CrawlerGuard } from './crawler-guard.ts';
import { DeferredRequests } from './deferred-requests.ts';
import { guardHttpClient } from './http-client.ts';
import { PageGuards } from './page-guard.ts';
import {
  crawlerClass,
  type CrawlingContext,
  type CrawlRequest,
  type RequestSource,
  type SkippedRequest,
} from './types.ts';

export type { SkippedRequest } from './types.ts';
export type { GuardClient } from '../client.ts';
export type { RobotsInit } from '../ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../options.ts';

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
 * With `pacing` a request waits for its slot before it is handled, and counts as one of the concurrent requests while
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
  client: GuardClient,
  options: ThrowingGuardOptions = {},
): Class {
  assertThrowing(options);
  const pages = new PageGuards({
    playwright: (context) => guardPlaywright(context, client, options),
    puppeteer: (context) => guardPuppeteer(context, client, options),
  });
  const guard = new CrawlerGuard(client, options, pages);
  const Base = crawlerClass(crawler);

  class GuardedCrawler extends Base {
    readonly #deferred = new DeferredRequests(this, guard.clock);

    constructor(...args: unknown[]) {
      super(...args);
      assertRespectful(args[0]);
      // Without it Crawlee does not check links.
      this.respectRobotsTxtFile = true;
      this.log = guard.logging(this.log);
      this.httpClient = guardHttpClient(this.httpClient, guard.stepsOf);
      if (this.browserPool !== undefined) {
        this.preNavigationHooks = [...(this.preNavigationHooks ?? []), guard.enterPage];
        this.postNavigationHooks = [guard.leavePage, ...(this.postNavigationHooks ?? [])];
      }
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
      return super.handleSkippedRequest(skipped);
    }

    override _runTaskFunction(): Promise<void> {
      const { navigationTimeoutMillis = Infinity, requestHandlerTimeoutMillis = Infinity } = this;
      const maxDelayMs = Math.min(navigationTimeoutMillis, requestHandlerTimeoutMillis) / 2;
      return guard.handling(maxDelayMs, async (handled) => {
        await super._runTaskFunction().catch((error: unknown) => {
          // Crawlee knows nothing of a request that is deferred before it is handled.
          if (error !== handled.deferral) throw error;
        });
        const { deferral, taken } = handled;
        if (deferral === undefined || taken === undefined || this.requestManager === undefined) return;
        this.log.debug(`Request ${taken.url} goes back to the queue later: ${deferral.message}`);
        this.#deferred.defer(taken, this.requestManager, deferral.retryAt);
      });
    }

    override async teardown(): Promise<void> {
      await this.#deferred.end();
      return super.teardown();
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

    override async _fetchNextRequest(): Promise<CrawlRequest | null> {
      guard.extendLocks(this.requestQueue);
      const request = await super._fetchNextRequest();
      if (request !== null) guard.request?.take(request);
      return request;
    }

    override async _runRequestHandler(context: CrawlingContext): Promise<void> {
      const { request } = context;
      try {
        await guard.request?.begin(this.preNavigationHooks !== undefined);
        await super._runRequestHandler(context);
      } catch (error) {
        if ((await guard.request?.defers(error)) === true) throw error;
        const refusal = await guard.request?.refusal();
        // A refusal and invalid options would be the same at the next try, so do not retry.
        if (refusal !== undefined || refusalIn(error) !== undefined || isRobotsError(error)) {
          request.noRetry = true;
        }
        if (refusal === undefined) throw error;
        this.log.warning(`Skipping request ${request.url}`);
        await this.handleSkippedRequest({ url: request.url, reason: 'robotsTxt' });
      }
    }
  }
  // Crawlee uses the name in its logs.
  Object.defineProperty(GuardedCrawler, 'name', { value: crawler.name });
  return GuardedCrawler as unknown as Class;
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
function assertRespectful(options: unknown): void {
  const given: unknown = Reflect.get(Object(options), 'respectRobotsTxtFile');
  if (given === undefined || given === true) return;
  throw new RobotsInvalidOptionsError(
    'Expected `respectRobotsTxtFile` to be left out or true: `withRobots` decides instead, for its `agent`',
  );
}
