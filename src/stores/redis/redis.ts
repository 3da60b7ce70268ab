import { assertKnownOptions, quote, invalid, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import {
  decodeValue,
  encodeValue,
  MAX_FENCE_BYTES,
  MAX_VALUE_BYTES,
} from '../../core/store/value-encoding.ts';
import {
  type FencedLease,
  durationMs,
  type RobotsStore,
  type StoreEntry,
  SLOT_REMEMBERED_MS,
  type StoreReserveOptions,
  type StoreSlot,
  type StoreLeaseOptions,
  type StoreSetOptions,
} from '../../core/store/store.ts';
import { commandsOver, type RedisConnection, type SendCommand } from './connection.ts';
import { bookSlot, pauseSlots, releaseLease, setFenced, takeLease } from './scripts.ts';
import { randomUUID } from 'node:crypto';

export type { FencedLease, StoreEntry } from '../../core/store/store.ts';
export type {
  CallingConnection,
  NodeRedisClusterConnection,
  NodeRedisConnection,
  NodeRedisReplies,
  NodeRedisSentinelConnection,
  RedisArgument,
  RedisConnection,
} from './connection.ts';
export type { RobotsStore, StoreLease, StoreLeaseOptions, StoreSetOptions } from '../../core/store/store.ts';

export interface RedisStoreOptions {
  /**
   * Prefix of all keys: up to 128 printable ASCII characters without braces. Fleets that must not share records use
   * different prefixes.
   * @default 'canfetch:'
   */
  readonly prefix?: string;
}

export interface RedisStore extends RobotsStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: StoreSetOptions): Promise<void>;
  delete(key: string): Promise<void>;
  lease(key: string, ttlMs: number, options?: StoreLeaseOptions): Promise<FencedLease | undefined>;
  reserve(key: string, delayMs: number, options?: StoreReserveOptions): Promise<StoreSlot>;
  now(): Promise<number>;
  pause(key: string, pauseMs: number): Promise<number>;
  /**
   * All values of the prefix on the server, a page at a time (`SCAN`). Values written or deleted during the iteration
   * may or may not be included. Not over a Cluster: make a store for each of its masters.
   *
   * @param isWanted Values of other keys are not read, and left out.
   */
  entries(isWanted?: (key: string) => boolean): AsyncIterable<StoreEntry>;
  /** Deletes all values of the prefix on the server. Leases and slots stay, because other processes rely on them. */
  clear(): Promise<void>;
}

/**
 * Makes a store for a fleet, on Redis 6 or later or Valkey. The caller makes the connection with node-redis, ioredis or
 * iovalkey: to a server, a pool, a Sentinel or a Cluster. The caller also owns it: the store adds no listeners to it
 * and never closes it.
 *
 * All times are by the server's clock: expiry, leases and slots do not depend on the clocks of the clients. A script
 * accesses only one key with its lease and slot. When a command rejects, the store rejects with the same error.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { RobotsClient } from 'canfetch';
 * import { redisStore } from 'canfetch/redis';
 *
 * const redis = new Redis('redis://127.0.0.1:6379');
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store: redisStore(redis) });
 * // …
 * await robots.close();
 * await redis.quit();
 * ```
 */
export function redisStore(connection: RedisConnection, options: RedisStoreOptions = {}): RedisStore {
  assertKnownOptions(options, ['prefix']);
  const prefix = readPrefix(options.prefix);
  const send = commandsOver(connection);

  return {
    async get(key) {
      const name = nameOf(prefix, key);
      const reply = await send(name, 'GETRANGE', name, '0', LAST_BYTE);
      return decodeValue(bytes(reply));
    },
    async set(key, value, { ttlMs, fence }) {
      const name = nameOf(prefix, key);
      const ttl = wholeMs(durationMs('ttlMs', ttlMs));
      const content = await encodeValue(value, fence);
      if (fence === undefined) await send(name, 'SET', name, content, 'PX', ttl);
      else await setFenced(send, [name], content, fence, ttl);
    },
    async delete(key) {
      const name = nameOf(prefix, key);
      await send(name, 'DEL', name);
    },
    lease: (key, ttlMs, { valueKey } = {}) => leaseOver(send, prefix, key, ttlMs, valueKey),
    async reserve(key, delayMs, { minWaitMs = 0, maxWaitMs = MAX_WAIT_MS, slackMs = 0 } = {}) {
      const reply = await bookSlot(
        send,
        [nameOf(prefix, key, ':slot')],
        micros(durationMs('delayMs', delayMs)),
        micros(SLOT_REMEMBERED_MS),
        micros(durationMs('minWaitMs', minWaitMs)),
        micros(Math.min(maxWaitMs, MAX_WAIT_MS)),
        micros(durationMs('slackMs', slackMs)),
      );
      const [waitMs, pauseMs]: readonly unknown[] = Object(reply);
      return { waitMs: readWait(waitMs), pauseMs: readWait(pauseMs) };
    },
    async *entries(isWanted = () => true) {
      for await (const names of scan(connection, send, prefix)) {
        const wanted = names.filter((name) => isWanted(keyOf(prefix, name) ?? ''));
        const page = await Promise.all(wanted.map((name) => readEntry(send, prefix, name)));
        yield* page.filter((entry) => entry !== undefined);
      }
    },
    async clear() {
      for await (const names of scan(connection, send, prefix)) {
        await Promise.all(names.map((name) => send(name, 'DEL', name)));
      }
    },
    async now() {
      const [seconds, micros] = Object(await send(nameOf(prefix, ''), 'TIME'));
      return Number(String(seconds)) * 1_000 + Number(String(micros)) / 1_000;
    },
    async pause(key, pauseMs) {
      const name = nameOf(prefix, key, ':slot');
      const pause = durationMs('pauseMs', pauseMs);
      return readWait(await pauseSlots(send, [name], micros(pause), micros(SLOT_REMEMBERED_MS)));
    },
  };
}

/** Acquires a lease, and reads the value under `valueKey` in the same step. */
async function leaseOver(
  send: SendCommand,
  prefix: string,
  key: string,
  ttlMs: number,
  valueKey: string | undefined,
): Promise<FencedLease | undefined> {
  // The two keys are on one node of a cluster only if their hash tags are equal.
  const name = nameOf(prefix, valueKey ?? key, ':lease');
  const ttl = wholeMs(durationMs('ttlMs', ttlMs));
  const valueName = valueKey === undefined ? undefined : nameOf(prefix, valueKey);
  const keys = valueName === undefined ? ([name] as const) : ([name, valueName] as const);
  const reply = await takeLease(send, keys, randomUUID(), ttl, LAST_BYTE);
  if (!Array.isArray(reply)) return undefined;
  const token = bytes(reply[0]).toString('latin1');
  const lease = {
    token,
    async release() {
      await releaseLease(send, [name], token);
    },
  };
  if (valueName === undefined) return lease;
  return {
    ...lease,
    value: (await decodeValue(bytes(reply[1]))) ?? null,
    async setAndRelease(value, options) {
      const valueTtl = wholeMs(durationMs('ttlMs', options.ttlMs));
      await setFenced(send, [valueName, name], await encodeValue(value, token), token, valueTtl);
    },
  };
}

/** Redis accepts whole milliseconds only. Rounds up, so that a time is never shorter than requested. */
const wholeMs = (ms: number): string => String(Math.ceil(ms));

/** Ten years: the longest wait that the scripts can count. */
const MAX_WAIT_MS = 10 * 365 * 24 * 60 * 60 * 1000;

const micros = (ms: number): string => String(Math.ceil(ms * 1000));

/** Some connections return numbers as text or bigint. */
function readWait(reply: unknown): number {
  const waitMicros = Number(String(reply));
  if (Number.isFinite(waitMicros) && waitMicros >= 0) return waitMicros / 1000;
  throw new Error(`Expected the server to return a time in microseconds, got ${quote(reply)}`);
}

/** Reads of a value end here, so that an oversized foreign value costs no more than the largest valid one. */
const LAST_BYTE: string = String(MAX_FENCE_BYTES + MAX_VALUE_BYTES + 1);

/** No braces: the only braces in a key are the hash tag. */
const PREFIX = /^[!-z|~]{1,128}$/;

/** The prefix of all names. */
function readPrefix(prefix: unknown = 'canfetch:'): string {
  if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
    throw invalid('`prefix`', '1 to 128 printable ASCII characters without braces', prefix);
  }
  return prefix;
}

/**
 * The name of a key on the server. The part in braces is the hash tag of Redis Cluster: names with the same key are on
 * one node. Braces, and lone surrogates, which UTF-8 cannot encode, are escaped.
 */
function nameOf(prefix: string, key: string, part: '' | ':lease' | ':slot' = ''): string {
  const escaped = key.replaceAll(
    /[%{}\p{Surrogate}]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Redis Cluster ignores an empty hash tag. No other key is escaped to a single percent sign.
  return `${prefix}{${escaped || '%'}}${part}`;
}

/** The key of a value's name; `undefined` for the name of a lease, a slot, or anything else. */
function keyOf(prefix: string, name: string): string | undefined {
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
async function* scan(
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
    cursor = bytes(next).toString() || '0';
    yield Array.isArray(names) ? names.map((name) => bytes(name).toString()) : [];
  } while (cursor !== '0');
}

/** Reads a value with its expiry; `undefined` when there is none of ours. */
async function readEntry(send: SendCommand, prefix: string, name: string): Promise<StoreEntry | undefined> {
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
function bytes(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  return Buffer.from(typeof reply === 'string' ? reply : '');
}
