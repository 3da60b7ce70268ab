/**
 * Fetching: one attempt to get an origin's robots.txt, hop by hop, ending in an `Outcome`. What the outcome means
 * over time is none of its business. It may import from `access/`, never from `cache/`, `guard/` or the client.
 */
export { DEFAULT_MAX_BODY_BYTES } from './body.ts';
export type { FetchCode } from './codes.ts';
export { type FetchedBody, type FetchedResponse, fetchTransport, type FetchFunction } from './fetch-api.ts';
export {
  DEFAULT_DEADLINE_MS,
  fetchRobots,
  type FetchProfile,
  type FetchRobotsOptions,
  type Validators,
} from './robots-fetcher.ts';
export type { ResponseHeaders, Transport, TransportRequest, TransportResponse } from './transport.ts';
export { undiciTransport, type UndiciTransportOptions } from './undici.ts';
