import { RobotsInvalidOptionsError } from '../../base/index.ts';

/** A URL that `--store` gives, of a Redis or Valkey server. */
export interface RedisUrl {
  /** As given, with the credentials. */
  readonly url: string;
  /** Without credentials and query, for messages. */
  readonly shown: string;
  readonly database: number;
}

/**
 * Reads the URL of a server. Messages show no URL from which a password cannot be taken for certain.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readRedisUrl(url: string): RedisUrl {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !hasPlainCredentials(parsed)) {
    throw new RobotsInvalidOptionsError(
      'Expected the URL given to --store to be redis://USER:PASSWORD@HOST:PORT/DATABASE, got another; ' +
        'in a password write % / ? # @ as %25 %2F %3F %23 %40',
    );
  }
  const { protocol, host, pathname } = parsed;
  const server = `${protocol}//${host}`;
  const shown = pathname === '/' ? server : `${server}${pathname}`;
  if (!/^(?:\/\d*)?$/.test(pathname)) {
    throw new RobotsInvalidOptionsError(
      `Expected the number of a database after the host, got ${shown}; write ${server}/0`,
    );
  }
  return { url, shown, database: Number(pathname.slice(1)) };
}

/** In `redis://user:12/34@host` the parser takes `user` for the host, and a part of the password for the path. */
function hasPlainCredentials({ username, password, pathname, search, hash }: URL): boolean {
  if (`${pathname}${search}${hash}`.includes('@')) return false;
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}
