/**
 * One attempt to get the robots.txt of an origin, hop by hop. The result is an `Outcome`; `lifecycle/` decides what
 * it means over time. It must not import `store/`, `cache/` or any room above.
 *
 * The way of a request: `fetchRobots` makes an {@link Attempt}, which visits hop by hop. Each hop goes over a `Transport`:
 * `UndiciTransport` sends it over `DirectConnections` or somebody's dispatcher, `StaleSocketRetry` sends it again if it met a
 * stale socket, and `FetchTransport` sends it with a `fetch`.
 *
 * `undici-transport.ts` and what it alone imports load undici. `platform/undici.ts` loads it when a transport is opened;
 * see `platform/fetch.ts` for `#platform`. Only `ftp.ts` loads `basic-ftp`, when it is called.
 */
export { fetchRobots, type HopMessage } from './attempt.ts';
export type { FetchRobotsOptions, Validators } from './options.ts';
export {
  type FetchedBody,
  type FetchedResponse,
  type FetchFunction,
  fetchTransport,
} from './fetch-transport.ts';
