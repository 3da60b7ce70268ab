import type { IncomingMessage } from 'node:http';
import { quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { invalid, Problem } from './reply.ts';

/**
 * Host names that requests may be addressed to. DNS rebinding makes the name of a hostile site resolve to this
 * machine, and the browser then treats the site and this service as one origin. The name in `Host` reveals it.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a name that no `Host` field can have, such as a URL. */
  constructor(bound: string, more: readonly string[]) {
    for (const name of more) {
      if (serialised(withoutPort(name)) !== undefined) continue;
      const host = URL.canParse(name) ? new URL(name).hostname : '';
      throw new RobotsInvalidOptionsError(
        `Expected --allow-host to be the name of a host, got ${quote(name)}; write ${host === '' ? 'robots.internal' : host}`,
      );
    }
    const names = ['localhost', '127.0.0.1', '[::1]', bound, ...more];
    this.#names = new Set(names.map((name) => serialised(withoutPort(name)) ?? name.toLowerCase()));
  }

  /** @throws Problem 421 when `Host` is not an allowed name, 400 when there is more than one or it is malformed. */
  assert({ headers: { host = '' }, rawHeaders }: IncomingMessage): void {
    assertSingleHost(rawHeaders);
    const name = HOST.exec(host)?.[0];
    if (name === undefined) throw badHost(`got ${quote(host)}`);
    if (this.#names.has(serialised(name) ?? '')) return;
    // RFC 9110 §15.5.20: "the request was directed at a server that is unable or unwilling to produce an
    // authoritative response for the target URI."
    throw new Problem(
      421,
      'ERR_ROBOTS_FOREIGN_HOST',
      `Expected a Host that this service accepts, got ${quote(host)}; to accept it, start the service with --allow-host`,
    );
  }
}

/**
 * RFC 9112 §3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks
 * a Host header field and to any request message that contains more than one Host header field line or a Host header
 * field with an invalid field value." Node itself rejects a request without it.
 */
function assertSingleHost(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw badHost(`got ${hosts.length}`);
}

function badHost(got: string): Problem {
  const detail = `Expected one Host header field, which names a host and perhaps a port, ${got}`;
  return invalid(detail, { headers: { connection: 'close' } });
}

/** A host, before a port or without one. */
const HOST = /^(?:\[[\da-f:.]+\]|[^:/?#@\\\s]+)(?=:\d*$|$)/i;

/** A name may be given as a `Host` field has it. */
function withoutPort(name: string): string {
  return HOST.exec(name)?.[0] ?? name;
}

/** Serialises a host as in a URL; `undefined` when it is invalid. */
function serialised(name: string): string | undefined {
  if (/[/?#@\\]/.test(name)) return undefined;
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  try {
    return new URL(`http://${bracketed}/`).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

/** Path of the page. */
const PAGE = '/';

/**
 * Refuses requests that pages of other sites send: they could make this machine fetch from origins, even though they
 * cannot read the responses. Other sites may link to the page, which does nothing by itself.
 *
 * @throws Problem 403 for such a request.
 */
export function assertOwnSite({ method, headers }: IncomingMessage, path: string): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  const safe = method === 'GET' || method === 'HEAD';
  if (safe && path === PAGE) return;
  const ownSite = site === undefined || site === 'same-origin' || site === 'none';
  if (ownSite && (origin === undefined || hostOf(origin) === host.toLowerCase())) return;
  throw new Problem(
    403,
    'ERR_ROBOTS_FOREIGN_SITE',
    `Expected a request from the page of this service, or from no page, got one from ${quote(origin ?? site)}`,
  );
}

/**
 * Whether the visitor typed the address, or came from the page itself. Otherwise a link on another site could make this machine
 * send requests to any origin. Over plain HTTP, browsers send `Sec-Fetch-Site` to this machine only, but `Referer` to every
 * host: our pages have theirs (`referrer-policy`), and no page can send that of another site.
 */
export function isVisitors({ headers }: IncomingMessage): boolean {
  const { host = '', referer = '', 'sec-fetch-site': site } = headers;
  if (site === undefined) return hostOf(referer) === host.toLowerCase();
  return site === 'none' || site === 'same-origin';
}

function hostOf(url: string): string | undefined {
  return /^https?:\/\/([^/]+)/i.exec(url)?.[1]?.toLowerCase();
}
