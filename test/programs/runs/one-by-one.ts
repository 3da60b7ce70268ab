import { guardFetch, retryLater } from '../../../src/index.ts';
import type { Run } from './run.ts';

/** The loop of the README. */
export default async function oneByOne({ robots, clock, urls, ended }: Run): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing: true });
  for (const url of urls) {
    try {
      const response = await retryLater(() => get(url), { clock });
      await response.text();
      ended(url, response.ok ? undefined : new Error(`status ${response.status}`));
    } catch (error) {
      ended(url, error);
    }
  }
}
