/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import { isRobotsError, RobotsInvalidOptionsError } from '../../base/index.ts';
import type { Decision } from '../../decision/index.ts';
import { fieldsOf, usageHeaders } from '../fetch/response.ts';
import type { GuardClient } from '../client.ts';
import { Guard, reachesSite } from '../guard.ts';
import { ignoredBecause } from '../ignore.ts';
import type { TakenSlot } from '../../pacing/index.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../options.ts';
import { guardContext as guardPlaywright } from '../browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../browser/puppeteer.ts';
import { type Refusal, refusalFor, refusalIn } from '../refusal.ts';
import { type BeginChecks, guardHttpClient } from './http-client.ts';
import { PageGuards } from './page-guard.ts';
import {
  crawlerClass,
  type CrawlingContext,
  type CrawlRequest,
  type NavigationHook,
  type SkippedRequest,
  type Adding,
  withSource,
  robotsOf,
  type Running,
  running,
  type CrawlerStep,
} from './types.ts';
import { AsyncLocalStorage } from 'node:async_hooks';

export type { SkippedRequest } from './types.ts';
export type { GuardClient } from '../client.ts';
export type { RobotsInit } from '../ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../options.ts';

/** Seconds that Crawlee's queue must allow for fetching a robots.txt. Waits for slots are added. */
const WAIT_FOR_ROBOTS_SECS = 30;

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
 * it waits. A redirect waits within Crawlee's `navigationTimeoutSecs`. A deferred request fails with
 * `RobotsDeferredError` and is not retried.
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
  const guard = new Guard(client, options, true);
  const Base = crawlerClass(crawler);
  const steps = new AsyncLocalStorage<CrawlerStep>();
  const pageGuards = new PageGuards({
    playwright: (context) => guardPlaywright(context, client, options),
    puppeteer: (context) => guardPuppeteer(context, client, options),
  });
  /** Queues whose `requestLockSecs` has been raised for requests that wait. */
  const extendedQueues = new WeakSet<object>();

  /** The decision that keeps a URL out of the queue. Uses only robots.txt files in memory. */
  const known = (text: string): Decision | undefined => {
    if (!URL.canParse(text) || !reachesSite(new URL(text))) return undefined;
    const decision = client.peek(text, options.agent);
    return decision?.allowed === false ? decision : undefined;
  };

  const mayBeAdded = (url: string): boolean => {
    const step = steps.getStore();
    const source = step?.name === 'adding' ? step.source : undefined;
    if (!guard.enforces || ignoredBecause(robotsOf(source)) !== undefined) return true;
    const refused = known(url);
    // robots.txt may be reachable again when the request is processed.
    if (refused === undefined || refused.reason === 'unreachable') return true;
    if (options.filter?.(new URL(url)) === false) return true;
    options.onRefusal?.(refused);
    return false;
  };

  const mayRun = async (url: string, inBrowser: boolean): Promise<boolean> => {
    const step = running(steps);
    const request = step?.request?.url === url ? step.request : undefined;
    let allowedBy: Decision | undefined;
    try {
      const because = ignoredBecause(robotsOf(request));
      // In a browser the guard of the page reports the request.
      if (inBrowser && (because !== undefined || !guard.enforces)) return true;
      const onSlot = (slot: TakenSlot): void => {
        step?.slot?.release();
        if (step !== undefined) step.slot = slot;
      };
      const refused = await guard.refuses(new URL(url), {
        because,
        paced: !inBrowser,
        onDecision: guard.hasPurpose ? (decision) => void (allowedBy = decision) : undefined,
        ...(step === undefined ? {} : { onSlot }),
      });
      if (step !== undefined) {
        step.decided = { url, allowedBy };
        if (refused !== undefined) step.refused = refused;
      }
      return refused === undefined;
    } catch (error) {
      if (step === undefined) throw error;
      step.failure = { error };
      return true;
    }
  };

  const beginChecks: BeginChecks = (request, navigates) => {
    const step = running(steps);
    const first = new URL(request.url).href;
    const own = step?.request && new URL(step.request.url).href === first ? step.request : undefined;
    const because = ignoredBecause(request.robots ?? robotsOf(own));
    // The decision made when the request was taken from the queue is used once.
    const isDecided = own !== undefined && step?.decided?.url === own.url && request.robots === undefined;
    let decided = isDecided ? step.decided : undefined;
    let allowedBy = decided?.allowedBy;
    if (decided !== undefined) delete step?.decided;
    const onDecision = guard.hasPurpose ? (decision: Decision) => void (allowedBy = decision) : undefined;
    const refuse = (refused: Decision): Refusal => {
      if (navigates && step !== undefined) step.refused = refused;
      return refusalFor(refused);
    };
    return {
      admit: async (url) => {
        if (decided !== undefined) {
          decided = undefined;
          if (step?.slot?.leaveNow() === false) await step.slot.leave(request.signal);
          return;
        }
        // A URL that `filter` leaves out has no decision.
        allowedBy = undefined;
        const refused = await guard.refuses(url, { signal: request.signal, because, onDecision });
        if (refused !== undefined) throw refuse(refused);
      },
      answered: (url, { statusCode, headers }) => guard.reports.answered(url, statusCode, fieldsOf(headers)),
      failed: (url, error) => {
        // With a proxy, the proxy may have failed rather than the site.
        if (request.proxyUrl === undefined) guard.reports.failed(url, error, request.signal);
      },
      refusesResponse: (headers) => {
        if (!guard.hasPurpose) return undefined;
        const refused = guard.refusesResponse(allowedBy, usageHeaders(headers));
        return refused && refuse(refused);
      },
    };
  };

  const enterPage: NavigationHook = async (context) => {
    // AdaptivePlaywrightCrawler calls hooks for requests without a browser, too.
    if (!('browserController' in context) || context.page === undefined) return;
    const pageGuard = await pageGuards.of(context.page);
    const because = ignoredBecause(robotsOf(context.request));
    if (because !== undefined) await pageGuard.ignore(because);
    const step = running(steps);
    if (step !== undefined) step.page = pageGuard;
  };

  const leavePage: NavigationHook = async () => {
    // Later navigations by the handler do not belong to the request.
    delete running(steps)?.page;
  };

  class GuardedCrawler extends Base {
    constructor(...args: unknown[]) {
      super(...args);
      const given: unknown = Reflect.get(Object(args[0]), 'respectRobotsTxtFile');
      if (given !== undefined && given !== true) {
        throw new RobotsInvalidOptionsError(
          'Expected `respectRobotsTxtFile` to be left out or true: `withRobots` decides instead, for its `agent`',
        );
      }
      // Without it Crawlee does not check links.
      this.respectRobotsTxtFile = true;
      this.httpClient = guardHttpClient(this.httpClient, beginChecks);
      if (this.browserPool !== undefined) {
        this.preNavigationHooks = [...(this.preNavigationHooks ?? []), enterPage];
        this.postNavigationHooks = [leavePage, ...(this.postNavigationHooks ?? [])];
      }
    }

    override addRequests(requests: unknown, ...rest: unknown[]): Promise<unknown> {
      const step: Adding = { name: 'adding', source: undefined };
      return steps.run(step, () => super.addRequests(withSource(requests, step), ...rest));
    }

    override enqueueLinksWithCrawlDepth(links: object, ...rest: unknown[]): Promise<unknown> {
      const step: Adding = { name: 'adding', source: links };
      return steps.run(step, () => super.enqueueLinksWithCrawlDepth(links, ...rest));
    }

    override async getRobotsTxtFileForUrl(): Promise<{ isAllowed(url: string): boolean }> {
      return { isAllowed: mayBeAdded };
    }

    override async isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean> {
      if (steps.getStore()?.name === 'adding') return mayBeAdded(url);
      return mayRun(url, this.browserPool !== undefined);
    }

    override async handleSkippedRequest(skipped: SkippedRequest): Promise<void> {
      const decision = running(steps)?.refused ?? known(skipped.url);
      // Changes the object itself, because the `onSkippedRequest` of `enqueueLinks` gets the same one.
      if (skipped.reason === 'robotsTxt' && decision !== undefined) Object.assign(skipped, { decision });
      return super.handleSkippedRequest(skipped);
    }

    override _runTaskFunction(): Promise<void> {
      const step: Running = { name: 'running' };
      // A request that failed before it was sent gives its slot back.
      return steps.run(step, () => super._runTaskFunction().finally(() => step.slot?.release()));
    }

    override async _fetchNextRequest(): Promise<CrawlRequest | null> {
      const { requestQueue } = this;
      if (requestQueue?.requestLockSecs !== undefined && !extendedQueues.has(requestQueue)) {
        extendedQueues.add(requestQueue);
        requestQueue.requestLockSecs += WAIT_FOR_ROBOTS_SECS + Math.ceil(guard.maxDelayMs / 1000);
      }
      const request = await super._fetchNextRequest();
      const step = running(steps);
      if (step !== undefined) step.request = request;
      return request;
    }

    override async _runRequestHandler(context: CrawlingContext): Promise<void> {
      const { request } = context;
      const step = running(steps);
      try {
        if (step?.failure !== undefined) throw step.failure.error;
        // A crawler without navigation sends the request in its handler, where the guard may not see it.
        if (this.preNavigationHooks === undefined) await step?.slot?.leave();
        await super._runRequestHandler(context);
      } catch (error) {
        const refused = step && (step.refused ?? (await refusedPage(step)));
        // A refusal and invalid options would be the same at the next try, so do not retry.
        if (refused !== undefined || refusalIn(error) !== undefined || isRobotsError(error)) {
          request.noRetry = true;
        }
        if (step === undefined || refused === undefined) throw error;
        step.refused = refused;
        this.log.warning(`Skipping request ${request.url} (${request.id}): ${refusalFor(refused).message}`);
        await this.handleSkippedRequest({ url: request.url, reason: 'robotsTxt' });
      }
    }
  }
  // Crawlee uses the name in its logs.
  Object.defineProperty(GuardedCrawler, 'name', { value: crawler.name });
  return GuardedCrawler as unknown as Class;
}

async function refusedPage({ page }: Running): Promise<Decision | undefined> {
  return page && refusalIn(await page.errorOfPage())?.decision;
}
