/**
 * One attempt to get the robots.txt of an origin, redirect by redirect. The result is an `Outcome`; `lifecycle/` decides
 * what it means over time. It must not import `store/`, `cache/` or a module above.
 *
 * `fetchRobots` starts an `Attempt`, which sends each request over a `Transport`, and has a `ResponseReader` for the last
 * response. `UndiciTransport` uses `OwnConnections`, or a dispatcher of the caller or the process. `FetchTransport` uses a
 * `fetch`.
 *
 * `undici-transport.ts` and what it alone imports load undici. `platform/undici.ts` loads it when a transport is opened;
 * see `platform/fetch.ts` for `#platform`.
 */
export type { RobotsRequestMessage } from './attempt.ts';
export { type AttemptMessage, type FetchMessage, fetchRobots } from './fetch-robots.ts';
export {
  type FetchedBody,
  type FetchedResponse,
  type FetchFunction,
  fetchTransport,
} from './fetch-transport.ts';
export { openTransport } from './fetch-robots.ts';
