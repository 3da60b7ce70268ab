import { AsyncLocalStorage } from 'node:async_hooks';
import type { Guard } from '../shared/guard.ts';
import { ignoredBecause } from '../shared/options.ts';
import type { RequestSteps } from './http-client.ts';
import { RequestGuard } from './request-guard.ts';
import { type CrawledPage, type CrawlingContext, type HttpRequest, robotsOf } from './types.ts';

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

/** What the crawlers of one guarded class share: which request the running code is about. Crawlee's methods do not say. */
export class CrawlGuard {
  readonly guard: Guard;
  readonly #guardPage: GuardPage;
  readonly #contexts = new AsyncLocalStorage<Adding | RequestGuard>();

  constructor(guard: Guard, guardPage: GuardPage) {
    this.guard = guard;
    this.#guardPage = guardPage;
    if (guard.paces) guard.onOtherGuard(() => this.handled?.take());
  }

  /** The guard of the request that is being handled. */
  get handled(): RequestGuard | undefined {
    const context = this.#contexts.getStore();
    return context instanceof RequestGuard ? context : undefined;
  }

  handling<Result>(request: RequestGuard, handle: () => Promise<Result>): Promise<Result> {
    return this.#contexts.run(request, handle);
  }

  /** @throws RobotsClosedError (`ERR_ROBOTS_CLOSED`) */
  async adding<Result>(source: unknown, add: (source: unknown) => Promise<Result>): Promise<Result> {
    // Later, in the background of Crawlee, an error would end the process.
    this.guard.ending.throwIfAborted();
    const context: Adding = { source };
    return this.#contexts.run(context, () => add(isIterable(source) ? noting(source, context) : source));
  }

  /** Whether a link is added to the queue. It waits for nothing: an unknown link is decided when its turn comes. */
  mayBeAdded(url: string): boolean {
    const context = this.#contexts.getStore();
    const source = context instanceof RequestGuard ? undefined : context?.source;
    const { guard } = this;
    return !guard.settings.enforces || ignoredBecause(robotsOf(source)) !== undefined || !guard.keepsOut(url);
  }

  readonly stepsOf = (request: HttpRequest, navigates: boolean): RequestSteps =>
    this.handled?.stepsOf(request, navigates) ?? {
      guard: this.guard,
      because: ignoredBecause(request.robots),
    };

  /** Guards the page that a browser crawler navigates. */
  readonly enterPage = async (context: CrawlingContext): Promise<void> => {
    // AdaptivePlaywrightCrawler calls hooks for requests without a browser, too.
    if (!('browserController' in context) || context.page === undefined) return;
    const errorOfPage = await this.#guardPage(context.page, ignoredBecause(robotsOf(context.request)));
    const request = this.handled;
    if (request !== undefined) request.errorOfPage = errorOfPage;
  };

  /** Where the handler goes with the page is its own business. That the page was answered with "not now" is not. */
  readonly leavePage = async (): Promise<void> => {
    const request = this.handled;
    if (request?.errorOfPage === undefined) return;
    const error = await request.errorOfPage();
    request.errorOfPage = async () => error;
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
async function* noting(requests: AnyIterable, context: Adding): AsyncGenerator<unknown> {
  for await (const request of requests) {
    context.source = request;
    yield request;
  }
}
