/**
 * Fetching: one attempt to get an origin's robots.txt, hop by hop, ending in an `Outcome`. What the outcome means
 * over time is none of its business. It imports `access/` and `rules/`, and must not import `cache/`, `guard/` or the
 * client. `basic-ftp` is imported by `ftp.ts` alone, an entrance of the package, and only when it is called.
 */
export { type AddressPolicy, HopAddresses } from '../net/address-policy.ts';
export { isPublicHost } from '../net/addresses.ts';
export { publicOnlyLookup, refusedHost } from '../net/public-lookup.ts';
export {
  type FetchedBody,
  type FetchedResponse,
  fetchTransport,
  type FetchFunction,
} from './fetch-transport.ts';
export { notingConnector } from '../net/connectors.ts';
export { NameLookup } from '../net/dns/lookup.ts';
export { publicOnlyAgent, type PublicOnlyAgentOptions } from '../net/public-only-agent.ts';
export { ReachedOrigins } from '../net/reached-origins.ts';
export type { Validators } from './attempt.ts';
export { fetchRobots } from './robots-fetcher.ts';
export type { Transport, TransportResponse } from './transport.ts';
export { undiciTransport } from './undici-transport.ts';
