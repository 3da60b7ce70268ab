import {
  causesOf,
  type ClientMessage,
  codeOf,
  isText,
  printable,
  LightAbortController,
  omitUndefined,
  RobotsInvalidOptionsError,
  type TracedWork,
  tracedWork,
} from '../base/index.ts';
import {
  classifyStatus,
  type Outcome,
  type Redirect,
  type RobotsResponseHeaders,
  type Route,
  type ThrownDetails,
  type UnavailableReason,
  withThrown,
} from '../lifecycle/index.ts';
import { RedirectAddresses } from '../net/addresses.ts';
import type { FetchRobotsOptions, TransportResponse } from './transport.ts';
import {
  ADDRESS_REFUSED,
  DEADLINE,
  FETCH_FAILED,
  FetchFailure,
  NOT_MODIFIED,
  PROXY,
  REDIRECT_LIMIT,
  REDIRECT_LOOP,
} from './failure.ts';
import { isProxyError, keptHeaders, requestFields, truncatedUrl } from './header-fields.ts';
import { isRedirect, redirectTarget } from './location.ts';
import { type Finding, ResponseReader } from './response-reader.ts';

/** `tracing:canfetch:robots-request:*`: one request of an attempt. */
export interface RobotsRequestMessage extends ClientMessage {
  readonly method: 'GET' | 'RETR';
  /** Without userinfo. */
  readonly url: string;
  /** The number of redirects before this request. */
  readonly redirects: number;
  /** The status of the response; absent before. */
  status?: number;
  /** At its end: the outcome of the attempt. Absent after a redirect that is followed. Do not change its body. */
  readonly result?: Outcome | undefined;
  /** At its end: what it failed with. */
  readonly error?: unknown;
}

const requests: TracedWork<RobotsRequestMessage> = tracedWork('canfetch:robots-request');

/** The requests of one attempt, redirect by redirect. */
export class Attempt {
  readonly #options: FetchRobotsOptions;
  /** Aborts the current request. */
  #request = new LightAbortController();
  #isAborted = false;
  readonly #addresses: RedirectAddresses;
  #url: URL;
  #status: number | undefined;
  #headers: RobotsResponseHeaders | undefined;
  /** Reads the current response. */
  #reader: ResponseReader | undefined;
  /** URLs requested before the current one. */
  readonly #requested: string[] = [];
  readonly #redirects: Redirect[] = [];

  constructor(options: FetchRobotsOptions) {
    this.#options = options;
    this.#url = new URL('/robots.txt', options.origin);
    if (options.origin.includes('@')) {
      this.#url.username = '';
      this.#url.password = '';
    }
    this.#addresses = new RedirectAddresses(options.addressPolicy);
  }

  /**
   * Follows redirects until there is a response. Network trouble is an outcome, never an exception.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when a function of the caller is at fault.
   */
  async run(): Promise<Outcome> {
    try {
      for (;;) {
        const outcome = await (requests.hasSubscribers ? this.#visitTraced() : this.#visit());
        if (outcome !== undefined) return outcome;
      }
    } catch (error) {
      if (error instanceof RobotsInvalidOptionsError) throw error;
      // RFC 9309 §2.3.1.4: "If the robots.txt file is unreachable due to server or network errors, this means
      // the robots.txt file is undefined and the crawler MUST assume complete disallow."
      const { status, detail, cause, ...failed } = failedRequest(error, this.#url);
      this.#status = status ?? this.#reader?.status ?? this.#status;
      return withThrown(this.#end({ kind: 'unreachable', ...failed }), { detail, cause });
    }
  }

  /** Ends the current request, and starts no other. */
  abort(): void {
    this.#isAborted = true;
    this.#request.abort();
  }

  /** The outcome when the deadline has passed. */
  outcomeAtDeadline(): Outcome {
    const finding = this.#reader?.findingByStatus;
    return finding === undefined ? this.#unreachable(DEADLINE) : this.#end(finding);
  }

  /** The outcome of the attempt: what its last response, or its failure, has brought, and the way to it. */
  #end(finding: Finding): Outcome {
    const redirects = this.#redirects.length === 0 ? {} : { redirects: [...this.#redirects] };
    const way = { ...this.#route, ...redirects };
    if (finding.kind !== 'unreachable') return { ...finding, ...way, headers: this.#headers ?? {} };
    return { ...finding, ...way, ...omitUndefined({ status: this.#status, headers: this.#headers }) };
  }

  get #route(): Route {
    return { finalUrl: this.#url.href, hops: this.#redirects.length };
  }

  #unreachable(error: string, retryAfterMs?: number): Outcome {
    return this.#end({ kind: 'unreachable', error, ...omitUndefined({ retryAfterMs }) });
  }

  #visitTraced(): Promise<Outcome | undefined> {
    const { href: url, protocol } = this.#url;
    const method = protocol === 'ftp:' ? 'RETR' : 'GET';
    const { client } = this.#options;
    const message: RobotsRequestMessage = { method, url, redirects: this.#redirects.length, client };
    return requests.tracePromise(() => this.#visit(message), message);
  }

  /** Sends one request. Returns `undefined` if the response is a redirect to follow. */
  async #visit(message?: RobotsRequestMessage): Promise<Outcome | undefined> {
    const { transport, lookup, profile } = this.#options;
    const signal = (this.#request = new LightAbortController());
    if (this.#isAborted) signal.abort();
    signal.throwIfAborted();
    if (this.#addresses.refuses(this.#url)) return this.#unreachable(ADDRESS_REFUSED);
    const { publicOnly } = this.#addresses;
    const { fields, conditional } = requestFields(this.#url, this.#options);
    const response = await transport.request(this.#url, {
      headers: fields,
      signal,
      publicOnly,
      ...omitUndefined({ lookup }),
    });
    if (signal.aborted) {
      // The transport ignored the signal.
      response.discard();
      throw signal.reason;
    }
    this.#addresses.connected(this.#url, response.isPublic);
    const { status } = response;
    this.#status = status;
    if (message !== undefined) message.status = status;
    this.#headers = keptHeaders(response);
    const reader = new ResponseReader(response, this.#route, this.#headers, this.#options);
    if (isProxyError(response)) {
      response.discard();
      return this.#unreachable(PROXY, reader.retryAfterMs);
    }
    if (response.meaning === undefined && status === 304) {
      response.discard();
      return conditional ? this.#end({ kind: 'not-modified', status }) : this.#unreachable(NOT_MODIFIED);
    }
    if (response.meaning === undefined && isRedirect(status)) {
      response.discard();
      return this.#follow(response, reader.retryAfterMs);
    }
    this.#reader = reader;
    const meaning = response.meaning ?? classifyStatus(status, profile);
    return this.#end(await reader.read(meaning, () => this.#request.abort()));
  }

  #follow({ status, headers }: TransportResponse, retryAfterMs: number | undefined): Outcome | undefined {
    const { profile, isRedirectDisallowed } = this.#options;
    const location = headers.get('location') ?? '';
    const target = redirectTarget(location, this.#url);
    if (typeof target === 'string') return this.#unreachable(target);
    const unavailable = (reason: UnavailableReason): Outcome =>
      this.#end({ kind: 'unavailable', status, reason });
    const isLast = profile.tooManyRedirects === 'unavailable';
    this.#requested.push(this.#url.href);
    // RFC 9309 §2.3.1.2: "The crawlers SHOULD follow at least five consecutive redirects, even across authorities […].
    // If there are more than five consecutive redirects, crawlers MAY assume that the robots.txt file is
    // unavailable."
    // NOTE(rfc9309): a loop would end in more than five redirects, so it is ended when it closes.
    if (this.#requested.includes(target.href))
      return isLast ? unavailable('redirect-loop') : this.#unreachable(REDIRECT_LOOP, retryAfterMs);
    if (this.#redirects.length >= profile.maxRedirects)
      return isLast ? unavailable('too-many-redirects') : this.#unreachable(REDIRECT_LIMIT, retryAfterMs);
    if (profile.disallowedRedirect === 'unavailable' && isRedirectDisallowed(target.href))
      return unavailable('disallowed-redirect');
    this.#redirects.push({ url: truncatedUrl(this.#url.href), status, location: truncatedUrl(location) });
    this.#url = target;
    this.#status = undefined;
    this.#headers = undefined;
    return undefined;
  }
}

interface FailedRequest extends ThrownDetails {
  readonly error: string;
  /** The status with which a proxy refused to open a tunnel. */
  readonly status?: number;
}

/** What the error of a request for `url` says: its code, who refused, what code of the caller threw. */
function failedRequest(error: unknown, url: URL): FailedRequest {
  const status = tunnelStatus(error);
  if (status !== undefined) return { error: PROXY, status };
  const code = codeOf(error);
  if (code === FETCH_FAILED && !(error instanceof FetchFailure)) {
    const message = error instanceof Error ? error.message : error;
    return isText(message) && message !== ''
      ? { error: code, detail: printable(message), cause: error }
      : { error: code };
  }
  const end = unopenedConnection(error);
  if (end === undefined) return { error: code };
  const detail = end.port === undefined ? end.host : `${end.host}:${end.port}`;
  if (isElsewhere(end, url)) return { error: PROXY, detail: `${detail}, ${code}` };
  return end.host === hostOf(url) ? { error: code } : { error: code, detail };
}

/** Where a connection should have led: an address with a port, or a name that was looked up. */
interface ConnectionEnd {
  readonly host: string;
  readonly port?: number;
}

/** The connection that could not be opened, by the error of Node. */
function unopenedConnection(error: unknown): ConnectionEnd | undefined {
  for (const each of causesOf(error)) {
    const { syscall, address, port, hostname }: Partial<Record<string, unknown>> = { ...each };
    if (syscall === 'getaddrinfo' && typeof hostname === 'string') return { host: printable(hostname) };
    if (syscall === 'connect' && typeof address === 'string' && typeof port === 'number')
      return { host: printable(address), port };
  }
  return undefined;
}

/**
 * Whether a connection cannot have been one to the site: the port, the address or the name is another. Not over FTP, whose
 * servers name a port for the data.
 */
function isElsewhere({ host, port }: ConnectionEnd, url: URL): boolean {
  if (url.protocol === 'ftp:') return false;
  const wanted = hostOf(url);
  if (port === undefined) return host !== wanted;
  const isAddress = /^[\d.]+$|:/.test(wanted);
  return port !== Number(url.port || PORTS[url.protocol]) || (isAddress && host !== wanted);
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * The status with which a proxy refused to open a tunnel (also 407 to a request in absolute form), read from the error,
 * which has it in the message only.
 */
function tunnelStatus(error: unknown): number | undefined {
  for (const each of causesOf(error)) {
    const message = String(Reflect.get(each, 'message'));
    const status = REFUSED_TUNNEL.exec(message)?.[1];
    if (status !== undefined) return Number(status);
  }
  return undefined;
}

/** Of undici, and of the agents hpagent and tunnel. */
const REFUSED_TUNNEL =
  /^(?:Proxy response \(|Proxy Authentication Required \(|Bad response: |tunneling socket could not be established, statusCode=)(\d{3})/;
