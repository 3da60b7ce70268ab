import { isPublicHost } from './addresses.ts';

/**
 * Which addresses may be connected to.
 *
 * - `'no-public-to-private'`: any address may be asked first, but what a public one redirects to must be public.
 * - `'public-only'`: public addresses alone, from the first hop on.
 * - `'any'`: all.
 *
 * An address is public if the IANA special-purpose registries do not say otherwise: private, loopback, link-local,
 * shared, reserved, documentation, multicast and the like are not. IPv4-mapped, NAT64, 6to4 and Teredo addresses are
 * judged by the IPv4 address they carry; `localhost` and names below it are loopback.
 */
export type AddressPolicy = 'no-public-to-private' | 'public-only' | 'any';

export const ADDRESS_POLICIES: readonly AddressPolicy[] = ['no-public-to-private', 'public-only', 'any'];

export const DEFAULT_ADDRESS_POLICY: AddressPolicy = 'no-public-to-private';

const STRICTNESS: Readonly<Record<AddressPolicy, number>> = {
  any: 0,
  'no-public-to-private': 1,
  'public-only': 2,
};

/** Whether `policy` refuses addresses that `other` lets through. */
export function isStricter(policy: AddressPolicy, other: AddressPolicy): boolean {
  return STRICTNESS[policy] > STRICTNESS[other];
}

/** What a policy means for a chain of hops. Once a hop was public, all further ones have to be. */
export class HopAddresses {
  readonly #policy: AddressPolicy;
  #cameFromPublic = false;

  constructor(policy: AddressPolicy) {
    this.#policy = policy;
  }

  /** Whether only a public address may be connected to for the next hop. */
  get publicOnly(): boolean {
    return (
      this.#policy === 'public-only' || (this.#policy === 'no-public-to-private' && this.#cameFromPublic)
    );
  }

  /** Whether the next hop is refused for what its URL shows: a literal address, or `localhost`. */
  refuses({ hostname }: URL): boolean {
    return this.publicOnly && isPublicHost(hostname) === false;
  }

  /**
   * A hop was answered. `isPublic` tells of the address that did; when nobody knows, a name is taken for public, since
   * that refuses more.
   */
  answered({ hostname }: URL, isPublic: boolean | undefined): void {
    this.#cameFromPublic ||= isPublic ?? isPublicHost(hostname) ?? true;
  }
}
