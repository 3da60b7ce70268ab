/**
 * One attempt to get the robots.txt of an origin, hop by hop. The result is an `Outcome`; `lifecycle/` decides what
 * it means over time. It must not import `store/`, `cache/` or any room above.
 *
 * `undici-transport.ts` is the only file here that imports undici. It is loaded by `platform/undici.ts` alone, which
 * the package imports as `#platform`, and which other platforms replace by `platform/fetch.ts`. Only `ftp/` loads
 * `basic-ftp`, when it is called.
 */
export type { FetchRobotsOptions, Validators } from './options.ts';
export {
  type FetchedBody,
  type FetchedResponse,
  type FetchFunction,
  fetchTransport,
} from './fetch-transport.ts';
export { fetchRobots } from './robots-fetcher.ts';
