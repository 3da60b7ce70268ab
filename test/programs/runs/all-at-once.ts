import { guardFetch, retryLater } from '../../../src/index.ts';
import type { Run } from './run.ts';

/** Everything at once: the guard spaces the requests. */
export default async function allAtOnce({ robots, clock, urls, ended }: Run): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing: true, timeoutMs: 30_000 });
  await Promise.allSettled(
    urls.map((url) =>
      retryLater(() => get(url), { clock })
        .then((response) => response.text())
        .then(
          () => ended(url),
          (error: unknown) => ended(url, error),
        ),
    ),
  );
}
