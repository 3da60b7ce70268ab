/**
 * One attempt to get an origin's robots.txt, hop by hop, ending in an `Outcome`. What the outcome means over time is
 * decided in `lifecycle/`. It must not import `store/`, `cache/` or anything above.
 *
 * This door loads undici. `redirect.ts`, `body.ts` and `transport.ts` do not, and are doors of their own. `basic-ftp` is
 * loaded by `ftp/` alone, when it is called.
 */
export type { Validators } from './attempt.ts';
export {
  type FetchedBody,
  type FetchedResponse,
  type FetchFunction,
  fetchTransport,
} from './fetch-transport.ts';
export { fetchRobots } from './robots-fetcher.ts';
export { undiciTransport } from './undici-transport.ts';
