import { platform } from '#platform';
import { orAborted, RobotsAddressRefusedError, RobotsInvalidOptionsError } from '../../base/index.ts';
import {
  addressRefusalIn,
  type AddressPolicy,
  HopAddresses,
  isPublicHost,
  refusedHost,
} from '../../net/address-policy.ts';
import type { PageAgents } from '../../net/index.ts';
import type { GuardOptions } from '../options.ts';
import type { Call } from './request.ts';
import type { ResponseLike } from './response.ts';

/** The members that a hop adds to the init of a fetch. */
interface ConnectionInit {
  readonly dispatcher?: PageAgents['anywhere'];
}

/**
 * The connections that a request uses:
 * - `PageAgents`: those of our agents, which check the address of every connection.
 * - `'unseen'`: those of a dispatcher in the request's init, for which the caller is responsible, or of a platform
 *   whose `fetch` takes no dispatcher.
 * - `'global'`: those of a global dispatcher that was set, often a proxy. robots.txt is requested through it, so pages
 *   are too.
 */
type Connections = PageAgents | 'unseen' | 'global';

/** The address checks of one request and its redirects. */
export class PageHops {
  readonly #policy: AddressPolicy;
  readonly #hops: HopAddresses;
  readonly #connections: Connections;

  constructor(policy: AddressPolicy, connections: Connections) {
    this.#policy = policy;
    this.#hops = new HopAddresses(policy);
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
      this.#hops.answered(url, undefined);
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
      this.#hops.answered(url, reached.isPublic(url.origin));
      return response;
    } finally {
      reached.end(url.origin);
    }
  }
}

/** The address checks for the hops of a call. The agents are made when first needed, because undici is loaded with them. */
export function addressChecks({
  addressPolicy = 'any',
  lookup,
}: Pick<GuardOptions, 'addressPolicy' | 'lookup'>): ((call: Call) => Promise<PageHops>) | undefined {
  if (addressPolicy === 'any') return undefined;
  if (platform.transport !== 'undici') assertUrlsSuffice(addressPolicy, lookup);
  let agents: ReturnType<typeof platform.openPageAgents> | undefined;
  return async ({ init }) => {
    agents ??= platform.openPageAgents(lookup);
    return new PageHops(addressPolicy, connectionsOf(Reflect.get(init, 'dispatcher'), await agents));
  };
}

/**
 * Refuses what cannot be held over a `fetch` that takes no dispatcher.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertUrlsSuffice(addressPolicy: AddressPolicy, lookup: unknown): void {
  if (addressPolicy === 'public-only') {
    throw new RobotsInvalidOptionsError(
      'Expected `addressPolicy` to be "no-public-to-private" or "any", got "public-only": the fetch of this platform does ' +
        'not show which addresses it connects to. Guard a fetch that connects to public addresses only',
    );
  }
  if (lookup === undefined) return;
  throw new RobotsInvalidOptionsError(
    'Expected no `lookup`: the fetch of this platform looks up names by itself',
  );
}

/** The connections of a request. @param dispatcher The one in the init of the request. */
function connectionsOf(dispatcher: unknown, agents: PageAgents | undefined): Connections {
  if ((dispatcher !== undefined && dispatcher !== null) || agents === undefined) return 'unseen';
  return agents.hasGlobalDispatcher ? 'global' : agents;
}
