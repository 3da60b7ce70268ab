import type { LookupFunction } from 'node:net';
import { Agent, type buildConnector } from 'undici';
import { RobotsInvalidOptionsError } from '../base/index.ts';
import { publicOnlyConnector } from './connectors.ts';
import { NameLookup } from './dns/lookup.ts';

/** Options of an undici `Agent`; what concerns connecting goes into `connect`. */
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
  /** As undici's `buildConnector` takes them: time-out, TLS and socket options, but no `socketPath`. */
  readonly connect?: Omit<buildConnector.BuildOptions, 'lookup' | 'socketPath'>;
  /** Finds the addresses of names; those that are not public are left out. @default that of `RobotsClient` */
  readonly lookup?: LookupFunction;
}

/**
 * An undici `Agent` that connects to public addresses alone, for page requests that go through
 * `dispatcher.compose(robotsInterceptor(robots))`, or as the `dispatcher` of a client. It is the policy
 * `'public-only'`, held at every connection: an agent does not know which request was a redirect.
 *
 * The address that was checked is the one connected to, so a name cannot change in between. Requests to others fail
 * with `RobotsAddressRefusedError` (`ERR_ROBOTS_ADDRESS_REFUSED`), and nothing is connected to.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when `connect` would lead elsewhere.
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
      `Expected \`connect\` to be connector options, got a ${typeof connect}: what it connects to cannot be checked`,
    );
  }
  for (const name of ['socketPath', 'path', 'lookup', 'socket']) {
    if (Reflect.get(connect, name) === undefined) continue;
    throw new RobotsInvalidOptionsError(
      `Expected \`connect\` to leave open what is connected to, got \`connect.${name}\``,
    );
  }
  return new Agent({ ...rest, connect: publicOnlyConnector(connect, lookup) });
}
