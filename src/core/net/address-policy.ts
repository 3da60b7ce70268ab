/**
 * The addresses that may be connected to.
 *
 * - `'no-public-to-private'`: the first request may go to any address, but a redirect from a public address must lead to
 *   a public one.
 * - `'public-only'`: public addresses only, from the first request on.
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
