/**
 * Fetching: one attempt to get an origin's robots.txt, hop by hop, ending in an `Outcome`. What the outcome means
 * over time is none of its business. It imports `access/` and `rules/`, and must not import `cache/`, `guard/` or the
 * client. `basic-ftp` is imported by `ftp.ts` alone, an entrance of the package, and only when it is called.
 */
export { type AddressPolicy, HopAddresses } from './address-policy.ts';
export { isPublicAddress, isPublicHost } from './addresses.ts';
export { DEFAULT_MAX_BODY_BYTES } from './body.ts';
export { publicOnlyLookup, refusedHost } from './checked-lookup.ts';
export type { FetchCode } from './codes.ts';
export { type FetchedBody, type FetchedResponse, fetchTransport, type FetchFunction } from './fetch-api.ts';
export { notingConnector } from './connectors.ts';
export { NameLookup } from './lookup.ts';
export { publicOnlyAgent, type PublicOnlyAgentOptions } from './public-only-agent.ts';
export { ReachedOrigins } from './reached-origins.ts';
export { DEFAULT_DEADLINE_MS } from './deadline.ts';
export {
  fetchRobots,
  type FetchProfile,
  type FetchRobotsOptions,
  type Validators,
} from './robots-fetcher.ts';
export type { ResponseHeaders, Transport, TransportRequest, TransportResponse } from './transport.ts';
export { undiciTransport, type UndiciTransportOptions } from './undici.ts';
