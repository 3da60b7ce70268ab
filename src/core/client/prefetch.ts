import {
  func,
  abortSignal,
  type Check,
  invalid,
  mapConcurrent,
  optionTable,
  orAborted,
  RobotsInvalidUrlError,
} from '../base/index.ts';
import { DistinctOrigins, originOf } from '../url/index.ts';
import type { OriginState } from '../lifecycle/index.ts';

export interface PrefetchOptions {
  /** Stops, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /**
   * Called after each origin. `total` grows while URLs are still being read. If it throws, or returns a promise that
   * rejects, the call rejects; such a promise is awaited.
   */
  readonly onProgress?: (progress: {
    readonly done: number;
    readonly total: number;
    readonly origin: string;
  }) => void;
}

export interface PrefetchResult {
  /**
   * Distinct origins among the URLs. An origin that comes again after a million others is asked, and counted, again.
   */
  readonly origins: number;
  /** Number of origins by state. */
  readonly states: Readonly<Partial<Record<OriginState, number>>>;
  /** The values that are not absolute http, https or ftp URLs, in order: the first 1,000. */
  readonly invalid: readonly RobotsInvalidUrlError[];
  /** Number of all such values. */
  readonly invalidCount: number;
}

interface PrefetchContext {
  /** Aborts when the client is closed, or with the signal of the options. */
  readonly ending: AbortSignal;
  readonly ask: (origin: string, signal: AbortSignal) => Promise<{ origin: string; state: OriginState }>;
  /** The maximum number of origins fetched at the same time. */
  readonly concurrency: number;
}

const MAX_INVALID = 1_000;

/**
 * Fetches the robots.txt of the origins of `urls`. It reads a URL only when work on it can start, and stops at
 * the first failure: an aborted signal, a closed client, an exception of the source or of `onProgress`. Its memory is
 * bounded for lists of any length.
 */
export async function prefetch(
  urls: Iterable<string | URL> | AsyncIterable<string | URL>,
  { onProgress }: PrefetchOptions,
  { ending, ask, concurrency }: PrefetchContext,
): Promise<PrefetchResult> {
  const origins = new DistinctOrigins();
  const invalid: RobotsInvalidUrlError[] = [];
  let invalidCount = 0;
  const states: Partial<Record<OriginState, number>> = {};
  let done = 0;
  const asked = mapConcurrent(urls, { concurrency, signal: ending }, (url, signal) => {
    const origin = originOrError(url);
    if (typeof origin === 'string') return origins.add(origin) ? ask(origin, signal) : undefined;
    invalidCount++;
    if (invalid.length < MAX_INVALID) invalid.push(origin);
    return undefined;
  });
  for await (const { origin, state } of asked) {
    states[state] = (states[state] ?? 0) + 1;
    done++;
    if (onProgress === undefined) continue;
    await orAborted(Promise.resolve(onProgress({ done, total: origins.count, origin })), ending);
  }
  return { origins: origins.count, states, invalid, invalidCount };
}

const prefetchOptions: Check = optionTable<keyof PrefetchOptions>({
  signal: abortSignal,
  onProgress: func(),
});

/**
 * Checks the arguments of `prefetch`.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertPrefetch(urls: unknown, options: PrefetchOptions): void {
  const list: object = Object(urls);
  if (typeof urls === 'string' || !(Symbol.iterator in list || Symbol.asyncIterator in list)) {
    throw invalid('`urls`', 'a list of URLs', urls);
  }
  prefetchOptions(options, '');
  options.signal?.throwIfAborted();
}

function originOrError(url: string | URL): string | RobotsInvalidUrlError {
  try {
    return originOf(url);
  } catch (error) {
    if (!(error instanceof RobotsInvalidUrlError)) throw error;
    return error;
  }
}
