import { guardFetch, retryAtOf } from '../../../src/index.ts';
import type { Run } from './run.ts';

const PATIENCE_MS = 8 * 60_000;

/** A table of jobs with the time of their next try, as in a database. It never waits within a request. */
export default async function jobsThatComeBack({ robots, clock, urls, ended }: Run): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing: { maxDelayMs: 0 }, onDisallow: 'response' });
  const startedAt = clock.now();
  const jobs = urls.map((url) => ({ url, notBefore: 0 }));
  for (;;) {
    jobs.sort((one, other) => one.notBefore - other.notBefore);
    const job = jobs.shift();
    if (job === undefined) return;
    const leftMs = job.notBefore - clock.now();
    if (leftMs > 0) await clock.sleep(leftMs, new AbortController().signal);
    const outcome = await get(job.url).catch((error: unknown) => error);
    const retryAt = retryAtOf(outcome);
    if (outcome instanceof Response) await outcome.text();
    if (retryAt !== undefined && retryAt - startedAt < PATIENCE_MS)
      jobs.push({ url: job.url, notBefore: retryAt });
    else ended(job.url, outcome instanceof Response && outcome.ok ? undefined : outcome);
  }
}
