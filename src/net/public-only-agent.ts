import type { LookupFunction } from 'node:net';
import { Agent, type buildConnector } from 'undici';
import { RobotsInvalidOptionsError } from '../base/index.ts';
import { publicOnlyConnector } from './connectors.ts';
import { NameLookup } from './dns/lookup.ts';

/** Options of an undici `Agent`. Options about connecting go into `connect`. */
export interface PublicOnlyAgentOptions extends Pick<
  Agent.Options,
  | 'bodyTimeout'
  | 'clientTtl'
  | 'connections'
  | 'headersTimeout'
  | 'keepAliveMaxTimeout'
  | 'keepAliveTimeout'
  | 'keepAliveTimeoutThreshold'
  | 'maxHeaderSize'
  | 'maxOrigins'
  | 'maxRequestsPerClient'
  | 'maxResponseSize'
  | 'pipelining'
> {
  /** Options of undici's `buildConnector`: time-out, TLS and socket options, but no `socketPath`. */
  readonly connect?: Omit<buildConnector.BuildOptions, 'lookup' | 'socketPath'>;
  /** Resolves names. Addresses that are not public are dropped. @default the lookup of `RobotsClient` */
  readonly lookup?: LookupFunction;
}

/**
 * Makes an undici `Agent` that connects to public addresses only, for page requests through
 * `dispatcher.compose(robotsInterceptor(robots))`, or as the `dispatcher` of a client. This is the policy
 * `'public-only'`, checked at every connection: an agent does not know which request was a redirect.
 *
 * The agent connects to the address that it checked, so DNS rebinding has no effect. A request to any other address
 * fails with `RobotsAddressRefusedError` (`ERR_ROBOTS_ADDRESS_REFUSED`) before a connection is opened.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when `connect` has `lookup` or `socketPath`.
 *
 * @example
 * ```ts
 * import { request } from 'undici';
 * import { publicOnlyAgent } from 'canfetch/undici';
 *
 * const dispatcher = publicOnlyAgent({ connections: 4 });
 * const { body } = await request('https://example.com/page', { dispatcher });
 * ```
 */
export function publicOnlyAgent(options: PublicOnlyAgentOptions = {}): Agent {
  const { connect = {}, lookup = new NameLookup().lookup, ...rest } = options;
  if (typeof connect !== 'object') {
    throw new RobotsInvalidOptionsError(
      `Expected \`connect\` to be connector options, got a ${typeof connect}: the addresses it connects to cannot be checked`,
    );
  }
  for (const name of ['socketPath', 'path', 'lookup', 'socket']) {
    if (Reflect.get(connect, name) === undefined) continue;
    throw new RobotsInvalidOptionsError(
      `Expected \`connect\` options that do not choose the address, got \`connect.${name}\``,
    );
  }
  return new Agent({ ...rest, connect: publicOnlyConnector(connect, lookup) });
}
