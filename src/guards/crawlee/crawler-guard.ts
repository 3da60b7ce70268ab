import { count, isRobotsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import { refusalIn, type Refusal } from '../../core/client/refusal-errors.ts';
import type { LongWait } from '../shared/site-waits.ts';
import type { CrawlGuard } from './crawl-guard.ts';
import { DeferredRequests } from './deferred-requests.ts';
import { guardHttpClient } from './http-client.ts';
import { RequestGuard } from './request-guard.ts';
import type { Crawler, CrawlingContext, CrawlRequest, SkippedRequest } from './types.ts';

/** Seconds that Crawlee's queue must allow for fetching a robots.txt. Waits for slots are added. */
const WAIT_FOR_ROBOTS_SECS = 30;
/** Crawlee's `RequestState.SKIPPED`. */
const SKIPPED = 7;

/** Queues whose `requestLockSecs` has been raised for requests that wait. */
const extendedQueues = new WeakSet<object>();

/** The guard of one crawler: takes its requests through the steps, and says in its log what becomes of them. */
export class CrawlerGuard {
  readonly #crawler: Crawler;
  readonly #shared: CrawlGuard;
  readonly #deferred: DeferredRequests;
  readonly #log: CrawlLog;

  /** Prepares `crawler`. */
  constructor(crawler: Crawler, shared: CrawlGuard) {
    const { log } = crawler;
    const { guard } = shared;
    this.#crawler = crawler;
    this.#shared = shared;
    this.#deferred = new DeferredRequests({
      crawler,
      clock: guard.settings.clock,
      closing: guard.ending,
    });
    this.#log = new CrawlLog(log);
    // Without it Crawlee does not check links.
    crawler.respectRobotsTxtFile = true;
    // It says why a request is skipped. Crawlee says "disallowed" also when robots.txt is unreachable.
    const warning = (message: string, ...rest: []): void =>
      log.warning(shared.handled?.takeSkipText() ?? message, ...rest);
    crawler.log = Object.create(log, { warning: { value: warning, writable: true } });
    crawler.httpClient = guardHttpClient(crawler.httpClient, shared.stepsOf);
    if (crawler.browserPool !== undefined) {
      crawler.preNavigationHooks = [...(crawler.preNavigationHooks ?? []), shared.enterPage];
      crawler.postNavigationHooks = [shared.leavePage, ...(crawler.postNavigationHooks ?? [])];
    }
  }

  /** Whether Crawlee handles a request that is skipped: once for each URL of a run. */
  skips(skipped: SkippedRequest): boolean {
    const request = this.#shared.handled;
    request?.takeSkipText();
    if (skipped.reason !== 'robotsTxt') return true;
    const refusal = request?.refusal ?? this.#shared.guard.refusalInMemory(skipped.url);
    // The `onSkippedRequest` of `enqueueLinks` gets the object, too.
    if (refusal !== undefined) Object.assign(skipped, { decision: refusal.decision, refusal });
    return this.#log.skips(skipped, refusal);
  }

  /** Takes a request from the queue, and handles it. */
  async runTask(run: () => Promise<void>): Promise<void> {
    const request = this.#guardOfNext();
    await this.#shared.handling(request, async () => {
      try {
        await run();
      } catch (error) {
        // Crawlee knows nothing of a request that is deferred before it is handled.
        if (request.deferral === undefined) throw error;
      } finally {
        request.end();
      }
    });
    const { deferral, taken } = request;
    const { requestManager } = this.#crawler;
    if (deferral === undefined || taken === undefined || requestManager === undefined) return;
    const url = urlWithoutUserinfo(taken.url);
    if (deferral.stopsCrawler === true)
      this.#crawler.stop(`${url} goes back to the queue: ${deferral.message}`);
    this.#crawler.log.debug(`Request ${url} goes back to the queue: ${deferral.message}`);
    this.#deferred.defer(taken, requestManager, deferral);
    if (deferral.wait !== undefined) this.#announce(deferral.wait);
  }

  #guardOfNext(): RequestGuard {
    const {
      navigationTimeoutMillis = Infinity,
      requestHandlerTimeoutMillis = Infinity,
      browserPool,
      preNavigationHooks,
      ignoreSslErrors,
    } = this.#crawler;
    const sendsItself = preNavigationHooks === undefined ? 'handler' : 'client';
    return new RequestGuard({
      guard: this.#shared.guard,
      maxWaitMs: Math.min(navigationTimeoutMillis, requestHandlerTimeoutMillis) / 2,
      stopping: this.#deferred.ended,
      ignoresTlsErrors: ignoreSslErrors === true,
      sentBy: browserPool === undefined ? sendsItself : 'browser',
    });
  }

  #announce(wait: LongWait): void {
    const waiting = this.#deferred.waitingFor(wait.origin) + this.#shared.guard.waitingFor(wait.origin);
    this.#log.waits(wait, waiting);
  }

  async take(fetchNext: () => Promise<CrawlRequest | null>): Promise<CrawlRequest | null> {
    const { requestQueue: queue, requestManager } = this.#crawler;
    // A request may wait for long before it is given to another consumer.
    if (queue?.requestLockSecs !== undefined && !extendedQueues.has(queue)) {
      extendedQueues.add(queue);
      queue.requestLockSecs += WAIT_FOR_ROBOTS_SECS + Math.ceil(this.#shared.guard.maxDelayMs / 1000);
    }
    const taken = await fetchNext();
    if (taken === null || this.#deferred.defersAgain(taken, requestManager)) return null;
    const request = this.#shared.handled;
    if (request !== undefined) request.taken = taken;
    return taken;
  }

  /** A refused request is skipped: that is no failure. */
  async handle(context: CrawlingContext, run: () => Promise<void>): Promise<void> {
    const guarded = this.#shared.handled;
    try {
      guarded?.begin();
      await run();
    } catch (error) {
      const isDeferred = (await guarded?.defers(error)) === true;
      const { request } = context;
      const isRefused = guarded?.refusal !== undefined;
      // Crawlee counts it as in progress, or as finished, otherwise.
      if (isDeferred || isRefused)
        this.#crawler.stats?.requestsInProgress?.delete(request.id ?? request.uniqueKey ?? '');
      if (isDeferred) throw error;
      // A refusal and invalid options would be the same at the next try, so do not retry.
      if (isRefused || refusalIn(error) !== undefined || isRobotsError(error)) request.noRetry = true;
      if (!isRefused) throw error;
      request.state = SKIPPED;
      this.#crawler.log.warning(`Skipping request ${urlWithoutUserinfo(request.url)}`);
      await this.#crawler.handleSkippedRequest({ url: request.url, reason: 'robotsTxt' });
    }
  }

  /** Whether the failure of a request is none, because it goes back to the queue. */
  forgives(context: CrawlingContext): boolean {
    if (this.#shared.handled?.deferral === undefined) return false;
    // Crawlee would mark it as bad next.
    context.session = undefined;
    return true;
  }

  /** What waits goes back to the queue. */
  stop(): void {
    this.#deferred.stop();
  }

  /** A run has ended. */
  async end(): Promise<void> {
    await this.#deferred.end();
    this.#log.end();
  }
}

/** Beyond it, links may be reported again. */
const MAX_SKIPPED = 100_000;
/** The sites that are named at the end. */
const MAX_NAMED = 10;

/** What the log of a crawler says of one run: what is waited for, and what was skipped. */
class CrawlLog {
  readonly #log: Crawler['log'];
  /** The origins that are waited for. */
  readonly #announced = new Set<string>();
  /** URLs: a link may stand on every page. */
  readonly #skipped = new Set<string>();
  /** How many of them, by site and reason. */
  readonly #counts = new Map<string, number>();

  constructor(log: Crawler['log']) {
    this.#log = log;
  }

  /** Requests for a site wait. @param waiting How many. */
  waits({ origin, until, cause }: LongWait, waiting: number): void {
    if (this.#announced.has(origin)) return;
    this.#announced.add(origin);
    this.#log.info(
      `Waits for ${origin} until ${new Date(until).toISOString()}: ${cause}. Requests that wait: ${waiting}`,
    );
  }

  /** A URL is skipped. Returns whether that is news. */
  skips({ url }: SkippedRequest, refusal: Refusal | undefined): boolean {
    if (this.#skipped.has(url)) return false;
    if (this.#skipped.size >= MAX_SKIPPED) this.#skipped.clear();
    this.#skipped.add(url);
    if (refusal !== undefined) {
      const what = `${refusal.decision.origin} (${reasonOf(refusal)})`;
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
    }
    return true;
  }

  /** The run has ended. */
  end(): void {
    const all = [...this.#counts].sort(([, one], [, other]) => other - one);
    const total = all.reduce((sum, [, count]) => sum + count, 0);
    const named = all.slice(0, MAX_NAMED).map(([what, count]) => `${count} of ${what}`);
    if (all.length > MAX_NAMED) named.push(`${all.length - MAX_NAMED} further sites`);
    if (total > 0) this.#log.info(`Skipped ${count(total, 'request')}: ${named.join(', ')}`);
    for (const each of [this.#announced, this.#skipped, this.#counts]) each.clear();
  }
}

function reasonOf({ code, retryAt, decision }: Refusal): string {
  const { error, status } = decision.robots;
  if (code === 'ERR_ROBOTS_DISALLOWED') return 'disallowed';
  if (code === 'ERR_ROBOTS_USAGE') return 'not wanted for the purpose';
  if (code === 'ERR_ROBOTS_DEFERRED') return 'busy';
  return `robots.txt unreachable, ${status ?? error}${retryAt === undefined ? ', for good' : ''}`;
}
