import axios from 'axios';
import { guardAxios } from '../../../src/guards/axios/axios.ts';
import { retryLater } from '../../../src/index.ts';
import type { Run } from './run.ts';

/** A line of pages for each host, the hosts beside each other. */
export default async function axiosByHost({ robots, clock, urls, ended }: Run): Promise<void> {
  const client = guardAxios(axios.create({ timeout: 5_000 }), robots, { pacing: true });
  await Promise.all(
    [...new Set(urls.map((url) => new URL(url).host))].map(async (host) => {
      for (const url of urls.filter((each) => new URL(each).host === host)) {
        try {
          await retryLater(() => client.get(url), { clock });
          ended(url);
        } catch (error) {
          ended(url, error);
        }
      }
    }),
  );
}
