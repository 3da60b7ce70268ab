/**
 * Addresses and names: which addresses are public, name lookup, and connections to public addresses only. It imports
 * undici. Import `address-policy.ts`, `addresses.ts` and `global-dispatcher.ts` where undici must not be loaded. It
 * must not import `fetch/` or any module above.
 */
export { PageAgents, publicOnlyAgent, type PublicOnlyAgentOptions } from './connectors.ts';
export {
  type BuildConnector,
  type Connector,
  recordingConnector,
  checkedLookup,
  publicOnlyConnector,
  publicOnlyLookup,
  ConnectedAddresses,
} from './connectors.ts';
export { configuredGlobalDispatcher, isDispatcher, isWrapped } from './global-dispatcher.ts';
export { ProxyDispatcher, type ProxySettings } from './proxy-dispatcher.ts';
