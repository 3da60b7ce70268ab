import pLimit from 'p-limit';
import { RobotsInvalidUrlError } from './errors.ts';
import { originOf } from './origin.ts';
import type { OriginPolicy } from './policy.ts';

export interface PrefetchOptions {
  /** Stops the rest and rejects with the signal's own reason. */
  readonly signal?: AbortSignal;
  /** Called after each origin. `total` grows while URLs are still being read. */
  readonly onProgress?: (progress: {
    readonly done: number;
    readonly total: number;
    readonly origin: string;
  }) => void;
}

export interface PrefetchResult {
  /** Distinct origins among the URLs. */
  readonly origins: number;
  /** How many of them ended in which state. */
  readonly states: Readonly<Partial<Record<OriginPolicy['state'], number>>>;
  /** What was no absolute http, https or ftp URL, in order. */
  readonly invalid: readonly RobotsInvalidUrlError[];
}

/** Warms the origins of `urls`. Reads no further ahead than it has room to work. */
export async function prefetch(
  urls: Iterable<string | URL> | AsyncIterable<string | URL>,
  ask: (origin: string, signal: AbortSignal | undefined) => Promise<OriginPolicy>,
  options: PrefetchOptions & { readonly concurrency: number },
): Promise<PrefetchResult> {
  const { signal, onProgress, concurrency } = options;
  const limit = pLimit(concurrency);
  const origins = new Set<string>();
  const invalid: RobotsInvalidUrlError[] = [];
  const states: Partial<Record<OriginPolicy['state'], number>> = {};
  const pending = new Set<Promise<void>>();
  let done = 0;

  const warm = async (origin: string): Promise<void> => {
    const { state } = await ask(origin, signal);
    states[state] = (states[state] ?? 0) + 1;
    done++;
    onProgress?.({ done, total: origins.size, origin });
  };

  signal?.throwIfAborted();
  for await (const url of urls) {
    signal?.throwIfAborted();
    let origin: string;
    try {
      origin = originOf(url);
    } catch (error) {
      if (!(error instanceof RobotsInvalidUrlError)) throw error;
      invalid.push(error);
      continue;
    }
    if (origins.has(origin)) continue;
    origins.add(origin);
    const work: Promise<void> = limit(() => warm(origin)).finally(() => pending.delete(work));
    pending.add(work);
    // Also takes up a failure at once, so that nothing is rejected unseen.
    if (pending.size >= concurrency) await Promise.race(pending);
  }
  await Promise.all(pending);
  return { origins: origins.size, states, invalid };
}
