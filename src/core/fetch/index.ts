/**
 * One attempt to get the robots.txt of an origin, redirect by redirect. The result is an `Outcome`; `lifecycle/` decides
 * what it means over time. It must not import `store/`, `cache/` or a module above.
 *
 * `fetchRobots` starts an attempt, which sends each request over a `Transport`. `UndiciTransport` uses `DirectConnections`
 * or a dispatcher of the caller or the process, and `StaleSocketRetry` repeats a request that met a stale socket.
 * `FetchTransport` uses a `fetch`.
 *
 * `undici-transport.ts` and what it alone imports load undici. `platform/undici.ts` loads it when a transport is opened;
 * see `platform/fetch.ts` for `#platform`.
 */
export { fetchRobots, type RobotsRequestMessage } from './attempt.ts';
export {
  type FetchedBody,
  type FetchedResponse,
  type FetchFunction,
  fetchTransport,
} from './fetch-transport.ts';
