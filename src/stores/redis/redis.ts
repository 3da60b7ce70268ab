import { randomUUID } from 'node:crypto';
import { assertKnownOptions, quote } from '../../core/base/index.ts';
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
import { keyOf, nameOf, readPrefix, scan } from './names.ts';
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

export interface RedisStoreOptions {
  /**
   * Prefix of all keys: up to 128 printable ASCII characters without braces. Fleets that must not share records use
   * different prefixes.
   * @default 'canfetch:'
   */
  readonly prefix?: string;
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
  return new RedisStore(connection, readPrefix(options.prefix));
}

/** A store on a server of Redis or Valkey. {@link redisStore} makes it. */
export class RedisStore implements RobotsStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #send: SendCommand;
  readonly #clock = new ServerClock();

  /** @internal */
  constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#send = commandsOver(connection);
  }

  async get(key: string): Promise<string | undefined> {
    const name = nameOf(this.#prefix, key);
    return decodeStored(bytes(await this.#send(name, 'GETRANGE', name, '0', LAST_BYTE)));
  }

  async set(key: string, value: string, { ttlMs, recordedAt }: StoreSetOptions): Promise<void> {
    const name = nameOf(this.#prefix, key);
    const ttl = wholeMs(durationMs('ttlMs', ttlMs));
    if (recordedAt === undefined) {
      await this.#send(name, 'SET', name, encodeValue(value), 'PX', ttl);
      return;
    }
    const time = String(Math.max(0, Math.floor(recordedAt)));
    const content = encodeValue(value, `r${time.padStart(TIME_DIGITS, '0')}`);
    await setLater(this.#send, name, content, time, ttl, String(CLOCK_SKEW_MS));
  }

  async delete(key: string): Promise<void> {
    const name = nameOf(this.#prefix, key);
    await this.#send(name, 'DEL', name);
  }

  async lease(key: string, ttlMs: number): Promise<StoreLease | undefined> {
    const name = nameOf(this.#prefix, key, ':lease');
    const holder = randomUUID();
    const taken = await takeLease(this.#send, name, holder, wholeMs(durationMs('ttlMs', ttlMs)));
    if (Number(String(taken)) !== 1) return undefined;
    return {
      release: async () => {
        await releaseLease(this.#send, name, holder);
      },
    };
  }

  async reserve(key: string, delayMs: number, options: StoreReserveOptions = {}): Promise<StoreSlot> {
    const { minWaitMs = 0, maxWaitMs = MAX_WAIT_MS, deadlineMs } = options;
    const reply = await bookSlot(
      this.#send,
      nameOf(this.#prefix, key, ':slot'),
      micros(durationMs('delayMs', delayMs)),
      micros(SLOT_REMEMBERED_MS),
      micros(durationMs('minWaitMs', minWaitMs)),
      micros(Math.min(maxWaitMs, MAX_WAIT_MS)),
      deadlineMs === undefined ? '0' : this.#clock.after(deadlineMs),
    );
    const [waitMs, pauseMs, now, cause]: readonly unknown[] = Object(reply);
    this.#clock.set(Number(String(now)));
    return { waitMs: readWait(waitMs), ...readPause(pauseMs, cause) };
  }

  async pause(key: string, pauseMs: number, cause?: PauseCause): Promise<StorePause> {
    const name = nameOf(this.#prefix, key, ':slot');
    const pause = micros(durationMs('pauseMs', pauseMs));
    const reply = await pauseSlots(this.#send, name, pause, micros(SLOT_REMEMBERED_MS), cause ?? '');
    const [leftMs, kept]: readonly unknown[] = Object(reply);
    return readPause(leftMs, kept);
  }

  /**
   * All values of the prefix on the server, a page at a time (`SCAN`). Values written or deleted during the iteration
   * may or may not be included. Not over a Cluster: make a store for each of its masters.
   *
   * @param isWanted Values of other keys are not read, and left out.
   */
  async *entries(isWanted: (key: string) => boolean = () => true): AsyncIterable<StoreEntry> {
    for await (const names of scan(this.#connection, this.#send, this.#prefix)) {
      const wanted = names.filter((name) => isWanted(keyOf(this.#prefix, name) ?? ''));
      const page = await Promise.all(wanted.map((name) => readEntry(this.#send, this.#prefix, name)));
      yield* page.filter((entry) => entry !== undefined);
    }
  }

  /** Deletes all values of the prefix on the server. Leases and slots stay, because other processes rely on them. */
  async clear(): Promise<void> {
    for await (const names of scan(this.#connection, this.#send, this.#prefix)) {
      await Promise.all(names.map((name) => this.#send(name, 'DEL', name)));
    }
  }
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
