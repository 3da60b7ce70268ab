import { orAborted, RobotsAddressRefusedError } from '../../core/base/index.ts';
import type { AddressPolicy } from '../../core/net/address-policy.ts';
import { addressRefusalIn, RedirectAddresses, isPublicHost, refusedHost } from '../../core/net/addresses.ts';
import type { PageAgents } from '../../core/net/connectors.ts';
import type { ResponseLike } from './response.ts';

/** The members that a hop adds to the init of a fetch. */
interface ConnectionInit {
  readonly dispatcher?: PageAgents['anywhere'];
}

/**
 * The connections that a request uses:
 * - `PageAgents`: of our agents, which check the address of every connection.
 * - `'unseen'`: of a dispatcher in the request's init, for which the caller is responsible, or of a platform
 *   whose `fetch` takes no dispatcher.
 * - `'global'`: of a global dispatcher that was set, often a proxy. robots.txt is requested through it, so pages
 *   are too.
 */
export type Connections = PageAgents | 'unseen' | 'global';

/** The address checks of one request and its redirects. */
export class PageHops {
  readonly #policy: AddressPolicy;
  readonly #hops: RedirectAddresses;
  readonly #connections: Connections;

  constructor(policy: AddressPolicy, connections: Connections) {
    this.#policy = policy;
    this.#hops = new RedirectAddresses(policy);
    this.#connections = connections;
  }

  /** The agents that check connections. With other connections only addresses in URLs can be checked. */
  get #agents(): PageAgents | undefined {
    return typeof this.#connections === 'string' ? undefined : this.#connections;
  }

  /**
   * Resolves when the policy does not refuse the next hop so far. Call it before robots.txt of `url` is requested,
   * which would go to the refused address. So it looks the host name up, unless robots.txt is in memory.
   *
   * @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`), or the reason of an aborted signal.
   */
  async admit(url: URL, isKnown: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#hops.refuses(url)) throw refusedHost(url.hostname);
    const isPublic = isPublicHost(url.hostname);
    if (this.#connections === 'global' && this.#policy === 'public-only' && isPublic !== true) {
      throw new RobotsAddressRefusedError(url.hostname, 'a name that the global dispatcher resolves');
    }
    const agents = this.#agents;
    if (!this.#hops.publicOnly || agents === undefined || isPublic === true || isKnown()) return;
    const pending = agents.refusal(url.hostname);
    const refused = await (signal === undefined ? pending : orAborted(pending, signal));
    if (refused !== undefined) throw refused;
  }

  /**
   * Sends a hop to an address that the policy allows, and records that address for later hops.
   *
   * @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`), or what `send` throws.
   */
  async send(url: URL, send: (init: ConnectionInit) => Promise<ResponseLike>): Promise<ResponseLike> {
    const agents = this.#agents;
    if (agents === undefined) {
      const response = await send({});
      this.#hops.connected(url, undefined);
      return response;
    }
    const { anywhere, publicOnly, reached } = agents;
    if (this.#hops.publicOnly) {
      // This applies to all further hops.
      return send({ dispatcher: publicOnly }).catch((error: unknown) => {
        throw addressRefusalIn(error) ?? error;
      });
    }
    reached.begin(url.origin);
    try {
      const response = await send({ dispatcher: anywhere });
      this.#hops.connected(url, reached.isPublic(url.origin));
      return response;
    } finally {
      reached.end(url.origin);
    }
  }
}
