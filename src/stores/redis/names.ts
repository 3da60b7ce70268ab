import { invalid, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { RedisConnection, SendCommand } from './connection.ts';

/** No braces: the only braces in a key are the hash tag. */
const PREFIX = /^[!-z|~]{1,128}$/;

/** The prefix of all names. */
export function readPrefix(prefix: unknown = 'canfetch:'): string {
  if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
    throw invalid('`prefix`', '1 to 128 printable ASCII characters without braces', prefix);
  }
  return prefix;
}

/**
 * The name of a key on the server. The part in braces is the hash tag of Redis Cluster: names with the same key are on
 * one node. Braces, and lone surrogates, which UTF-8 cannot encode, are escaped.
 */
export function nameOf(prefix: string, key: string, part: '' | ':lease' | ':slot' = ''): string {
  const escaped = key.replaceAll(
    /[%{}\p{Surrogate}]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Redis Cluster ignores an empty hash tag. No other key is escaped to a single percent sign.
  return `${prefix}{${escaped || '%'}}${part}`;
}

/** The key of a value's name; `undefined` for the name of a lease, a slot, or anything else. */
export function keyOf(prefix: string, name: string): string | undefined {
  if (!name.startsWith(`${prefix}{`) || !name.endsWith('}')) return undefined;
  const escaped = name.slice(prefix.length + 1, -1);
  if (escaped === '%') return '';
  return escaped.replaceAll(/%([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/**
 * The names of all values on the server, a page at a time. A name may come twice.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) over a Cluster, of which it would see one node, and
 * over a connection with `keyPrefix`.
 */
export async function* scan(
  connection: RedisConnection,
  send: SendCommand,
  prefix: string,
): AsyncGenerator<readonly string[]> {
  if ('nodeClient' in connection || Reflect.get(connection, 'isCluster') === true) {
    throw new RobotsInvalidOptionsError(
      'Expected a connection to one server, got one to a Cluster; make a store for each of its masters',
    );
  }
  const { keyPrefix }: { readonly keyPrefix?: unknown } = Object(Reflect.get(connection, 'options'));
  if (keyPrefix !== undefined && keyPrefix !== '') {
    throw new RobotsInvalidOptionsError(
      'Expected a connection without `keyPrefix`, which SCAN does not use; give `redisStore` a `prefix` instead',
    );
  }
  const pattern = `${prefix.replaceAll(/[*?[\]\\^]/g, String.raw`\$&`)}{*}`;
  let cursor = '0';
  do {
    const reply = await send(prefix, 'SCAN', cursor, 'MATCH', pattern, 'COUNT', '500');
    const [next, names]: readonly unknown[] = Array.isArray(reply) ? reply : [];
    cursor = textOf(next) || '0';
    yield Array.isArray(names) ? names.map(textOf) : [];
  } while (cursor !== '0');
}

/** Text that a connection returns as such, or as bytes. */
const textOf = (reply: unknown): string =>
  typeof reply === 'string' || Buffer.isBuffer(reply) ? reply.toString() : '';
