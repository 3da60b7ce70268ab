/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import { isRobotsError, RobotsInvalidOptionsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { Guard } from '../shared/guard.ts';
import { ignoredBecause } from '../shared/options.ts';
import { refusalIn } from '../shared/refusal-errors.ts';
import { DeferredRequests } from './deferred-requests.ts';
import { guardHttpClient } from './http-client.ts';
import { RequestGuard, SteppedRequest } from './request-guard.ts';
import {
  type CrawledPage,
  type CrawlerClass,
  type CrawlingContext,
  type CrawlRequest,
  type HttpRequest,
  type RequestSource,
  robotsOf,
  type SkippedRequest,
} from './types.ts';

/**
 * Guards a page of a browser, or, for a reason, leaves its navigations unchecked. Returns what gives the error that blocked
 * its last navigation.
 */
export type GuardPage = (page: CrawledPage, because: string | undefined) => Promise<() => Promise<unknown>>;

/** Requests that are being added to the queue. */
interface Adding {
  /** The request being added, or the options of `enqueueLinks`. */
  source: unknown;
}

/** Seconds that Crawlee's queue must allow for fetching a robots.txt. Waits for slots are added. */
const WAIT_FOR_ROBOTS_SECS = 30;
/** Beyond it, links may be reported again. */
const MAX_SKIPPED = 100_000;
const MAX_OUTAGES = 10_000;

/**
 * A subclass of `Base` that adds no link to the queue which robots.txt in memory disallows, and whose requests take the steps
 * of the guard: they are skipped with reasons, or go back to the queue when they are deferred.
 */
export function guardedClass(Base: CrawlerClass, guard: Guard, guardPage: GuardPage): CrawlerClass {
  /** Crawlee's methods call each other without telling for which request. */
  const contexts = new AsyncLocalStorage<Adding | RequestGuard>();
  const outages = new LRUCache<string, number>({ max: MAX_OUTAGES });
  /** Queues whose `requestLockSecs` has been raised for requests that wait. */
  const extendedQueues = new WeakSet<object>();

  /** The guard of the request that is being handled. */
  const handled = (): RequestGuard | undefined => {
    const context = contexts.getStore();
    return context instanceof RequestGuard ? context : undefined;
  };
  if (guard.paces) guard.onOtherGuard(() => handled()?.take());

  const adding = <Result>(source: unknown, add: (source: unknown) => Promise<Result>): Promise<Result> => {
    const context: Adding = { source };
    return contexts.run(context, () => add(isIterable(source) ? noting(source, context) : source));
  };

  /** Whether a link is added to the queue. It waits for nothing: an unknown link is decided when its turn comes. */
  const mayBeAdded = (url: string): boolean => {
    const context = contexts.getStore();
    const source = context instanceof RequestGuard ? undefined : context?.source;
    return !guard.settings.enforces || ignoredBecause(robotsOf(source)) !== undefined || !guard.keepsOut(url);
  };

  const stepsOf = (request: HttpRequest, navigates: boolean): SteppedRequest =>
    handled()?.stepsOf(request, navigates) ??
    new SteppedRequest(guard, request, { because: ignoredBecause(request.robots) });

  /** Guards the page that a browser crawler navigates. */
  const enterPage = async (context: CrawlingContext): Promise<void> => {
    // AdaptivePlaywrightCrawler calls hooks for requests without a browser, too.
    if (!('browserController' in context) || context.page === undefined) return;
    const errorOfPage = await guardPage(context.page, ignoredBecause(robotsOf(context.request)));
    const request = handled();
    if (request !== undefined) request.errorOfPage = errorOfPage;
  };

  const leavePage = async (): Promise<void> => {
    const request = handled();
    if (request !== undefined) request.errorOfPage = undefined;
  };

  return class extends Base {
    readonly #deferred = new DeferredRequests(this, guard.settings.clock);
    /** The URLs that were reported as skipped in this run: a link may stand on every page. */
    readonly #skipped = new Set<string>();

    constructor(...args: unknown[]) {
      super(...args);
      assertRespectful(args[0]);
      // Without it Crawlee does not check links.
      this.respectRobotsTxtFile = true;
      const { log } = this;
      // It says why a request is skipped. Crawlee says "disallowed" also when robots.txt is unreachable.
      const warning = (message: string, ...rest: []): void =>
        log.warning(handled()?.takeSkipText() ?? message, ...rest);
      this.log = Object.create(log, { warning: { value: warning, writable: true } });
      this.httpClient = guardHttpClient(this.httpClient, stepsOf);
      if (this.browserPool !== undefined) {
        this.preNavigationHooks = [...(this.preNavigationHooks ?? []), enterPage];
        this.postNavigationHooks = [leavePage, ...(this.postNavigationHooks ?? [])];
      }
    }

    override addRequests(requests: unknown, ...rest: unknown[]): Promise<unknown> {
      return adding(requests, (noted) => super.addRequests(noted, ...rest));
    }

    override enqueueLinksWithCrawlDepth(links: object, ...rest: unknown[]): Promise<unknown> {
      return adding(links, () => super.enqueueLinksWithCrawlDepth(links, ...rest));
    }

    override async getRobotsTxtFileForUrl(): Promise<{ isAllowed(url: string): boolean }> {
      return { isAllowed: mayBeAdded };
    }

    /** Whether a URL may be added, or the request of the queue handled. */
    override async isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean> {
      return handled()?.admit(url, this.browserPool !== undefined) ?? mayBeAdded(url);
    }

    override async handleSkippedRequest(skipped: SkippedRequest): Promise<void> {
      const request = handled();
      request?.takeSkipText();
      if (skipped.reason === 'robotsTxt') {
        const refusal = request?.refusal ?? guard.refusalInMemory(skipped.url);
        // The `onSkippedRequest` of `enqueueLinks` gets the object, too.
        if (refusal !== undefined) Object.assign(skipped, { decision: refusal.decision, refusal });
        if (this.#skipped.has(skipped.url)) return;
        if (this.#skipped.size >= MAX_SKIPPED) this.#skipped.clear();
        this.#skipped.add(skipped.url);
      }
      return super.handleSkippedRequest(skipped);
    }

    override _runTaskFunction(): Promise<void> {
      const { navigationTimeoutMillis = Infinity, requestHandlerTimeoutMillis = Infinity } = this;
      const request = new RequestGuard({
        guard,
        outages,
        maxWaitMs: Math.min(navigationTimeoutMillis, requestHandlerTimeoutMillis) / 2,
        stopping: this.#deferred.ended,
        ignoresTlsErrors: this.ignoreSslErrors === true,
      });
      return contexts.run(request, async () => {
        try {
          await super._runTaskFunction();
        } catch (error) {
          // Crawlee knows nothing of a request that is deferred before it is handled.
          if (request.deferral === undefined) throw error;
        } finally {
          request.end();
        }
        const { deferral, taken } = request;
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
      const queue = this.requestQueue;
      // A request may wait for long before it is given to another consumer.
      if (queue?.requestLockSecs !== undefined && !extendedQueues.has(queue)) {
        extendedQueues.add(queue);
        queue.requestLockSecs += WAIT_FOR_ROBOTS_SECS + Math.ceil(guard.maxDelayMs / 1000);
      }
      const taken = await super._fetchNextRequest();
      if (taken === null || this.#deferred.defersAgain(taken, this.requestManager)) return null;
      const request = handled();
      if (request !== undefined) request.taken = taken;
      return taken;
    }

    /** A refused request is skipped: that is no failure. */
    override async _runRequestHandler(context: CrawlingContext): Promise<void> {
      const guarded = handled();
      try {
        guarded?.begin(this.preNavigationHooks !== undefined);
        await super._runRequestHandler(context);
      } catch (error) {
        if ((await guarded?.defers(error)) === true) throw error;
        const { request } = context;
        const isRefused = guarded?.refusal !== undefined;
        // A refusal and invalid options would be the same at the next try, so do not retry.
        if (isRefused || refusalIn(error) !== undefined || isRobotsError(error)) request.noRetry = true;
        if (!isRefused) throw error;
        // Crawlee counts it as finished otherwise.
        this.stats?.requestsInProgress?.delete(request.id ?? request.uniqueKey ?? '');
        this.log.warning(`Skipping request ${urlWithoutUserinfo(request.url)}`);
        await this.handleSkippedRequest({ url: request.url, reason: 'robotsTxt' });
      }
    }

    override async _requestFunctionErrorHandler(
      error: unknown,
      context: CrawlingContext,
      source: RequestSource,
    ): Promise<void> {
      // Crawlee would mark it as bad next.
      if (handled()?.deferral !== undefined) context.session = undefined;
      else await super._requestFunctionErrorHandler(error, context, source);
    }

    override async teardown(): Promise<void> {
      await this.#deferred.end();
      this.#skipped.clear();
      return super.teardown();
    }
  };
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
function assertRespectful(options: unknown): void {
  const given: unknown = Reflect.get(Object(options), 'respectRobotsTxtFile');
  if (given === undefined || given === true) return;
  throw new RobotsInvalidOptionsError(
    'Expected `respectRobotsTxtFile` to be left out or true: `withRobots` decides instead, for its `agent`',
  );
}

type AnyIterable = Iterable<unknown> | AsyncIterable<unknown>;

function isIterable(source: unknown): source is AnyIterable {
  return (
    typeof source === 'object' &&
    source !== null &&
    (Symbol.iterator in source || Symbol.asyncIterator in source)
  );
}

/** Notes each request read from `requests`. Crawlee checks its URL before it reads the next. */
async function* noting(requests: AnyIterable, context: Adding): AsyncGenerator<unknown> {
  for await (const request of requests) {
    context.source = request;
    yield request;
  }
}
