import { isLocalhost } from '../addresses.ts';
import { type Answer, type Families, queryAddresses } from './address-queries.ts';
import { OwnAddresses } from './local-addresses.ts';
import { arrange, hasHint, wantedFamilies } from './lookup-options.ts';
import {
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

/** Where names come from, other than the system's own settings. */
export interface NameLookupOptions {
  /** Makes what asks the name servers. @default one that asks those of the system */
  readonly makeResolver?: () => dns.Resolver;
  /** @default the system's */
  readonly hostsFile?: string;
  /** @default `/etc/resolv.conf`, where there is one */
  readonly resolverFile?: string;
  /** Asked where DNS is not the one to ask. @default `dns.lookup` */
  readonly system?: LookupFunction;
  /** Whether {@link system} may know of names that no name server does. @default on macOS and Windows */
  readonly systemKnowsMore?: boolean;
  /** @default `os.networkInterfaces` */
  readonly interfaces?: typeof networkInterfaces;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/**
 * Failures that tell of c-ares or of its settings, and nothing of the name: the system may do better. The unknown one
 * is that there is no name server at all.
 */
const NOT_ABOUT_NAME: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EBADRESP',
  'EFORMERR',
  'ENOTIMP',
  'UNKNOWN_ARES_ERROR',
]);
/** Failures after which the C library still tries the next search domain. */
const NOT_HERE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL']);

/** RFC 6761 §6.4, RFC 7686 §2: names that are never to be asked for. */
const NEVER_ASKED = /(?:^|\.)(?:invalid|onion)$/;
/** RFC 6762 §3: "Any DNS query for a name ending with ".local." MUST be sent to the mDNS […] multicast address". */
const MULTICAST_DNS = /\.local$/;

const NO_CONFIGURATION = parseResolverFile('');

/** What a question comes to: addresses, the code of a failure, or that the system is to be asked. */
type Resolved = readonly dns.LookupAddress[] | string | undefined;

/**
 * `dns.lookup` without its bottleneck: that one occupies a thread of libuv's small pool for as long as a name server
 * takes, two to four names at a time. Here c-ares asks for as many names at once as there are questions.
 *
 * Kept from `dns.lookup`: the hosts file comes first, search domains are tried as resolv.conf(5) says, and of the
 * options `family`, `hints`, `all` and `order` hold. The system's own lookup answers for what is none of DNS's
 * business (names without a dot, `.local`), and for everything while c-ares finds no name server to talk to.
 *
 * Addresses are not kept: an origin is asked about once a day, the system's resolver has a cache that heeds TTLs, and
 * an address is checked and used at once. Only questions asked at the same time share an answer.
 */
export class NameLookup {
  readonly #makeResolver: () => dns.Resolver;
  readonly #system: LookupFunction;
  readonly #systemKnowsMore: boolean;
  readonly #hosts: SystemFile<Hosts>;
  readonly #configuration: SystemFile<ResolverConfiguration>;
  readonly #own: OwnAddresses;
  readonly #underWay = new Map<string, Promise<Answer>>();
  #resolver: dns.Resolver | undefined;
  #resolverIsFor: ResolverConfiguration | undefined;

  constructor(options: NameLookupOptions = {}) {
    const { platform } = process;
    const { hostsFile = hostsFilePath(), resolverFile = '/etc/resolv.conf' } = options;
    const now = options.now ?? (() => performance.now());
    this.#makeResolver = options.makeResolver ?? (() => new dns.Resolver());
    this.#system = options.system ?? dns.lookup;
    this.#systemKnowsMore = options.systemKnowsMore ?? (platform === 'darwin' || platform === 'win32');
    this.#own = new OwnAddresses(now, options.interfaces);
    this.#hosts = new SystemFile(hostsFile, MAX_HOSTS_BYTES, parseHosts, now);
    this.#configuration = new SystemFile(resolverFile, MAX_RESOLVER_BYTES, parseResolverFile, now);
  }

  /** Has the signature of `dns.lookup`, and is bound. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const answer = (resolved: Resolved): void => {
      if (resolved === undefined) this.#system(hostname, options, callback);
      else if (typeof resolved === 'string') callback(lookupError(resolved, hostname), '', undefined);
      else if (options.all === true) callback(null, [...resolved]);
      else callback(null, resolved[0]!.address, resolved[0]!.family);
    };
    this.#resolve(hostname, options)
      .catch(() => undefined)
      // Out of the promise's reach: what the callback throws is the caller's.
      .then((resolved) => process.nextTick(answer, resolved));
  };

  /** Fails what is under way, so that no question keeps the process alive. */
  close(): void {
    this.#resolver?.cancel();
  }

  async #resolve(hostname: string, options: dns.LookupOptions): Promise<Resolved> {
    const name = hostname.toLowerCase();
    const bare = name.endsWith('.') ? name.slice(0, -1) : name;
    const arranged = (addresses: readonly string[]): readonly dns.LookupAddress[] | 'ENOTFOUND' => {
      const found = arrange(addresses, options, this.#own.prefersIPv6);
      return found.length === 0 ? 'ENOTFOUND' : found;
    };
    if (isIP(bare) !== 0) return arranged([bare]);
    // RFC 6761 §6.3: "Name resolution APIs and libraries SHOULD recognize localhost names as special and SHOULD always
    // return the IP loopback address for address queries".
    if (isLocalhost(bare)) return arranged(['127.0.0.1', '::1']);
    const hosts = this.#hosts.read();
    if (hosts === undefined) return undefined;
    const listed = arranged(hosts.get(bare) ?? []);
    if (listed !== 'ENOTFOUND') return listed;
    if (NEVER_ASKED.test(bare) || bare === '') return 'ENOTFOUND';
    if (!bare.includes('.') || MULTICAST_DNS.test(bare)) return undefined;

    const { ipv4, ipv6, error } = await this.#ask(name, this.#familiesFor(options));
    if (error === undefined) return arranged([...ipv4, ...ipv6]);
    const isAbsent = error === 'ENOTFOUND' || error === 'ENODATA';
    return NOT_ABOUT_NAME.has(error) || (isAbsent && this.#systemKnowsMore) ? undefined : error;
  }

  /** The records to ask for. `ADDRCONFIG`: of a family of which this machine has no address, none. */
  #familiesFor(options: dns.LookupOptions): Families {
    const wanted = wantedFamilies(options);
    if (!hasHint(options, dns.ADDRCONFIG)) return wanted;
    const own = this.#own.families;
    const usable = { ipv4: wanted.ipv4 && own.ipv4, ipv6: wanted.ipv6 && own.ipv6 };
    return usable.ipv4 || usable.ipv6 ? usable : wanted;
  }

  /** The name by itself, and behind the search domains, in their order, until one of them has addresses. */
  async #ask(name: string, families: Families): Promise<Answer> {
    const configuration = this.#configuration.read() ?? NO_CONFIGURATION;
    let failure: Answer | undefined;
    for (const candidate of candidates(name, configuration)) {
      const answer = await this.#share(candidate, families, configuration);
      if (answer.error === undefined || !NOT_HERE.has(answer.error)) return answer;
      // A name server that failed may know the name: it must not be taken for absent.
      if (failure === undefined || answer.error === 'ESERVFAIL') failure = answer;
    }
    return failure ?? { ipv4: [], ipv6: [], error: 'ENOTFOUND' };
  }

  #share(name: string, families: Families, configuration: ResolverConfiguration): Promise<Answer> {
    const key = `${Number(families.ipv4)}${Number(families.ipv6)} ${name}`;
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    const answer = queryAddresses(this.#resolverFor(configuration), name, families);
    this.#underWay.set(key, answer);
    void answer.then(() => this.#underWay.delete(key));
    return answer;
  }

  /** A resolver holds on to the name servers it has found: a changed file asks for a new one. */
  #resolverFor(configuration: ResolverConfiguration): dns.Resolver {
    if (this.#resolver === undefined || this.#resolverIsFor !== configuration) {
      this.#resolver = this.#makeResolver();
      this.#resolverIsFor = configuration;
    }
    return this.#resolver;
  }
}

/** As `dns.lookup` tells it: that a name has no address is the same to a caller as that there is no such name. */
function lookupError(failure: string, hostname: string): NodeJS.ErrnoException {
  const code = failure === 'ENODATA' ? 'ENOTFOUND' : failure;
  return Object.assign(new Error(`lookup ${code} ${hostname}`), { code, syscall: 'lookup', hostname });
}
