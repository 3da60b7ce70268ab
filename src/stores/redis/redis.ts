import { randomUUID } from 'node:crypto';
import { assertKnownOptions, quote, invalid, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { CLOCK_SKEW_MS } from '../../core/lifecycle/index.ts';
import { decodeValue, encodeValue, MAX_VALUE_BYTES } from '../../core/store/value-encoding.ts';
import {
  durationMs,
  type PauseCause,
  type RobotsStore,
  type StoreEntry,
  type StoreLease,
  type StorePause,
  SLOT_REMEMBERED_MS,
  type StoreReserveOptions,
  type StoreSlot,
  type StoreSetOptions,
} from '../../core/store/store.ts';
import { commandsOver, type RedisConnection, type SendCommand } from './connection.ts';
import { bookSlot, pauseSlots, releaseLease, setLater, takeLease } from './scripts.ts';

export type { StoreEntry } from '../../core/store/store.ts';
export type {
  CallingConnection,
  NodeRedisClusterConnection,
  NodeRedisConnection,
  NodeRedisReplies,
  NodeRedisSentinelConnection,
  RedisArgument,
  RedisConnection,
} from './connection.ts';
export type {
  PauseCause,
  RobotsStore,
  StoreLease,
  StorePause,
  StoreReserveOptions,
  StoreSetOptions,
  StoreSlot,
} from '../../core/store/store.ts';

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
  lease(key: string, ttlMs: number): Promise<StoreLease | undefined>;
  reserve(key: string, delayMs: number, options?: StoreReserveOptions): Promise<StoreSlot>;
  pause(key: string, pauseMs: number, cause?: PauseCause): Promise<StorePause>;
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

  const clock = new ServerClock();

  return {
    async get(key) {
      const name = nameOf(prefix, key);
      return decodeStored(bytes(await send(name, 'GETRANGE', name, '0', LAST_BYTE)));
    },
    async set(key, value, { ttlMs, recordedAt }) {
      const name = nameOf(prefix, key);
      const ttl = wholeMs(durationMs('ttlMs', ttlMs));
      if (recordedAt === undefined) {
        await send(name, 'SET', name, encodeValue(value), 'PX', ttl);
        return;
      }
      const time = String(Math.max(0, Math.floor(recordedAt)));
      const content = encodeValue(value, `r${time.padStart(TIME_DIGITS, '0')}`);
      await setLater(send, name, content, time, ttl, String(CLOCK_SKEW_MS));
    },
    async delete(key) {
      const name = nameOf(prefix, key);
      await send(name, 'DEL', name);
    },
    async lease(key, ttlMs) {
      const name = nameOf(prefix, key, ':lease');
      const holder = randomUUID();
      const taken = await takeLease(send, name, holder, wholeMs(durationMs('ttlMs', ttlMs)));
      if (Number(String(taken)) !== 1) return undefined;
      return {
        async release() {
          await releaseLease(send, name, holder);
        },
      };
    },
    async reserve(key, delayMs, { minWaitMs = 0, maxWaitMs = MAX_WAIT_MS, deadlineMs } = {}) {
      const reply = await bookSlot(
        send,
        nameOf(prefix, key, ':slot'),
        micros(durationMs('delayMs', delayMs)),
        micros(SLOT_REMEMBERED_MS),
        micros(durationMs('minWaitMs', minWaitMs)),
        micros(Math.min(maxWaitMs, MAX_WAIT_MS)),
        deadlineMs === undefined ? '0' : clock.after(deadlineMs),
      );
      const [waitMs, pauseMs, now, cause]: readonly unknown[] = Object(reply);
      clock.set(Number(String(now)));
      return { waitMs: readWait(waitMs), ...readPause(pauseMs, cause) };
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
    async pause(key, pauseMs, cause = undefined) {
      const name = nameOf(prefix, key, ':slot');
      const pause = durationMs('pauseMs', pauseMs);
      const reply = await pauseSlots(send, name, micros(pause), micros(SLOT_REMEMBERED_MS), cause ?? '');
      const [leftMs, kept]: readonly unknown[] = Object(reply);
      return readPause(leftMs, kept);
    },
  };
}

/**
 * The server's clock as the last reply showed it. Bookings that waited for a lost connection reach the server when their
 * callers have gone, and would each take a slot: so the server refuses them by its own time.
 */
class ServerClock {
  /** Microseconds that the server's clock is ahead of `performance.now()`. */
  #aheadMicros: number | undefined;

  set(now: number): void {
    if (Number.isFinite(now)) this.#aheadMicros = now - performance.now() * 1_000;
  }

  /** The server's time in so many milliseconds; `0` while it is unknown. */
  after(ms: number): string {
    if (this.#aheadMicros === undefined) return '0';
    return String(Math.ceil(this.#aheadMicros + (performance.now() + ms) * 1_000));
  }
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

function readPause(leftMicros: unknown, cause: unknown): StorePause {
  const pauseMs = readWait(leftMicros);
  const kept = bytes(cause).toString();
  return pauseMs > 0 && (kept === 'retry-after' || kept === 'back-off')
    ? { pauseMs, cause: kept }
    : { pauseMs };
}

/** A value with the time of its response begins with `r` and that time, for {@link setLater}. */
const TIME_DIGITS = 16;
const RECORDED = 'r'.charCodeAt(0);

function decodeStored(stored: Buffer): string | undefined {
  return decodeValue(stored[0] === RECORDED ? stored.subarray(1 + TIME_DIGITS) : stored);
}

/** Reads of a value end here, so that an oversized foreign value costs no more than the largest valid one. */
const LAST_BYTE: string = String(1 + TIME_DIGITS + MAX_VALUE_BYTES + 1);

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
  const value = decodeStored(bytes(reply));
  const ttlMs = Number(String(ttl));
  return value === undefined || !(ttlMs > 0) ? undefined : { key, value, expiresAt: Date.now() + ttlMs };
}

/** A client that ignores the type mapping returns text; uncompressed values are still readable then. */
function bytes(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  return Buffer.from(typeof reply === 'string' ? reply : '');
}
