import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { causesOf, orAborted, RobotsAddressRefusedError } from '../../base/index.ts';
import { type AddressPolicy, HopAddresses } from '../../net/address-policy.ts';
import {
  configuredGlobalDispatcher,
  isPublicHost,
  NameLookup,
  notingConnector,
  publicOnlyAgent,
  publicOnlyLookup,
  ReachedOrigins,
  refusedHost,
} from '../../net/index.ts';
import type { ResponseLike } from './response.ts';

/** The members that a hop adds to the init of a fetch. */
interface HopInit {
  readonly dispatcher?: Agent;
}

/**
 * The dispatcher whose connections a request uses:
 * - `ours`: the agents of {@link PageAddresses}, which check the address of every connection.
 * - `caller`: the dispatcher of the request's init. The caller is responsible for where it connects.
 * - `global`: a global dispatcher that was set, often a proxy. robots.txt is requested through it, so pages are too.
 */
type Connections = 'ours' | 'caller' | 'global';

/**
 * Enforces the address policy of page requests with two agents. `anywhere` serves hops to any address, and records
 * where it connected. `publicOnly` serves the other hops, so that these never reuse a socket to a private address.
 */
export class PageAddresses {
  readonly policy: AddressPolicy;
  readonly reached: ReachedOrigins = new ReachedOrigins();
  readonly anywhere: Agent;
  readonly publicOnly: Agent;
  readonly #lookup: LookupFunction;

  constructor(policy: AddressPolicy, lookup: LookupFunction = new NameLookup().lookup) {
    this.policy = policy;
    this.#lookup = publicOnlyLookup(lookup);
    this.anywhere = new Agent({ connect: notingConnector({}, lookup, this.reached) });
    this.publicOnly = publicOnlyAgent({ lookup });
  }

  /** The address checks of one request and its redirects. @param dispatcher The one in the init of the request. */
  hops(dispatcher: unknown): PageHops {
    if (dispatcher !== undefined && dispatcher !== null) return new PageHops(this, 'caller');
    return new PageHops(this, configuredGlobalDispatcher() === undefined ? 'ours' : 'global');
  }

  /**
   * The refusal of a host name that has only private addresses. Other lookup failures are ignored here: the request
   * itself looks the name up again and reports them.
   */
  refusal(hostname: string): Promise<RobotsAddressRefusedError | undefined> {
    return new Promise((resolve) => {
      this.#lookup(hostname, { all: true }, (error) => resolve(addressErrorIn(error)));
    });
  }
}

/** The address checks of one request and its redirects. */
export class PageHops {
  readonly #addresses: PageAddresses;
  readonly #hops: HopAddresses;
  readonly #connections: Connections;

  constructor(addresses: PageAddresses, connections: Connections) {
    this.#addresses = addresses;
    this.#hops = new HopAddresses(addresses.policy);
    this.#connections = connections;
  }

  /** Whether connections are checked. With other dispatchers only addresses in URLs can be checked. */
  get #seesConnections(): boolean {
    return this.#connections === 'ours';
  }

  /**
   * Resolves when the policy does not refuse the next hop so far. Call it before robots.txt of `url` is requested,
   * which would go to the refused address. So it looks the host name up, unless robots.txt is in memory.
   *
   * @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`), or the reason of an aborted signal.
   */
  async admit(url: URL, isKnown: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#hops.refuses(url)) throw refusedHost(url.hostname);
    if (
      this.#connections === 'global' &&
      this.#addresses.policy === 'public-only' &&
      isPublicHost(url.hostname) !== true
    ) {
      throw new RobotsAddressRefusedError(url.hostname, 'a name that the global dispatcher resolves');
    }
    if (!this.#hops.publicOnly || !this.#seesConnections || isPublicHost(url.hostname) === true || isKnown())
      return;
    const pending = this.#addresses.refusal(url.hostname);
    const refused = await (signal === undefined ? pending : orAborted(pending, signal));
    if (refused !== undefined) throw refused;
  }

  /**
   * Sends a hop to an address that the policy allows, and records that address for later hops.
   *
   * @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`), or what `send` throws.
   */
  async send(url: URL, send: (init: HopInit) => Promise<ResponseLike>): Promise<ResponseLike> {
    const { anywhere, publicOnly, reached } = this.#addresses;
    if (!this.#seesConnections) {
      const response = await send({});
      this.#hops.answered(url, undefined);
      return response;
    }
    if (this.#hops.publicOnly) {
      // This applies to all further hops.
      return send({ dispatcher: publicOnly }).catch((error: unknown) => {
        throw addressErrorIn(error) ?? error;
      });
    }
    reached.begin(url.origin);
    try {
      const response = await send({ dispatcher: anywhere });
      this.#hops.answered(url, reached.isPublic(url.origin));
      return response;
    } finally {
      reached.end(url.origin);
    }
  }
}

/** Finds the refusal among the causes of the error of a fetch. */
function addressErrorIn(error: unknown): RobotsAddressRefusedError | undefined {
  for (const each of causesOf(error)) if (each instanceof RobotsAddressRefusedError) return each;
  return undefined;
}
