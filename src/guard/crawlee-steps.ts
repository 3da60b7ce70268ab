import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Decision } from '../decision/decision.ts';
import type { CrawlRequest } from './crawlee/types.ts';
import type { ContextGuard, PageLike } from './playwright/playwright.ts';

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
