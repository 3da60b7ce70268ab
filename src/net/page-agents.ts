import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import type { RobotsAddressRefusedError } from '../base/index.ts';
import { addressRefusalIn } from './hop-addresses.ts';
import { notingConnector } from './connectors.ts';
import { NameLookup } from './dns/lookup.ts';
import { configuredGlobalDispatcher } from './global-dispatcher.ts';
import { publicOnlyAgent } from './public-only-agent.ts';
import { publicOnlyLookup } from './public-lookup.ts';
import { ReachedOrigins } from './reached-origins.ts';

/**
 * Two agents for page requests. `anywhere` serves hops to any address, and records where it connected. `publicOnly`
 * serves the other hops, so that these never reuse a socket to a private address.
 */
export class PageAgents {
  readonly reached: ReachedOrigins = new ReachedOrigins();
  readonly anywhere: Agent;
  readonly publicOnly: Agent;
  readonly #lookup: LookupFunction;

  constructor(lookup: LookupFunction = new NameLookup().lookup) {
    this.#lookup = publicOnlyLookup(lookup);
    this.anywhere = new Agent({ connect: notingConnector({}, lookup, this.reached) });
    this.publicOnly = publicOnlyAgent({ lookup });
  }

  /** Whether somebody has set a global dispatcher, which requests without a dispatcher go over. */
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
