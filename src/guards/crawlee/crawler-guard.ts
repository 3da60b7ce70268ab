import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../core/base/index.ts';
import { ignoredBecause, type ThrowingGuardOptions } from '../shared/options.ts';
import { Guard } from '../shared/guard.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import type { HttpRequest, RequestSteps } from './http-client.ts';
import type { PageGuards } from './page-guard.ts';
import { type RequestContext, RequestGuard, SteppedRequest } from './request-guard.ts';
import { type Crawler, type CrawlingContext, robotsOf, type SkippedRequest } from './types.ts';

/** Seconds that Crawlee's queue must allow for fetching a robots.txt. Waits for slots are added. */
const WAIT_FOR_ROBOTS_SECS = 30;

/** Requests that are being added to the queue. */
interface Adding {
  /** The request being added, or the options of `enqueueLinks`. */
  source: unknown;
}

/**
 * What the crawlers of one class share. Crawlee's methods call each other without telling for which request, so that is
 * kept in the asynchronous context.
 */
export class CrawlerGuard {
  readonly #guard: Guard;
  readonly #context = new AsyncLocalStorage<Adding | RequestGuard>();
  readonly #pages: PageGuards;
  /** See {@link RequestContext.outages}. */
  readonly #outages = new Map<string, number>();
  /** Queues whose `requestLockSecs` has been raised for requests that wait. */
  readonly #extendedQueues = new WeakSet<object>();

  /** @param pages The guards of browsers. They are entry points, so only the entry point of Crawlee imports them. */
  constructor(client: RobotsClient, options: ThrowingGuardOptions, pages: PageGuards) {
    this.#guard = new Guard(client, options, { headersBeforeBody: true, choosesUserAgent: true });
    this.#pages = pages;
  }

  /** The guard of the request that the current asynchronous context handles. */
  get request(): RequestGuard | undefined {
    const current = this.#context.getStore();
    return current instanceof RequestGuard ? current : undefined;
  }

  /** Adds what `source` has, or is, to the queue: requests, or the options of `enqueueLinks`. */
  adding<Result>(source: unknown, add: (source: unknown) => Promise<Result>): Promise<Result> {
    const current: Adding = { source };
    return this.#context.run(current, () => add(isIterable(source) ? noting(source, current) : source));
  }

  get clock(): Clock {
    return this.#guard.clock;
  }

  /** Handles a request of the queue. */
  handling(
    context: Omit<RequestContext, 'guard' | 'outages'>,
    handle: (request: RequestGuard) => Promise<void>,
  ): Promise<void> {
    const request = new RequestGuard({ ...context, guard: this.#guard, outages: this.#outages });
    return this.#context.run(request, () => handle(request).finally(() => request.end()));
  }

  /** Whether a link is added to the queue. It waits for nothing: an unknown link is decided when its turn comes. */
  mayBeAdded(url: string): boolean {
    const current = this.#context.getStore();
    const source = current instanceof RequestGuard ? undefined : current?.source;
    if (!this.#guard.enforces || ignoredBecause(robotsOf(source)) !== undefined) return true;
    return !this.#guard.keepsOut(url);
  }

  /** Whether a URL may be added, or the request of the queue handled. */
  async isAllowed(url: string, inBrowser: boolean): Promise<boolean> {
    const current = this.#context.getStore();
    if (current instanceof RequestGuard) return current.admit(url, inBrowser);
    if (current !== undefined) return this.mayBeAdded(url);
    const other = new RequestGuard({ guard: this.#guard, maxWaitMs: Infinity, outages: this.#outages });
    const allowed = await other.admit(url, inBrowser);
    other.end();
    await other.begin(true);
    return allowed;
  }

  /** The steps of a request of the crawler's HTTP client. */
  readonly stepsOf = (request: HttpRequest, navigates: boolean): RequestSteps =>
    this.request?.stepsOf(request, navigates) ??
    new SteppedRequest(this.#guard, request, {
      because: ignoredBecause(request.robots),
      admitted: undefined,
    });

  /** Gives `skipped` its refusal. It changes the object, which the `onSkippedRequest` of `enqueueLinks` gets, too. */
  explain(skipped: SkippedRequest): void {
    this.request?.takeSkipText();
    if (skipped.reason !== 'robotsTxt') return;
    const refusal = this.request?.knownRefusal ?? this.#guard.refusalInMemory(skipped.url);
    if (refusal !== undefined) Object.assign(skipped, { decision: refusal.decision, refusal });
  }

  /** A log that says why a request is skipped. Crawlee says "disallowed" also when robots.txt is unreachable. */
  logging<Log extends Crawler['log']>(log: Log): Log {
    const warning = (message: string, ...rest: []): void =>
      log.warning(this.request?.takeSkipText() ?? message, ...rest);
    return Object.create(log, { warning: { value: warning, writable: true } }) as Log;
  }

  /** Lets a queue know how long a request may wait before it is given to another consumer. */
  extendLocks(queue: Crawler['requestQueue']): void {
    if (queue?.requestLockSecs === undefined || this.#extendedQueues.has(queue)) return;
    this.#extendedQueues.add(queue);
    queue.requestLockSecs += WAIT_FOR_ROBOTS_SECS + Math.ceil(this.#guard.maxDelayMs / 1000);
  }

  /** Guards the page that a browser crawler navigates. */
  readonly enterPage = async (context: CrawlingContext): Promise<void> => {
    // AdaptivePlaywrightCrawler calls hooks for requests without a browser, too.
    if (!('browserController' in context) || context.page === undefined) return;
    const page = await this.#pages.of(context.page);
    const because = ignoredBecause(robotsOf(context.request));
    if (because !== undefined) await page.ignore(because);
    const { request } = this;
    if (request !== undefined) request.page = page;
  };

  /** The page was navigated. */
  readonly leavePage = async (): Promise<void> => {
    const { request } = this;
    if (request !== undefined) request.page = undefined;
  };
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
async function* noting(requests: AnyIterable, current: Adding): AsyncGenerator<unknown> {
  for await (const request of requests) {
    current.source = request;
    yield request;
  }
}
