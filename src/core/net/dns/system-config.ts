import { readFileSync, type Stats, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { networkInterfaces } from 'node:os';
import type { Families } from './address-queries.ts';
import { isPublicAddress } from '../addresses.ts';

/** The time for which a file's content is used before its modification is checked. */
const FILE_RECHECK_MS = 5_000;

/** A small configuration file of the system. It is read on demand, and again when it has changed. */
export class SystemFile<Content> {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #parse: (text: string) => Content;
  readonly #now: () => number;
  #content: Content | undefined;
  #stamp: string | undefined;
  #checkedAt = -Infinity;

  /** @param now Milliseconds of a monotonic clock. */
  constructor(path: string, maxBytes: number, parse: (text: string) => Content, now: () => number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#parse = parse;
    this.#now = now;
  }

  /**
   * Returns the same object until the file changes. A missing or unreadable file is empty; `undefined` for a file
   * above `maxBytes`.
   */
  read(): Content | undefined {
    const now = this.#now();
    if (now - this.#checkedAt < FILE_RECHECK_MS) return this.#content;
    this.#checkedAt = now;
    const stats = this.#stats();
    const stamp = stats === undefined ? '' : `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
    if (stamp === this.#stamp) return this.#content;
    this.#stamp = stamp;
    this.#content = (stats?.size ?? 0) > this.#maxBytes ? undefined : this.#parse(this.#text());
    return this.#content;
  }

  /** Synchronous: it takes a few microseconds, less than waiting for a thread of the pool. */
  #stats(): Stats | undefined {
    try {
      return statSync(this.#path);
    } catch {
      return undefined;
    }
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }
}

/** Addresses by lower-case name. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

export const MAX_HOSTS_BYTES = 4_194_304;

export function hostsFilePath(): string {
  if (process.platform !== 'win32') return '/etc/hosts';
  return join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts');
}

/** hosts(5): an address, then its names; `#` starts a comment. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split(/\r\n?|\n/)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const addresses = hosts.get(name);
      if (addresses === undefined) hosts.set(name, [address]);
      else if (!addresses.includes(address)) addresses.push(address);
    }
  }
  return hosts;
}

/** The part of resolv.conf(5) about incomplete names. c-ares reads the name servers itself. */
export interface ResolverConfiguration {
  /** Domains to append to a name. */
  readonly search: readonly string[];
  /** A name with fewer dots is tried with every search domain first, then as it is. */
  readonly ndots: number;
}

export const MAX_RESOLVER_BYTES = 65_536;
const MAX_DOMAINS = 32;
/** resolv.conf(5): "silently capped to 15". */
const MAX_NDOTS = 15;
const MAX_NAME_LENGTH = 253;

/** resolv.conf(5): "The domain and search keywords are mutually exclusive. If more than one instance […] the last instance wins." */
export function parseResolverFile(text: string): ResolverConfiguration {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split(/\r\n?|\n/)) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'domain') search = values.slice(0, 1);
    if (keyword === 'search') search = values.slice(0, MAX_DOMAINS);
    if (keyword !== 'options') continue;
    const dots = /(?:^| )ndots:(\d+)(?: |$)/.exec(values.join(' '))?.[1];
    if (dots !== undefined) ndots = Math.min(Number(dots), MAX_NDOTS);
  }
  const domains = search.map((domain) => domain.replace(/^\.+|\.+$/g, '').toLowerCase());
  return { search: domains.filter((domain) => domain !== ''), ndots };
}

/** The names to try for `name`, in order. A trailing dot means that the name is complete. */
export function candidates(name: string, { search, ndots }: ResolverConfiguration): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const longer = search
    .map((domain) => `${name}.${domain}`)
    .filter((candidate) => candidate.length <= MAX_NAME_LENGTH);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...longer] : [...longer, name];
}

/** The time for which the addresses of this machine are cached. */
const ADDRESSES_RECHECK_MS = 10_000;
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
    if (now - this.#checkedAt < ADDRESSES_RECHECK_MS) return;
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
