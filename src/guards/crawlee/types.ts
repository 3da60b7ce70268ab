import { quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { Decision } from '../../core/decision/index.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import type * as playwright from '../browser/playwright.ts';
import type * as puppeteer from '../browser/puppeteer.ts';

/** The member `robots` of a request in any form that Crawlee accepts. */
export function robotsOf(source: unknown): unknown {
  return Reflect.get(Object(Reflect.get(Object(source), 'userData')), 'robots');
}

/** The argument of Crawlee's `onSkippedRequest` in a guarded crawler. */
export interface SkippedRequest {
  readonly url: string;
  /** `'robotsTxt'` when robots.txt, or the purpose of the guard, refuses the request or one of its redirects. */
  readonly reason: string;
  /**
   * The decision about the URL that was refused; set with `reason: 'robotsTxt'`. When `decision.reason` is
   * `'unreachable'`, the rules of the site are unknown: crawl the URL again from `refusal.retryAt` on, if it has one. When
   * `decision.allowed` is true, the site disallows the purpose: `decision.usage` has the line or the header field.
   */
  readonly decision?: Decision;
  /**
   * The same as an error, as other guards throw it: with a message, a code, and the `redirects` that led from `url` to the
   * URL that was refused. Set with reason `'robotsTxt'`.
   */
  readonly refusal?: Refusal;
}

/** The part of Crawlee's `Request` that the guard reads and writes. */
export interface CrawlRequest {
  readonly id?: string;
  readonly uniqueKey?: string;
  readonly url: string;
  readonly userData?: unknown;
  noRetry?: boolean;
  /** A number of Crawlee's `RequestState`. */
  state?: number;
}

/** A page of either library that Crawlee has. */
export type CrawledPage = playwright.PageLike | puppeteer.PageLike;

export interface CrawlingContext {
  /** Crawlee gives it a worse score when the request fails. */
  session?: object | undefined;
  readonly request: CrawlRequest;
  /** Set by browser crawlers. */
  readonly page?: CrawledPage;
}

export type HeaderRecord = Record<string, string | string[] | undefined>;

/** The part of Crawlee's `HttpRequest` that the guard reads and writes. */
export interface HttpRequest {
  readonly url: string | URL;
  readonly method?: string;
  readonly headers?: HeaderRecord;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly followRedirect?: boolean | ((response: HttpResponse) => boolean);
  readonly maxRedirects?: number;
  readonly proxyUrl?: string | undefined;
  /** Crawlee's own client keeps the browser that it poses as for this object. */
  readonly sessionToken?: object | undefined;
  /** Hooks of got. Other clients ignore them. */
  readonly hooks?: {
    readonly beforeRequest?: readonly unknown[];
    readonly beforeRedirect?: readonly ((updated: UpdatedRequest, response: HttpResponse) => unknown)[];
  };
  /** `{ ignore: true, because: '…' }`, as in `sendRequest({ robots })`. */
  readonly robots?: unknown;
}

export interface HttpResponse {
  readonly statusCode: number;
  readonly url?: string;
  readonly headers: HeaderRecord;
  readonly redirectUrls?: readonly URL[];
  readonly stream?: { destroy(): unknown };
}

/** Called at each redirect, after the decision. */
export type RedirectHandler = (response: HttpResponse, updated: UpdatedRequest) => void;

export interface UpdatedRequest {
  url: string | URL;
  headers: HeaderRecord;
}

/** Crawlee's `BaseHttpClient`. */
export interface HttpClient {
  sendRequest(request: HttpRequest): Promise<HttpResponse>;
  stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<HttpResponse>;
}

interface RequestQueue {
  /** The seconds after which a request that was taken from the queue is given to another consumer. */
  requestLockSecs?: number;
}

/** Where a crawler takes its requests from: Crawlee's queue, list, or both. */
export interface RequestSource {
  reclaimRequest(request: CrawlRequest): Promise<unknown>;
}

export type NavigationHook = (context: CrawlingContext) => Promise<void>;

/** The internal members of a crawler of Crawlee 3 that the guard uses. */
export interface Crawler {
  httpClient: HttpClient;
  respectRobotsTxtFile: unknown;
  log: { warning(message: string): void; info(message: string): void; debug(message: string): void };
  readonly stats?: { readonly requestsInProgress?: Map<string, unknown> };
  readonly requestQueue?: RequestQueue;
  readonly requestManager?: RequestSource;
  /** How long the crawler waits for the answer to a request; set in crawlers that navigate. */
  readonly navigationTimeoutMillis?: number;
  /** How long the handler may take; in crawlers that navigate with the time of the navigation. */
  readonly requestHandlerTimeoutMillis?: number;
  /** Set in crawlers that send pages by an HTTP client. */
  readonly ignoreSslErrors?: boolean;
  /** Set in browser crawlers only. */
  readonly browserPool?: { readonly useFingerprints?: boolean };
  /** Set in crawlers that navigate. */
  preNavigationHooks?: NavigationHook[];
  postNavigationHooks?: NavigationHook[];

  addRequests(requests: unknown, options?: unknown): Promise<unknown>;
  enqueueLinksWithCrawlDepth(options: object, ...rest: unknown[]): Promise<unknown>;
  handleSkippedRequest(skipped: SkippedRequest): Promise<void>;
  isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean>;
  getRobotsTxtFileForUrl(url: string): Promise<{ isAllowed(url: string): boolean } | undefined>;
  stop(reason?: string): void;
  _runTaskFunction(): Promise<void>;
  _fetchNextRequest(): Promise<CrawlRequest | null>;
  _runRequestHandler(context: CrawlingContext): Promise<void>;
  _requestFunctionErrorHandler(
    error: unknown,
    context: CrawlingContext,
    source: RequestSource,
  ): Promise<void>;
  teardown(): Promise<void>;
}

export type CrawlerClass = new (...args: unknown[]) => Crawler;

/** Methods without which requests could bypass the guard. Older versions lack `enqueueLinksWithCrawlDepth`. */
const NEEDED = [
  'addRequests',
  'handleSkippedRequest',
  'isAllowedBasedOnRobotsTxtFile',
  'getRobotsTxtFileForUrl',
  'stop',
  '_runTaskFunction',
  '_fetchNextRequest',
  '_runRequestHandler',
  '_requestFunctionErrorHandler',
  'teardown',
] as const satisfies readonly (keyof Crawler)[];

/**
 * Checks that `given` is a crawler class of Crawlee 3, and returns it.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function crawlerClass(given: unknown): CrawlerClass {
  const prototype: unknown = typeof given === 'function' ? given.prototype : undefined;
  const lacking = NEEDED.filter((name) => typeof Reflect.get(Object(prototype), name) !== 'function');
  if (lacking.length > 0) {
    const name = typeof given === 'function' ? given.name : given;
    throw new RobotsInvalidOptionsError(
      `Expected a crawler class of Crawlee 3 (3.14 or later), got ${quote(name)}, which has no \`${lacking[0]}\``,
    );
  }
  return given as CrawlerClass;
}
