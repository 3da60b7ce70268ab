/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { Guard } from '../shared/guard.ts';
import { CrawlGuard, type GuardPage } from './crawl-guard.ts';
import { CrawlerGuard } from './crawler-guard.ts';
import type {
  Crawler,
  CrawlerClass,
  CrawlingContext,
  CrawlRequest,
  RequestSource,
  SkippedRequest,
} from './types.ts';

type FailedRequest = [error: unknown, context: CrawlingContext, source: RequestSource];

/**
 * A subclass of `Base` that adds no link to the queue which robots.txt in memory disallows, and whose requests take the steps
 * of the guard: they are skipped with reasons, or go back to the queue when they are deferred.
 */
export function guardedClass(Base: CrawlerClass, guard: Guard, guardPage: GuardPage): CrawlerClass {
  const shared = new CrawlGuard(guard, guardPage);
  return class extends Base {
    readonly #own: CrawlerGuard;

    constructor(...args: unknown[]) {
      super(...args);
      assertRespectful(args[0]);
      assertIdentified(this, guard);
      this.#own = new CrawlerGuard(this, shared);
    }

    override addRequests(requests: unknown, ...rest: unknown[]): Promise<unknown> {
      return shared.adding(requests, (noted) => super.addRequests(noted, ...rest));
    }

    override enqueueLinksWithCrawlDepth(links: object, ...rest: unknown[]): Promise<unknown> {
      return shared.adding(links, () => super.enqueueLinksWithCrawlDepth(links, ...rest));
    }

    override async getRobotsTxtFileForUrl(): Promise<{ isAllowed(url: string): boolean }> {
      return { isAllowed: (url) => shared.mayBeAdded(url) };
    }

    /** Whether a URL may be added, or the request of the queue handled. */
    override async isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean> {
      return shared.handled?.admit(url) ?? shared.mayBeAdded(url);
    }

    override async handleSkippedRequest(skipped: SkippedRequest): Promise<void> {
      if (this.#own.skips(skipped)) await super.handleSkippedRequest(skipped);
    }

    override _runTaskFunction(): Promise<void> {
      return this.#own.runTask(() => super._runTaskFunction());
    }

    override stop(reason?: string): void {
      super.stop(reason);
      this.#own.stop();
    }

    override async _fetchNextRequest(): Promise<CrawlRequest | null> {
      return this.#own.take(() => super._fetchNextRequest());
    }

    override _runRequestHandler(context: CrawlingContext): Promise<void> {
      return this.#own.handle(context, () => super._runRequestHandler(context));
    }

    override async _requestFunctionErrorHandler(...failed: FailedRequest): Promise<void> {
      if (!this.#own.forgives(failed[1])) await super._requestFunctionErrorHandler(...failed);
    }

    override async teardown(): Promise<void> {
      await this.#own.end();
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

/**
 * Crawlee gives each browser the name of another one, and scripts with it.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertIdentified({ browserPool }: Crawler, { identity }: Guard): void {
  if (identity?.fills !== true || browserPool?.useFingerprints !== true) return;
  throw new RobotsInvalidOptionsError(
    "Expected a crawler without Crawlee's fingerprints, which would replace the name that `identify: true` sends; give it " +
      '`browserPoolOptions: { useFingerprints: false }`, or leave `identify` out',
  );
}
