/**
 * One attempt to get the robots.txt of an origin, hop by hop. The result is an `Outcome`; `lifecycle/` decides what
 * it means over time. It must not import `store/`, `cache/` or any room above.
 *
 * This door loads undici. `redirect.ts`, `body.ts` and `transport.ts` do not, and are doors of their own. Only `ftp/`
 * loads `basic-ftp`, when it is called.
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
