import type { IncomingMessage } from 'node:http';
import { quote } from '../base/index.ts';
import { Problem } from './problem.ts';

/**
 * Names under which the service may be asked. A page of a site whose name was made to point at this machine (DNS
 * rebinding) is of the same origin as we are to the browser; that name in `Host` gives it away.
 */
export class AllowedHosts {
  private readonly names: ReadonlySet<string>;
  /** The field that was allowed last: most requests have the same. */
  private allowed: string | undefined;

  constructor(bound: string, more: readonly string[]) {
    const names = ['localhost', '127.0.0.1', '[::1]', bound, ...more];
    this.names = new Set(names.map((name) => serialised(name) ?? name.toLowerCase()));
  }

  /** @throws Problem 421 */
  assert({ headers: { host = '' } }: IncomingMessage): void {
    if (host === this.allowed) return;
    const name = /^(?:\[[\da-f:.]+\]|[^:/?#@\\\s]+)(?=:\d*$|$)/i.exec(host)?.[0];
    if (name !== undefined && this.names.has(serialised(name) ?? '')) {
      this.allowed = host;
      return;
    }
    // RFC 9110 §15.5.20: "the request was directed at a server that is unable or unwilling to produce an
    // authoritative response for the target URI."
    throw new Problem(
      421,
      'ERR_ROBOTS_FOREIGN_HOST',
      `Expected a Host that this service goes by, got ${quote(host)}; if it is one, start it with --allow-host`,
    );
  }
}

/** A host the way a URL has it; undefined when it is none. */
function serialised(name: string): string | undefined {
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  try {
    return new URL(`http://${bracketed}/`).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

/** Where the page is. */
const PAGE = '/';

/**
 * Pages of other sites have no business here: they could make this machine ask origins, even if they cannot read what
 * comes. A link leads to the page, and to nothing that acts.
 *
 * @throws Problem 403
 */
export function assertOwnSite({ method, headers }: IncomingMessage, path: string): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  const safe = method === 'GET' || method === 'HEAD';
  if (safe && path === PAGE && headers['sec-fetch-dest'] === 'document') return;
  const ownSite = site === undefined || site === 'same-origin' || site === 'none';
  if (ownSite && (origin === undefined || hostOf(origin) === host.toLowerCase())) return;
  throw new Problem(
    403,
    'ERR_ROBOTS_FOREIGN_SITE',
    `Expected a request of our own page, or of no page, got one of ${quote(origin ?? site ?? 'another site')}`,
  );
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
}
