import { networkInterfaces } from 'node:os';
import type { Families } from './address-queries.ts';
import { isPublicAddress } from '../addresses.ts';

/** The time for which the addresses of this machine are cached. */
const RECHECK_MS = 10_000;
const LINK_LOCAL = /^fe[89ab]/i;

/** The addresses of this machine. A family that it has no address of need not be queried. */
export class LocalAddresses {
  readonly #now: () => number;
  readonly #interfaces: typeof networkInterfaces;
  #families: Families = { ipv4: true, ipv6: true };
  #prefersIPv6 = false;
  #checkedAt = -Infinity;

  constructor(now: () => number, interfaces: typeof networkInterfaces = networkInterfaces) {
    this.#now = now;
    this.#interfaces = interfaces;
  }

  /**
   * getaddrinfo(3), AI_ADDRCONFIG: "The loopback address is not considered for this case". Both families when there
   * is no address.
   */
  get families(): Families {
    this.#check();
    return this.#families;
  }

  /** RFC 6724 §6: a machine with a public IPv6 address tries IPv6 destinations first. */
  get prefersIPv6(): boolean {
    this.#check();
    return this.#prefersIPv6;
  }

  #check(): void {
    const now = this.#now();
    if (now - this.#checkedAt < RECHECK_MS) return;
    this.#checkedAt = now;
    const external = this.#addresses().filter(
      ({ internal, address }) => !internal && !LINK_LOCAL.test(address),
    );
    const ipv4 = external.some(({ family }) => family === 'IPv4');
    const ipv6 = external.some(({ family }) => family === 'IPv6');
    this.#families = ipv4 || ipv6 ? { ipv4, ipv6 } : { ipv4: true, ipv6: true };
    this.#prefersIPv6 = external.some(({ family, address }) => family === 'IPv6' && isPublicAddress(address));
  }

  #addresses(): readonly { address: string; family: string; internal: boolean }[] {
    try {
      return Object.values(this.#interfaces()).flatMap((each) => each ?? []);
    } catch {
      // Some systems do not allow this call.
      return [];
    }
  }
}
