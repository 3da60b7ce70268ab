import { causesOf, RobotsAddressRefusedError } from '../base/index.ts';
import { isLocalhost, isPublicHost, specialPurposeOf } from './addresses.ts';

export { isPublicHost };

/**
 * The addresses that may be connected to.
 *
 * - `'no-public-to-private'`: the first hop may go to any address, but a redirect from a public address must lead to
 *   a public one.
 * - `'public-only'`: public addresses only, from the first hop on.
 * - `'any'`: all addresses.
 *
 * An address is public unless the IANA special-purpose registries say otherwise: private, loopback, link-local,
 * shared, reserved, documentation, multicast and similar addresses are not. IPv4-mapped, NAT64, 6to4 and Teredo
 * addresses are judged by the IPv4 address in them. `localhost` and names below it are loopback.
 */
export type AddressPolicy = 'no-public-to-private' | 'public-only' | 'any';

export const ADDRESS_POLICIES: readonly AddressPolicy[] = ['no-public-to-private', 'public-only', 'any'];

export const DEFAULT_ADDRESS_POLICY: AddressPolicy = 'no-public-to-private';

const STRICTNESS: Readonly<Record<AddressPolicy, number>> = {
  any: 0,
  'no-public-to-private': 1,
  'public-only': 2,
};

/** Whether `policy` refuses addresses that `other` allows. */
export function isStricter(policy: AddressPolicy, other: AddressPolicy): boolean {
  return STRICTNESS[policy] > STRICTNESS[other];
}

/** The error for a host that is not public by its URL: a literal address, or `localhost`. */
export function refusedHost(hostname: string): RobotsAddressRefusedError {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const what = isLocalhost(hostname) ? 'loopback' : (specialPurposeOf(address) ?? 'public');
  return new RobotsAddressRefusedError(hostname, what);
}

/** Finds the refusal among the causes of the error of a fetch. */
export function addressRefusalIn(error: unknown): RobotsAddressRefusedError | undefined {
  for (const each of causesOf(error)) if (each instanceof RobotsAddressRefusedError) return each;
  return undefined;
}

/** Applies a policy to the hops of one attempt. Under the default, all hops after a public one must be public. */
export class HopAddresses {
  readonly #policy: AddressPolicy;
  #cameFromPublic = false;

  constructor(policy: AddressPolicy) {
    this.#policy = policy;
  }

  /** Whether the next hop may connect to public addresses only. */
  get publicOnly(): boolean {
    return (
      this.#policy === 'public-only' || (this.#policy === 'no-public-to-private' && this.#cameFromPublic)
    );
  }

  /** Whether the URL of the next hop shows a refused address: a literal, or `localhost`. */
  refuses({ hostname }: URL): boolean {
    return this.publicOnly && isPublicHost(hostname) === false;
  }

  /**
   * Records that a hop was answered. `isPublic` says whether a public address answered. When that is unknown, a name
   * counts as public, which refuses more.
   */
  answered({ hostname }: URL, isPublic: boolean | undefined): void {
    this.#cameFromPublic ||= isPublic ?? isPublicHost(hostname) ?? true;
  }
}
