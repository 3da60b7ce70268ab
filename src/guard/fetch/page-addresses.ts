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

/** What a hop adds to the init of a fetch. */
interface Way {
  readonly dispatcher?: Agent;
}

/**
 * Over whose connections a request goes:
 * - `ours`: agents of this room, which check the address of every connection.
 * - `caller`: the dispatcher of the request's init. The caller knows where it leads.
 * - `global`: the global dispatcher that somebody has set, often a proxy. robots.txt goes through it, so pages do, too.
 */
type Connections = 'ours' | 'caller' | 'global';

/**
 * The address policy of page requests. They go through agents of its own: one for hops that may lead anywhere, which
 * knows where they led, and one for those that may not, which never held a socket to a private address.
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

  /** For one request, whose init may have a dispatcher, and its redirects. */
  hops(dispatcher: unknown): PageHops {
    if (dispatcher !== undefined && dispatcher !== null) return new PageHops(this, 'caller');
    return new PageHops(this, configuredGlobalDispatcher() === undefined ? 'ours' : 'global');
  }

  /**
   * The refusal of a name that has none but private addresses. Any other failure is left to those who will ask
   * for the name in earnest.
   */
  refusal(hostname: string): Promise<RobotsAddressRefusedError | undefined> {
    return new Promise((resolve) => {
      this.#lookup(hostname, { all: true }, (error) => resolve(addressRefusalIn(error)));
    });
  }
}

/** One request and its redirects. */
export class PageHops {
  readonly #addresses: PageAddresses;
  readonly #hops: HopAddresses;
  readonly #connections: Connections;

  constructor(addresses: PageAddresses, connections: Connections) {
    this.#addresses = addresses;
    this.#hops = new HopAddresses(addresses.policy);
    this.#connections = connections;
  }

  /** Other dispatchers connect to what they like: only what URLs show can be checked. */
  get #seesConnections(): boolean {
    return this.#connections === 'ours';
  }

  /**
   * Returns when the next hop is not refused yet. Comes before anybody asks for the robots.txt of `url`, which would
   * be a request to the very address that is refused; so a name is looked up here, if its robots.txt is not known.
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
   * Sends a hop where the policy lets it go, and notes where that was.
   *
   * @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`), or what `send` throws.
   */
  async send(url: URL, send: (way: Way) => Promise<ResponseLike>): Promise<ResponseLike> {
    const { anywhere, publicOnly, reached } = this.#addresses;
    if (!this.#seesConnections) {
      const response = await send({});
      this.#hops.answered(url, undefined);
      return response;
    }
    if (this.#hops.publicOnly) {
      // Stays so for all further hops.
      return send({ dispatcher: publicOnly }).catch((error: unknown) => {
        throw addressRefusalIn(error) ?? error;
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

/** A fetch says only that it failed; the refusal is the cause. */
function addressRefusalIn(error: unknown): RobotsAddressRefusedError | undefined {
  for (const each of causesOf(error)) if (each instanceof RobotsAddressRefusedError) return each;
  return undefined;
}
