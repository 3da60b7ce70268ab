import { invalid, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { StoreEntry } from '../../core/store/store.ts';
import { decodeValue, MAX_FENCE_BYTES, MAX_VALUE_BYTES } from '../../core/store/value-encoding.ts';
import type { RedisConnection, SendCommand } from './connection.ts';

/** Reads of a value end here, so that an oversized foreign value costs no more than the largest valid one. */
export const LAST_BYTE: string = String(MAX_FENCE_BYTES + MAX_VALUE_BYTES + 1);

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
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) over a Cluster, of which it would see one node.
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
  const pattern = `${prefix.replaceAll(/[*?[\]\\^]/g, String.raw`\$&`)}{*}`;
  let cursor = '0';
  do {
    const reply = await send(prefix, 'SCAN', cursor, 'MATCH', pattern, 'COUNT', '500');
    const [next, names]: readonly unknown[] = Array.isArray(reply) ? reply : [];
    cursor = bytes(next).toString() || '0';
    yield Array.isArray(names) ? names.map((name) => bytes(name).toString()) : [];
  } while (cursor !== '0');
}

/** Reads a value with its expiry; `undefined` when there is none of ours. */
export async function readEntry(
  send: SendCommand,
  prefix: string,
  name: string,
): Promise<StoreEntry | undefined> {
  const key = keyOf(prefix, name);
  if (key === undefined) return undefined;
  const [reply, ttl] = await Promise.all([
    send(name, 'GETRANGE', name, '0', LAST_BYTE),
    send(name, 'PTTL', name),
  ]);
  const value = await decodeValue(bytes(reply));
  const ttlMs = Number(String(ttl));
  return value === undefined || !(ttlMs > 0) ? undefined : { key, value, expiresAt: Date.now() + ttlMs };
}

/** A client that ignores the type mapping returns text; uncompressed values are still readable then. */
export function bytes(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  return Buffer.from(typeof reply === 'string' ? reply : '');
}
