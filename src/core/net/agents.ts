import { lookup as dnsLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type buildConnector } from 'undici';
import { invalid, type RobotsAddressRefusedError, RobotsInvalidOptionsError } from '../base/index.ts';
import { addressRefusalIn } from './addresses.ts';
import {
  checkedLookup,
  recordingConnector,
  publicOnlyConnector,
  ConnectedAddresses,
  publicOnlyLookup,
} from './connectors.ts';
import { configuredGlobalDispatcher } from './global-dispatcher.ts';

/**
 * Two agents for page requests. `anywhere` connects to any address, and records where. `publicOnly` sends
 * the other requests, so that these never reuse a socket to a private address.
 */
export class PageAgents {
  readonly reached: ConnectedAddresses = new ConnectedAddresses();
  readonly anywhere: Agent;
  readonly publicOnly: Agent;
  readonly #lookup: LookupFunction;

  constructor(givenLookup: LookupFunction | undefined) {
    const lookup = givenLookup === undefined ? dnsLookup : checkedLookup(givenLookup);
    this.#lookup = publicOnlyLookup(lookup);
    this.anywhere = new Agent({ connect: recordingConnector({}, lookup, this.reached) });
    this.publicOnly = publicOnlyAgent({ lookup });
  }

  /** Whether a global dispatcher was set, which then sends requests without a dispatcher. */
  get hasGlobalDispatcher(): boolean {
    return configuredGlobalDispatcher() !== undefined;
  }

  /**
   * The refusal of a host name that has only private addresses. Other lookup failures are ignored here: the request
   * itself looks the name up again and reports them.
   */
  refusal(hostname: string): Promise<RobotsAddressRefusedError | undefined> {
    return new Promise((resolve) => {
      this.#lookup(hostname, { all: true }, (error) => resolve(addressRefusalIn(error)));
    });
  }
}

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
  /** Resolves names. Addresses that are not public are dropped. @default `dns.lookup` */
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
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const { connect = {}, lookup = dnsLookup, ...rest } = options;
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
