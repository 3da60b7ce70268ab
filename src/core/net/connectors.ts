import { buildConnector, Agent } from 'undici';
import {
  quote,
  RobotsAddressRefusedError,
  RobotsInvalidOptionsError,
  textOf,
  invalid,
} from '../base/index.ts';
import {
  isPublicAddress,
  isPublicHost,
  specialPurposeOf,
  isLocalhost,
  refusedHost,
  addressRefusalIn,
} from './addresses.ts';
import { type LookupFunction, type Socket, isIP } from 'node:net';
import { type LookupAddress, lookup as dnsLookup } from 'node:dns';
import { configuredGlobalDispatcher } from './global-dispatcher.ts';

/** Opens the sockets of an undici agent. */
export type Connector = buildConnector.connector;
/** undici's `buildConnector`, or its replacement in a test. */
export type BuildConnector = (options: buildConnector.BuildOptions) => Connector;

/** Connects with `connect`, and hands each socket to `inspect`, which may refuse it with an error. */
export function inspectingConnector(
  connect: Connector,
  inspect: (socket: Socket, target: buildConnector.Options) => Error | undefined,
): Connector {
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      const refusal = error ?? inspect(socket, target);
      if (refusal === undefined) callback(null, socket!);
      else callback(refusal, null);
    });
}

/**
 * Opens sockets to public addresses only. undici reuses kept-alive sockets without another lookup. So requests that
 * must go to public addresses have agents of their own, which never hold a socket to another address.
 */
export function publicOnlyConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction,
  build: BuildConnector = buildConnector,
): Connector {
  const connect = inspectingConnector(
    build({ ...options, lookup: publicOnlyLookup(lookup) }),
    (socket, { hostname }) => {
      // The lookup has chosen public addresses. This check covers all other ways to a wrong address.
      const address = socket.remoteAddress ?? '';
      const purpose = specialPurposeOf(address);
      if (purpose === undefined) return undefined;
      socket.destroy();
      return new RobotsAddressRefusedError(hostname, purpose, address);
    },
  );
  return (target, callback) => {
    // undici cannot handle a callback in the same turn.
    if (isPublicHost(target.hostname) === false)
      process.nextTick(callback, refusedHost(target.hostname), null);
    else connect(target, callback);
  };
}

/** Opens sockets to any address, and records the address of each connection. */
export function recordingConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction,
  reached: ConnectedAddresses,
  build: BuildConnector = buildConnector,
): Connector {
  return inspectingConnector(build({ ...options, lookup }), (socket, { protocol, hostname, host }) => {
    // A literal address needs no record.
    if (isPublicHost(hostname) === undefined) reached.connected(`${protocol}//${host ?? hostname}`, socket);
    return undefined;
  });
}

interface Reached {
  sockets: number;
  requests: number;
  isPublic: boolean | undefined;
}

/**
 * Records, by origin, whether the sockets of an agent lead to public addresses. undici does not report which socket a
 * response came over, so an origin is public when any of its sockets is; this can only refuse more. An entry lasts as
 * long as one of its sockets, or a request that may have used one.
 */
export class ConnectedAddresses {
  readonly #origins = new Map<string, Reached>();

  /** Call when a request to `origin` starts. */
  begin(origin: string): void {
    this.#entry(origin).requests++;
  }

  /** Call when the response has come, or the request has failed. */
  end(origin: string): void {
    const entry = this.#entry(origin);
    entry.requests--;
    this.#forgetIfOver(origin, entry);
  }

  connected(origin: string, socket: Socket): void {
    const entry = this.#entry(origin);
    const isPublic = socket.remoteAddress === undefined || isPublicAddress(socket.remoteAddress);
    entry.isPublic = isPublic || (entry.isPublic === true && entry.sockets > 0);
    entry.sockets++;
    socket.once('close', () => {
      entry.sockets--;
      this.#forgetIfOver(origin, entry);
    });
  }

  /** `undefined` when no connection has been made. */
  isPublic(origin: string): boolean | undefined {
    return this.#origins.get(origin)?.isPublic;
  }

  #entry(origin: string): Reached {
    let entry = this.#origins.get(origin);
    if (entry === undefined) {
      entry = { sockets: 0, requests: 0, isPublic: undefined };
      this.#origins.set(origin, entry);
    }
    return entry;
  }

  #forgetIfOver(origin: string, entry: Reached): void {
    if (entry.sockets === 0 && entry.requests === 0) this.#origins.delete(origin);
  }
}

/**
 * Wraps a caller's `lookup`: any answer is read, and what is no answer is an error, which would end the process in
 * `net.connect`. `wanted` chooses among the addresses.
 */
function readingLookup(
  lookup: LookupFunction,
  wanted: (hostname: string, found: readonly LookupAddress[]) => readonly LookupAddress[] | Error,
): LookupFunction {
  return (hostname, options, callback) => {
    let isSettled = false;
    const settle = (answer: readonly LookupAddress[] | Error): void => {
      if (isSettled) return;
      isSettled = true;
      if (answer instanceof Error) callback(answer, '', undefined);
      else if (options.all === true) callback(null, [...answer]);
      else callback(null, answer[0]?.address ?? '', answer[0]?.family);
    };
    try {
      // Ask for all addresses: the first may be refused where the second is not.
      lookup(hostname, { ...options, all: true }, (error: unknown, result?: unknown) => {
        if (error) settle(error instanceof Error ? error : new Error(textOf(error)));
        else {
          const found = readAddresses(hostname, result);
          settle(found instanceof Error ? found : wanted(hostname, found));
        }
      });
    } catch (error) {
      process.nextTick(settle, error instanceof Error ? error : new Error(textOf(error)));
    }
  };
}

/** A caller's `lookup`, with answers that `net.connect` can read. */
export function checkedLookup(lookup: LookupFunction): LookupFunction {
  return readingLookup(lookup, (_, found) => found);
}

/**
 * Wraps `lookup` and drops all addresses that are not public. Sockets connect to the returned addresses, so that DNS
 * rebinding between check and connection has no effect.
 */
export function publicOnlyLookup(lookup: LookupFunction): LookupFunction {
  const read = readingLookup(lookup, (hostname, found) => {
    const isPublic = found.filter(({ address }) => isPublicAddress(address));
    const [{ address } = { address: '' }] = found;
    if (isPublic.length > 0) return isPublic;
    return new RobotsAddressRefusedError(hostname, specialPurposeOf(address) ?? 'public', address);
  });
  return (hostname, options, callback) => {
    if (isLocalhost(hostname)) process.nextTick(callback, refusedHost(hostname), '');
    else read(hostname, options, callback);
  };
}

/** Reads the result of a caller's `lookup`, which may not support `all`. */
function readAddresses(hostname: string, result: unknown): LookupAddress[] | Error {
  const list: readonly unknown[] = Array.isArray(result) ? result : [result ?? ''];
  const found = list.flatMap((each) => {
    const address: unknown = typeof each === 'string' ? each : Reflect.get(Object(each), 'address');
    const family = typeof address === 'string' ? isIP(address) : 0;
    return typeof address === 'string' && family !== 0 ? [{ address, family }] : [];
  });
  if (found.length > 0) return found;
  if (result !== undefined && list.every((each) => each === '')) {
    const code = 'ENOTFOUND';
    return Object.assign(new Error(`lookup ${code} ${hostname}`), { code, syscall: 'lookup', hostname });
  }
  return new RobotsInvalidOptionsError(
    `Expected \`lookup\` to answer for ${quote(hostname)} with addresses, as \`dns.lookup\` does, got ${quote(result)}`,
  );
}

/**
 * Two agents for page requests. `anywhere` connects to any address, and records where. `publicOnly` sends
 * the other requests, so that these never reuse a socket to a private address.
 */
export class PageAgents {
  readonly reached: ConnectedAddresses = new ConnectedAddresses();
  readonly anywhere: Agent;
  readonly publicOnly: Agent;
  readonly #lookup: LookupFunction;

  constructor(givenLookup: LookupFunction | undefined) {
    const lookup = givenLookup === undefined ? dnsLookup : checkedLookup(givenLookup);
    this.#lookup = publicOnlyLookup(lookup);
    this.anywhere = new Agent({ connect: recordingConnector({}, lookup, this.reached) });
    this.publicOnly = publicOnlyAgent({ lookup });
  }

  /** Whether a global dispatcher was set, which then sends requests without a dispatcher. */
  get hasGlobalDispatcher(): boolean {
    return configuredGlobalDispatcher() !== undefined;
  }

  /**
   * The refusal of a host name that has only private addresses. Other lookup failures are ignored here: the request
   * itself looks the name up again and reports them.
   */
  refusal(hostname: string): Promise<RobotsAddressRefusedError | undefined> {
    return new Promise((resolve) => {
      this.#lookup(hostname, { all: true }, (error) => resolve(addressRefusalIn(error)));
    });
  }
}

/** Options of an undici `Agent`. Options about connecting go into `connect`. */
export interface PublicOnlyAgentOptions extends Pick<
  Agent.Options,
  | 'bodyTimeout'
  | 'clientTtl'
  | 'connections'
  | 'headersTimeout'
  | 'keepAliveMaxTimeout'
  | 'keepAliveTimeout'
  | 'keepAliveTimeoutThreshold'
  | 'maxHeaderSize'
  | 'maxOrigins'
  | 'maxRequestsPerClient'
  | 'maxResponseSize'
  | 'pipelining'
> {
  /** Options of undici's `buildConnector`: time-out, TLS and socket options, but no `socketPath`. */
  readonly connect?: Omit<buildConnector.BuildOptions, 'lookup' | 'socketPath'>;
  /** Resolves names. Addresses that are not public are dropped. @default `dns.lookup` */
  readonly lookup?: LookupFunction;
}

/**
 * Makes an undici `Agent` that connects to public addresses only, for page requests through
 * `dispatcher.compose(robotsInterceptor(robots))`, or as the `dispatcher` of a client. This is the policy
 * `'public-only'`, checked at every connection: an agent does not know which request was a redirect.
 *
 * The agent connects to the address that it checked, so DNS rebinding has no effect. A request to any other address
 * fails with `RobotsAddressRefusedError` (`ERR_ROBOTS_ADDRESS_REFUSED`) before a connection is opened.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when `connect` has `lookup` or `socketPath`.
 *
 * @example
 * ```ts
 * import { request } from 'undici';
 * import { publicOnlyAgent } from 'canfetch/undici';
 *
 * const dispatcher = publicOnlyAgent({ connections: 4 });
 * const { body } = await request('https://example.com/page', { dispatcher });
 * ```
 */
export function publicOnlyAgent(options: PublicOnlyAgentOptions = {}): Agent {
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const { connect = {}, lookup = dnsLookup, ...rest } = options;
  if (typeof connect !== 'object') {
    throw new RobotsInvalidOptionsError(
      `Expected \`connect\` to be connector options, got a ${typeof connect}: the addresses it connects to cannot be checked`,
    );
  }
  for (const name of ['socketPath', 'path', 'lookup', 'socket']) {
    if (Reflect.get(connect, name) === undefined) continue;
    throw new RobotsInvalidOptionsError(
      `Expected \`connect\` options that do not choose the address, got \`connect.${name}\``,
    );
  }
  return new Agent({ ...rest, connect: publicOnlyConnector(connect, lookup) });
}
