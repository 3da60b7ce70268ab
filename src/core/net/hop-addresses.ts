import { causesOf, RobotsAddressRefusedError } from '../base/index.ts';
import type { AddressPolicy } from './address-policy.ts';
import { isLocalhost, isPublicHost, specialPurposeOf } from './addresses.ts';

export { isPublicHost };

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
   * Records that a hop got a response; `isPublic`: from a public address. If that is unknown, a name counts as public,
   * which refuses more.
   */
  connected({ hostname }: URL, isPublic: boolean | undefined): void {
    this.#cameFromPublic ||= isPublic ?? isPublicHost(hostname) ?? true;
  }
}
