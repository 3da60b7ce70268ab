import { isLocalhost } from '../addresses.ts';
import {
  type DnsAnswer,
  type Families,
  hasHint,
  queryAddresses,
  selectAddresses,
  wantedFamilies,
} from './address-queries.ts';
import {
  LocalAddresses,
  candidates,
  MAX_RESOLVER_BYTES,
  parseResolverFile,
  type ResolverConfiguration,
  type Hosts,
  hostsFilePath,
  MAX_HOSTS_BYTES,
  parseHosts,
  SystemFile,
} from './system-config.ts';
import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { networkInterfaces } from 'node:os';

/** Replacements of the system's settings, for tests. */
export interface NameLookupOptions {
  /** Makes the resolver. @default one that queries the system's name servers */
  readonly makeResolver?: () => dns.Resolver;
  /** @default the system's */
  readonly hostsFile?: string;
  /** @default `/etc/resolv.conf`, where there is one */
  readonly resolverFile?: string;
  /** Used for names that DNS does not know of. @default `dns.lookup` */
  readonly system?: LookupFunction;
  /** Whether {@link system} may resolve names that no name server knows. @default on macOS and Windows */
  readonly systemKnowsMore?: boolean;
  /** @default `os.networkInterfaces` */
  readonly interfaces?: typeof networkInterfaces;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/**
 * Errors of c-ares or of its settings, not of the name: the system's lookup may succeed.
 * `UNKNOWN_ARES_ERROR`, which the documentation of Node does not list, means that there is no name server at all.
 */
const RESOLVER_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EBADRESP',
  'EFORMERR',
  'ENOTIMP',
  'UNKNOWN_ARES_ERROR',
]);
/** Errors after which the C library tries the next search domain. */
const ABSENT_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL']);

/** RFC 6761 §6.4, RFC 7686 §2: names that must never be queried. */
const NEVER_QUERIED = /(?:^|\.)(?:invalid|onion)$/;
/** RFC 6762 §3: "Any DNS query for a name ending with ".local." MUST be sent to the mDNS […] multicast address". */
const MULTICAST_DNS = /\.local$/;

const NO_CONFIGURATION = parseResolverFile('');

/** The result of a query: addresses, an error code, or `undefined` when the system's lookup has to be used. */
type Resolved = readonly dns.LookupAddress[] | string | undefined;

/**
 * Replaces `dns.lookup`, which blocks a thread of libuv's small pool until a name server responds, so that only two to
 * four names are resolved at a time. c-ares queries any number of names at once.
 *
 * As in `dns.lookup`, the hosts file comes first, search domains are tried as in resolv.conf(5), and the options
 * `family`, `hints`, `all` and `order` hold. The system's lookup resolves names outside DNS (names without a dot,
 * `.local`), and all names while c-ares finds no name server.
 *
 * Addresses are not cached: an origin is fetched about once a day, the system's resolver has a cache that follows
 * TTLs, and an address is checked and used at once. Only concurrent queries for a name share a result.
 */
export class NameLookup {
  readonly #makeResolver: () => dns.Resolver;
  readonly #system: LookupFunction;
  readonly #systemKnowsMore: boolean;
  readonly #hosts: SystemFile<Hosts>;
  readonly #configuration: SystemFile<ResolverConfiguration>;
  readonly #own: LocalAddresses;
  readonly #pending = new Map<string, Promise<DnsAnswer>>();
  #resolver: dns.Resolver | undefined;
  #resolverIsFor: ResolverConfiguration | undefined;

  constructor(options: NameLookupOptions = {}) {
    const { platform } = process;
    const { hostsFile = hostsFilePath(), resolverFile = '/etc/resolv.conf' } = options;
    const now = options.now ?? (() => performance.now());
    this.#makeResolver = options.makeResolver ?? (() => new dns.Resolver());
    this.#system = options.system ?? dns.lookup;
    this.#systemKnowsMore = options.systemKnowsMore ?? (platform === 'darwin' || platform === 'win32');
    this.#own = new LocalAddresses(now, options.interfaces);
    this.#hosts = new SystemFile(hostsFile, MAX_HOSTS_BYTES, parseHosts, now);
    this.#configuration = new SystemFile(resolverFile, MAX_RESOLVER_BYTES, parseResolverFile, now);
  }

  /** Has the signature of `dns.lookup`. Bound, so it can be passed on by itself. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const respond = (resolved: Resolved): void => {
      if (resolved === undefined) this.#system(hostname, options, callback);
      else if (typeof resolved === 'string') callback(lookupError(resolved, hostname), '', undefined);
      else if (options.all === true) callback(null, [...resolved]);
      else callback(null, resolved[0]!.address, resolved[0]!.family);
    };
    this.#resolve(hostname, options)
      .catch(() => undefined)
      // Outside the promise, so that an exception of the callback reaches the caller.
      .then((resolved) => process.nextTick(respond, resolved));
  };

  /** Fails pending queries, so that none keeps the process alive. */
  close(): void {
    this.#resolver?.cancel();
  }

  async #resolve(hostname: string, options: dns.LookupOptions): Promise<Resolved> {
    const name = hostname.toLowerCase();
    const bare = name.endsWith('.') ? name.slice(0, -1) : name;
    const selected = (addresses: readonly string[]): readonly dns.LookupAddress[] | 'ENOTFOUND' => {
      const found = selectAddresses(addresses, options, this.#own.prefersIPv6);
      return found.length === 0 ? 'ENOTFOUND' : found;
    };
    if (isIP(bare) !== 0) return selected([bare]);
    // RFC 6761 §6.3: "Name resolution APIs and libraries SHOULD recognize localhost names as special and SHOULD always
    // return the IP loopback address for address queries".
    if (isLocalhost(bare)) return selected(['127.0.0.1', '::1']);
    const hosts = this.#hosts.read();
    if (hosts === undefined) return undefined;
    const listed = selected(hosts.get(bare) ?? []);
    if (listed !== 'ENOTFOUND') return listed;
    if (NEVER_QUERIED.test(bare) || bare === '') return 'ENOTFOUND';
    if (!bare.includes('.') || MULTICAST_DNS.test(bare)) return undefined;

    const { ipv4, ipv6, error } = await this.#ask(name, this.#familiesFor(options));
    if (error === undefined) return selected([...ipv4, ...ipv6]);
    const isAbsent = error === 'ENOTFOUND' || error === 'ENODATA';
    return RESOLVER_CODES.has(error) || (isAbsent && this.#systemKnowsMore) ? undefined : error;
  }

  /** The records to query. With `ADDRCONFIG`, only families that this machine has an address of. */
  #familiesFor(options: dns.LookupOptions): Families {
    const wanted = wantedFamilies(options);
    if (!hasHint(options, dns.ADDRCONFIG)) return wanted;
    const own = this.#own.families;
    const usable = { ipv4: wanted.ipv4 && own.ipv4, ipv6: wanted.ipv6 && own.ipv6 };
    return usable.ipv4 || usable.ipv6 ? usable : wanted;
  }

  /** Queries the name and its search-domain variants in order, until one has addresses. */
  async #ask(name: string, families: Families): Promise<DnsAnswer> {
    const configuration = this.#configuration.read() ?? NO_CONFIGURATION;
    let failure: DnsAnswer | undefined;
    for (const candidate of candidates(name, configuration)) {
      const result = await this.#share(candidate, families, configuration);
      if (result.error === undefined || !ABSENT_CODES.has(result.error)) return result;
      // A name server that failed may know the name, so the name must not count as absent.
      if (failure === undefined || result.error === 'ESERVFAIL') failure = result;
    }
    return failure ?? { ipv4: [], ipv6: [], error: 'ENOTFOUND' };
  }

  #share(name: string, families: Families, configuration: ResolverConfiguration): Promise<DnsAnswer> {
    const key = `${Number(families.ipv4)}${Number(families.ipv6)} ${name}`;
    const known = this.#pending.get(key);
    if (known !== undefined) return known;
    const result = queryAddresses(this.#resolverFor(configuration), name, families);
    this.#pending.set(key, result);
    void result.then(() => this.#pending.delete(key));
    return result;
  }

  /** A resolver keeps the name servers that it found, so a changed file needs a new one. */
  #resolverFor(configuration: ResolverConfiguration): dns.Resolver {
    if (this.#resolver === undefined || this.#resolverIsFor !== configuration) {
      this.#resolver = this.#makeResolver();
      this.#resolverIsFor = configuration;
    }
    return this.#resolver;
  }
}

/** The error of `dns.lookup`, which reports a name without addresses as a name that does not exist. */
function lookupError(failure: string, hostname: string): NodeJS.ErrnoException {
  const code = failure === 'ENODATA' ? 'ENOTFOUND' : failure;
  return Object.assign(new Error(`lookup ${code} ${hostname}`), { code, syscall: 'lookup', hostname });
}
