import { quote, RobotsInvalidOptionsError } from '../../base/index.ts';
import type { Decision } from '../../decision/index.ts';
import type { TakenSlot } from '../../pacing/index.ts';
import type { PageLike, ContextGuard } from '../playwright/playwright.ts';
import type { HttpClient } from './http-client.ts';
import type { AsyncLocalStorage } from 'node:async_hooks';

/** What a crawler is at, in the asynchronous context at hand. */
export type Step = Adding | Running;

/** Putting requests into the queue. */
export interface Adding {
  readonly name: 'adding';
  /** The request, or the options of `enqueueLinks`, that come next. */
  source: unknown;
}

/** Making one request of the queue, with all its handler does. */
export interface Running {
  readonly name: 'running';
  request?: CrawlRequest | null;
  /** Decided, and told of, when the turn of the request came. */
  decided?: string;
  /** With pacing: the slot it is to leave in. */
  slot?: TakenSlot;
  /** What kept it from being decided: the request fails with it. */
  failure?: { readonly error: unknown };
  /** Why its navigation was refused. */
  refused?: Decision;
  /** The page it navigates. */
  page?: { readonly page: PageLike; readonly guard: ContextGuard };
}

/** The request that is being made, in the asynchronous context at hand. */
export function running(steps: AsyncLocalStorage<Step>): Running | undefined {
  const step = steps.getStore();
  return step?.name === 'running' ? step : undefined;
}

/** What a request, as Crawlee takes it, says of robots.txt. */
export function robotsOf(source: unknown): unknown {
  return Reflect.get(Object(Reflect.get(Object(source), 'userData')), 'robots');
}

/** `requests`, each noted when it is taken: Crawlee asks about its URL alone, before it takes the next. */
export function noting(requests: unknown, step: Adding): unknown {
  if (typeof requests !== 'object' || requests === null) return requests;
  if (!(Symbol.iterator in requests) && !(Symbol.asyncIterator in requests)) return requests;
  return noted(requests as Iterable<unknown> | AsyncIterable<unknown>, step);
}

async function* noted(
  requests: Iterable<unknown> | AsyncIterable<unknown>,
  step: Adding,
): AsyncGenerator<unknown> {
  for await (const request of requests) {
    step.source = request;
    yield request;
  }
}

/** What Crawlee's `onSkippedRequest` is told by a guarded crawler. */
export interface SkippedRequest {
  readonly url: string;
  /** `'robotsTxt'` for what robots.txt refuses, on its own account or that of a redirect. */
  readonly reason: string;
  /**
   * About the URL that was refused, with `reason: 'robotsTxt'`. Where `decision.reason` is `'unreachable'` nothing is
   * known of the site's rules: ask again from `decision.retryAt` on.
   */
  readonly decision?: Decision;
}

/** The part of Crawlee's `Request` that the guard reads and writes. */
export interface CrawlRequest {
  readonly id?: string;
  readonly url: string;
  readonly userData?: unknown;
  noRetry?: boolean;
}

export interface CrawlingContext {
  readonly request: CrawlRequest;
  /** Of browser crawlers. */
  readonly page?: PageLike;
}

interface RequestQueue {
  /** After so many seconds a request that was taken is given to somebody else. */
  requestLockSecs?: number;
}

export type NavigationHook = (context: CrawlingContext) => Promise<void>;

/** The inside of a crawler of Crawlee 3, as far as the guard takes part in it. */
export interface Crawler {
  httpClient: HttpClient;
  respectRobotsTxtFile: unknown;
  readonly log: { warning(message: string): void };
  readonly requestQueue?: RequestQueue;
  /** Of browser crawlers alone. */
  readonly browserPool?: object;
  /** Of crawlers that navigate. */
  preNavigationHooks?: NavigationHook[];
  postNavigationHooks?: NavigationHook[];

  addRequests(requests: unknown, options?: unknown): Promise<unknown>;
  enqueueLinksWithCrawlDepth(options: object, ...rest: unknown[]): Promise<unknown>;
  handleSkippedRequest(skipped: SkippedRequest): Promise<void>;
  isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean>;
  getRobotsTxtFileForUrl(url: string): Promise<{ isAllowed(url: string): boolean } | undefined>;
  _runTaskFunction(): Promise<void>;
  _fetchNextRequest(): Promise<CrawlRequest | null>;
  _runRequestHandler(context: CrawlingContext): Promise<void>;
}

export type CrawlerClass = new (...args: unknown[]) => Crawler;

/** Without one of these a request could pass by the guard. `enqueueLinksWithCrawlDepth` came later, and may lack. */
const NEEDED = [
  'addRequests',
  'handleSkippedRequest',
  'isAllowedBasedOnRobotsTxtFile',
  'getRobotsTxtFileForUrl',
  '_runTaskFunction',
  '_fetchNextRequest',
  '_runRequestHandler',
] as const satisfies readonly (keyof Crawler)[];

/**
 * `given`, as the crawler class it is.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function crawlerClass(given: unknown): CrawlerClass {
  const prototype: unknown = typeof given === 'function' ? given.prototype : undefined;
  const lacking = NEEDED.filter((name) => typeof Reflect.get(Object(prototype), name) !== 'function');
  if (lacking.length > 0) {
    const name = typeof given === 'function' ? given.name : String(given);
    throw new RobotsInvalidOptionsError(
      `Expected a crawler class of Crawlee 3 (3.14 or later), got ${quote(name)}, which has no \`${lacking[0]}\``,
    );
  }
  return given as CrawlerClass;
}
