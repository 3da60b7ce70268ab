import { guardContext as guardPlaywright } from '../browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../browser/puppeteer.ts';
import type { GuardClient } from '../shared/client.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../shared/options.ts';
import { CrawlerGuard } from './crawler-guard.ts';
import { withCheckedLinks, withGuardedRequests } from './guarded-crawler.ts';
import { PageGuards } from './page-guard.ts';
import { crawlerClass } from './types.ts';

export type { SkippedRequest } from './types.ts';
export type { GuardClient } from '../shared/client.ts';
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
  client: GuardClient,
  options: ThrowingGuardOptions = {},
): Class {
  assertThrowing(options);
  const pages = new PageGuards({
    playwright: (context) => guardPlaywright(context, client, options),
    puppeteer: (context) => guardPuppeteer(context, client, options),
  });
  const guard = new CrawlerGuard(client, options, pages);
  const guarded = withGuardedRequests(withCheckedLinks(crawlerClass(crawler), guard), guard);
  // Crawlee uses the name in its logs.
  Object.defineProperty(guarded, 'name', { value: crawler.name });
  return guarded as unknown as Class;
}
