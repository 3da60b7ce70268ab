import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { networkInterfaces } from 'node:os';
import { type Answer, type Families, queryAddresses } from './address-queries.ts';
import { isLocalhost } from './addresses.ts';
import { type Hosts, hostsFilePath, MAX_HOSTS_BYTES, parseHosts } from './hosts-file.ts';
import { OwnAddresses } from './own-addresses.ts';
import {
  candidates,
  MAX_RESOLVER_BYTES,
  parseResolverFile,
  type ResolverConfiguration,
} from './resolver-file.ts';
import { SystemFile } from './system-file.ts';

/** Where names come from, other than the system's own settings. */
export interface NameLookupOptions {
  /** Name servers, `address:port`. @default those of the system */
  readonly servers?: readonly string[];
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

/** RFC 6761 §6.4, RFC 7686 §2: names that are never to be asked for. */
const NEVER_ASKED = /(?:^|\.)(?:invalid|onion)$/;
/** RFC 6762 §3: "Any DNS query for a name ending with ".local." MUST be sent to the mDNS […] multicast address". */
const MULTICAST_DNS = /\.local$/;

type Addresses = readonly dns.LookupAddress[];

/** What one question comes to: addresses, or the code of a failure. */
type Resolved = Addresses | string;

/**
 * `dns.lookup` without its bottleneck: that one occupies a thread of libuv's small pool for as long as a name server
 * takes, two or four names at a time. Here c-ares asks for as many names at once as there are questions.
 *
 * Kept from `dns.lookup`: the hosts file comes first, search domains are tried as resolv.conf(5) says, and of the
 * options `family`, `hints`, `all` and `order` hold. The system's own lookup answers for what is none of DNS's
 * business (names without a dot, `.local`), and for everything while c-ares finds no name server to talk to.
 *
 * Addresses are not kept: an origin is asked about once a day, the system's resolver has a cache that heeds TTLs, and
 * an address is checked and used at once. Only questions asked at the same time share an answer.
 */
export class NameLookup {
  readonly #servers: readonly string[] | undefined;
  readonly #system: LookupFunction;
  readonly #systemKnowsMore: boolean;
  readonly #now: () => number;
  readonly #hosts: SystemFile<Hosts>;
  readonly #configuration: SystemFile<ResolverConfiguration>;
  readonly #own: OwnAddresses;
  readonly #underWay = new Map<string, Promise<Answer>>();
  #resolver: dns.Resolver | undefined;
  #resolverIsFor: ResolverConfiguration | undefined;

  constructor(options: NameLookupOptions = {}) {
    const { platform } = process;
    this.#servers = options.servers;
    this.#system = options.system ?? dns.lookup;
    this.#systemKnowsMore = options.systemKnowsMore ?? (platform === 'darwin' || platform === 'win32');
    this.#now = options.now ?? (() => performance.now());
    this.#own = new OwnAddresses(this.#now, options.interfaces);
    const hostsFile = options.hostsFile ?? hostsFilePath();
    const resolverFile = options.resolverFile ?? '/etc/resolv.conf';
    this.#hosts = new SystemFile(hostsFile, MAX_HOSTS_BYTES, parseHosts, this.#now);
    this.#configuration = new SystemFile(resolverFile, MAX_RESOLVER_BYTES, parseResolverFile, this.#now);
  }

  /** Has the signature of `dns.lookup`, and is bound. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const answer = (resolved: Resolved): void => {
      if (typeof resolved === 'string') callback(lookupError(resolved, hostname), '', undefined);
      else if (options.all === true) callback(null, [...resolved]);
      else callback(null, resolved[0]!.address, resolved[0]!.family);
    };
    void this.#resolve(hostname, options).then((resolved) => {
      // Out of the promise's reach: what the callback throws is the caller's.
      process.nextTick(() => {
        if (resolved === undefined) this.#system(hostname, options, callback);
        else answer(resolved);
      });
    });
  };

  /** Fails what is under way, so that no question keeps the process alive. */
  close(): void {
    this.#resolver?.cancel();
  }

  /** Never rejects. `undefined` stands for a question to the system. */
  async #resolve(hostname: string, options: dns.LookupOptions): Promise<Resolved | undefined> {
    const name = hostname.toLowerCase();
    const bare = name.endsWith('.') ? name.slice(0, -1) : name;
    const families = wanted(options);
    if (isIP(bare) !== 0) return this.#arranged([bare], families, options);
    // RFC 6761 §6.3: "Name resolution APIs and libraries SHOULD recognize localhost names as special and SHOULD always
    // return the IP loopback address for address queries".
    if (isLocalhost(bare)) return this.#arranged(['127.0.0.1', '::1'], families, options);
    const hosts = this.#hosts.read();
    if (hosts === undefined) return undefined;
    const listed = this.#arranged(hosts.get(bare) ?? [], families, options);
    if (typeof listed !== 'string') return listed;
    if (NEVER_ASKED.test(bare) || bare === '') return 'ENOTFOUND';
    if (!bare.includes('.') || MULTICAST_DNS.test(bare)) return undefined;

    const { ipv4, ipv6, error } = await this.#ask(name, this.#usable(families, options));
    if (error === undefined) return this.#arranged([...ipv4, ...ipv6], families, options);
    const isAbsent = error === 'ENOTFOUND' || error === 'ENODATA';
    if (NOT_ABOUT_NAME.has(error) || (isAbsent && this.#systemKnowsMore)) return undefined;
    return error;
  }

  /** The name by itself, and behind the search domains, in their order, until one of them has addresses. */
  async #ask(name: string, families: Families): Promise<Answer> {
    const configuration = this.#configuration.read() ?? parseResolverFile('');
    let failure: Answer | undefined;
    for (const candidate of candidates(name, configuration)) {
      const answer = await this.#share(candidate, families, configuration);
      if (answer.error === undefined) return answer;
      // As the C library does: a domain that has no answer does not stand in the way of the next.
      if (!['ENOTFOUND', 'ENODATA', 'ESERVFAIL'].includes(answer.error)) return answer;
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
    if (
      this.#resolver === undefined ||
      (this.#servers === undefined && this.#resolverIsFor !== configuration)
    ) {
      this.#resolver = new dns.Resolver();
      this.#resolverIsFor = configuration;
      if (this.#servers !== undefined) this.#resolver.setServers(this.#servers);
    }
    return this.#resolver;
  }

  /** The records to ask for. `ADDRCONFIG`: of a family of which this machine has no address, none. */
  #usable({ ipv4, ipv6 }: Families, { hints = 0 }: dns.LookupOptions): Families {
    if ((hints & dns.ADDRCONFIG) === 0) return { ipv4, ipv6 };
    const own = this.#own.families;
    const usable = { ipv4: ipv4 && own.ipv4, ipv6: ipv6 && own.ipv6 };
    return usable.ipv4 || usable.ipv6 ? usable : { ipv4, ipv6 };
  }

  /** Addresses of the families asked for, in the order asked for. */
  #arranged(addresses: readonly string[], families: Families, options: dns.LookupOptions): Resolved {
    const ofFamily = (family: 4 | 6): dns.LookupAddress[] =>
      addresses.filter((address) => isIP(address) === family).map((address) => ({ address, family }));
    const { hints = 0 } = options;
    let ipv4 = families.ipv4 ? ofFamily(4) : [];
    const ipv6 = families.ipv6 ? ofFamily(6) : [];
    if (familyOf(options) === 6) {
      const mapped = (hints & dns.V4MAPPED) !== 0 && (ipv6.length === 0 || (hints & dns.ALL) !== 0);
      ipv4 = mapped ? ipv4.map(({ address }) => ({ address: `::ffff:${address}`, family: 6 })) : [];
    }
    const arranged = this.#startsWithIPv6(options) ? [...ipv6, ...ipv4] : [...ipv4, ...ipv6];
    return arranged.length === 0 ? 'ENOTFOUND' : arranged;
  }

  #startsWithIPv6({ order, verbatim }: dns.LookupOptions): boolean {
    const inForce = order ?? (verbatim === false ? 'ipv4first' : dns.getDefaultResultOrder());
    if (inForce !== 'verbatim') return inForce === 'ipv6first';
    // The two answers have no order between them. RFC 6724 §6: what this machine can be the source of.
    return this.#own.prefersIPv6;
  }
}

function familyOf({ family }: dns.LookupOptions): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}

function wanted(options: dns.LookupOptions): Families {
  const family = familyOf(options);
  const mapped = ((options.hints ?? 0) & dns.V4MAPPED) !== 0;
  return { ipv4: family !== 6 || mapped, ipv6: family !== 4 };
}

/** As `dns.lookup` tells it: that a name has no address is the same to a caller as that there is no such name. */
function lookupError(failure: string, hostname: string): NodeJS.ErrnoException {
  const code = failure === 'ENODATA' ? 'ENOTFOUND' : failure;
  return Object.assign(new Error(`lookup ${code} ${hostname}`), { code, syscall: 'lookup', hostname });
}
