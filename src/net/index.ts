/**
 * Addresses and names: which addresses are public, how names are looked up, and connections that are made to public
 * addresses only. It imports undici, so whoever must not load undici imports `address-policy.ts` alone. It must not
 * import `fetch/` or anything above.
 */
export { isPublicHost } from './addresses.ts';
export { type BuildConnector, type Connector, notingConnector, publicOnlyConnector } from './connectors.ts';
export { NameLookup } from './dns/lookup.ts';
export { configuredGlobalDispatcher, isWrapped } from './global-dispatcher.ts';
export { ProxyDispatcher, type ProxySettings } from './proxy-dispatcher.ts';
export { publicOnlyLookup, refusedHost } from './public-lookup.ts';
export { publicOnlyAgent, type PublicOnlyAgentOptions } from './public-only-agent.ts';
export { ReachedOrigins } from './reached-origins.ts';
