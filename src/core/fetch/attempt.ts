import {
  type ClientMessage,
  codeOf,
  LightAbortController,
  RobotsInvalidOptionsError,
  sha256Of,
  type TracedWork,
  tracedWork,
  omitUndefined,
} from '../base/index.ts';
import {
  type RobotsResponseHeaders,
  isBotChallenge,
  mayBeChallenge,
  classifyStatus,
  type Outcome,
  type Redirect,
  retryAfterMs,
  type Route,
  type StatusClass,
  type Suspect,
  SUSPECT_BYTES,
  detectSuspect,
  type UnavailableReason,
} from '../lifecycle/index.ts';
import { RedirectAddresses } from '../net/addresses.ts';
import {
  keptHeaders,
  boundedField,
  requestFields,
  truncatedUrl,
  isProxyError,
  tunnelStatus,
} from './header-fields.ts';
import { readBody, readStart } from './body.ts';
import {
  ADDRESS_REFUSED,
  CHALLENGE,
  DEADLINE,
  NOT_MODIFIED,
  PROXY,
  REDIRECT_LIMIT,
  REDIRECT_LOOP,
  STATUS,
} from './failure.ts';
import { framingFault } from './framing.ts';
import type { FetchRobotsOptions } from './options.ts';
import { isRedirect, redirectTarget } from './location.ts';
import type { ResponseHeaders, TransportResponse } from './transport.ts';

/** How long to wait for the body of an error status, which only serves to recognise a challenge page. */
const PAGE_MS = 1_000;

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

/**
 * Makes one attempt to fetch `<origin>/robots.txt`. All network trouble is an outcome. The promise rejects only with
 * the reason of an aborted `signal`, and it does so even if a transport ignores the signal.
 */
export function fetchRobots(options: FetchRobotsOptions): Promise<Outcome> {
  const { signal, deadlineMs } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const attempt = new Attempt(options);
    const deadline = setTimeout(() => {
      settle();
      resolve(attempt.outcomeAtDeadline());
      attempt.abort();
    }, deadlineMs);
    const abandon = (): void => {
      settle();
      reject(signal.reason);
      attempt.abort();
    };
    const settle = (): void => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', abandon);
    };
    signal.addEventListener('abort', abandon, { once: true });
    void attempt.run().then(resolve, reject).then(settle);
  });
}

/** The requests of one attempt. */
class Attempt {
  readonly #options: FetchRobotsOptions;
  /** Aborts the current request. */
  #request = new LightAbortController();
  #isAborted = false;
  readonly #initial: URL;
  readonly #addresses: RedirectAddresses;
  #url: URL;
  #status: number | undefined;
  #headers: RobotsResponseHeaders | undefined;
  #byStatus: Outcome | undefined;
  /** URLs requested before the current one. */
  readonly #requested: string[] = [];
  readonly #redirects: Redirect[] = [];

  constructor(options: FetchRobotsOptions) {
    this.#options = options;
    this.#initial = new URL('/robots.txt', options.origin);
    if (options.origin.includes('@')) {
      this.#initial.username = '';
      this.#initial.password = '';
    }
    this.#url = this.#initial;
    this.#addresses = new RedirectAddresses(options.addressPolicy);
  }

  /**
   * Follows redirects until there is a response. Network trouble is an outcome, never an exception.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when a `dispatcher` or `fetch` of the caller is at fault.
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
      const proxyStatus = tunnelStatus(error);
      if (proxyStatus === undefined) return this.#unreachable(codeOf(error));
      this.#status = proxyStatus;
      return this.#unreachable(PROXY);
    }
  }

  /** Ends the current request, and starts no other. */
  abort(): void {
    this.#isAborted = true;
    this.#request.abort();
  }

  /** The outcome when the deadline has passed. */
  outcomeAtDeadline(): Outcome {
    return this.#byStatus ?? this.#unreachable(DEADLINE);
  }

  #unreachable(error: string, retryAfterMs?: number, suspect?: Suspect): Outcome {
    return {
      kind: 'unreachable',
      error,
      ...this.#route(),
      ...omitUndefined({ status: this.#status, headers: this.#headers, retryAfterMs, suspect }),
    };
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
    const { transport, lookup } = this.#options;
    const signal = (this.#request = new LightAbortController());
    if (this.#isAborted) signal.abort();
    signal.throwIfAborted();
    if (this.#addresses.refuses(this.#url)) return this.#unreachable(ADDRESS_REFUSED);
    const { publicOnly } = this.#addresses;
    const { fields, conditional } = requestFields(this.#url, this.#initial, this.#options);
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
    const headers = keptHeaders(response);
    this.#status = response.status;
    if (message !== undefined) message.status = response.status;
    this.#headers = headers;
    if (isProxyError(response)) {
      response.discard();
      return this.#unreachable(PROXY, this.#retryAfter(headers));
    }
    if (response.meaning !== undefined) return this.#readResponse(response, headers, response.meaning);
    if (response.status === 304) {
      response.discard();
      if (!conditional) return this.#unreachable(NOT_MODIFIED);
      return { kind: 'not-modified', status: 304, ...this.#route(), headers };
    }
    if (!isRedirect(response.status)) {
      return this.#readResponse(response, headers, classifyStatus(response.status, this.#options.profile));
    }
    response.discard();
    return this.#follow(response.status, response.headers, headers);
  }

  async #readResponse(
    response: TransportResponse,
    headers: RobotsResponseHeaders,
    meaning: StatusClass,
  ): Promise<Outcome> {
    const { profile } = this.#options;
    const { status } = response;
    if (meaning === 'rules') return this.#readRules(response, headers);
    if (profile.challenge === 'as-status') this.#byStatus = this.#withoutRules(meaning, status, headers);
    const suspect = this.#suspect(response, await this.#startOfPage(response));
    return this.#withoutRules(meaning, status, headers, suspect);
  }

  #withoutRules(
    meaning: Exclude<StatusClass, 'rules'>,
    status: number,
    headers: RobotsResponseHeaders,
    suspect?: Suspect,
  ): Outcome {
    if (this.#isChallenge(suspect)) {
      return this.#unreachable(CHALLENGE, this.#retryAfter(headers), suspect);
    }
    if (meaning === 'unreachable') return this.#unreachable(STATUS, this.#retryAfter(headers), suspect);
    // RFC 9309 §2.3.1.3: "If a server status code indicates that the robots.txt file is unavailable to the
    // crawler, then the crawler MAY access any resources on the server."
    return {
      kind: meaning,
      status,
      ...this.#route(),
      headers,
      ...omitUndefined({ suspect }),
    };
  }

  /**
   * RFC 9309 §2.3.1.1: "If the crawler successfully downloads the robots.txt file, the crawler MUST follow the
   * parseable rules."
   */
  async #readRules(response: TransportResponse, headers: RobotsResponseHeaders): Promise<Outcome> {
    const { status } = response;
    const fault = framingFault(response);
    if (fault !== undefined) {
      response.discard();
      return this.#unreachable(fault);
    }
    try {
      const { body, truncated } = await readBody(response, this.#options.maxBodyBytes);
      const suspect = this.#suspect(response, body);
      if (this.#isChallenge(suspect)) {
        return this.#unreachable(CHALLENGE, this.#retryAfter(headers), suspect);
      }
      return {
        kind: 'success',
        status,
        ...this.#route(),
        headers,
        body,
        sha256: await sha256Of(body),
        truncated,
        ...omitUndefined({ suspect }),
      };
    } finally {
      this.#status = response.status;
    }
  }

  #suspect({ status, headers }: TransportResponse, start: Uint8Array): Suspect | undefined {
    return detectSuspect({ status, field: (name) => boundedField(headers, name), start, ...this.#route() });
  }

  #isChallenge(suspect: Suspect | undefined): boolean {
    return this.#options.profile.challenge === 'unreachable' && isBotChallenge(suspect);
  }

  /** Reads the start of what may be a challenge page, for a short time. */
  async #startOfPage(response: TransportResponse): Promise<Uint8Array> {
    const type = boundedField(response.headers, 'content-type') ?? '';
    if (!mayBeChallenge(response.status) || !/html/i.test(type)) {
      response.discard();
      return new Uint8Array(0);
    }
    const timer = setTimeout(() => this.#request.abort(), PAGE_MS);
    const start = await readStart(response, SUSPECT_BYTES);
    clearTimeout(timer);
    return start;
  }

  #follow(status: number, fields: ResponseHeaders, headers: RobotsResponseHeaders): Outcome | undefined {
    const { profile, isRedirectDisallowed } = this.#options;
    const location = fields.get('location') ?? '';
    const target = redirectTarget(location, this.#url);
    if (typeof target === 'string') return this.#unreachable(target);
    this.#requested.push(this.#url.href);
    // RFC 9309 §2.3.1.2: "The crawlers SHOULD follow at least five consecutive redirects, even across authorities […].
    // If there are more than five consecutive redirects, crawlers MAY assume that the robots.txt file is
    // unavailable."
    // NOTE(rfc9309): a loop would end in more than five redirects, so it is ended when it closes.
    if (this.#requested.includes(target.href)) return this.#endRedirects(status, headers, 'redirect-loop');
    if (this.#redirects.length >= profile.maxRedirects)
      return this.#endRedirects(status, headers, 'too-many-redirects');
    if (profile.disallowedRedirect === 'unavailable' && isRedirectDisallowed(target.href)) {
      return this.#unavailable(status, headers, 'disallowed-redirect');
    }
    this.#redirects.push({ url: truncatedUrl(this.#url.href), status, location: truncatedUrl(location) });
    this.#url = target;
    this.#status = undefined;
    this.#headers = undefined;
    return undefined;
  }

  #endRedirects(
    status: number,
    headers: RobotsResponseHeaders,
    reason: 'redirect-loop' | 'too-many-redirects',
  ): Outcome {
    if (this.#options.profile.tooManyRedirects === 'unavailable')
      return this.#unavailable(status, headers, reason);
    return this.#unreachable(
      reason === 'redirect-loop' ? REDIRECT_LOOP : REDIRECT_LIMIT,
      this.#retryAfter(headers),
    );
  }

  #unavailable(status: number, headers: RobotsResponseHeaders, reason: UnavailableReason): Outcome {
    return { kind: 'unavailable', status, ...this.#route(), headers, reason };
  }

  #route(): Route {
    const { length: hops } = this.#redirects;
    const route = { finalUrl: this.#url.href, hops };
    return hops === 0 ? route : { ...route, redirects: [...this.#redirects] };
  }

  #retryAfter({ retryAfter }: RobotsResponseHeaders): number | undefined {
    if (retryAfter === undefined) return undefined;
    return retryAfterMs(retryAfter, this.#options.clock.now(), this.#options.profile.retryAfter);
  }
}
