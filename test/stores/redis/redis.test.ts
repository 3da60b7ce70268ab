import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { slotKey } from '../../../src/core/store/record-codec.ts';
import { type RedisStore, redisStore } from '../../../src/stores/redis/redis.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/client.ts';
import { describeWith } from '../../support/installed.ts';
import { redisClients } from '../../support/redis-clients.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { elapseOnServer } from './redis-time.ts';
import { storeContract } from '../store-contract.ts';

describeWith('redis-server')('Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });

  afterAll(() => server?.stop());

  beforeEach(() => server.command('FLUSHALL'));

  for (const [name, connect] of Object.entries(redisClients)) {
    storeContract(name, async () => {
      const { connection, close } = await connect(server.url);
      return { store: redisStore(connection), elapse: elapseOnServer(server), close };
    });

    it(`leaves a connection as it is: ${name}`, async () => {
      const { connection, listeners, close } = await connect(server.url);
      const before = listeners();
      const store = redisStore(connection);
      await store.set('k', 'value', { ttlMs: DAY });
      const lease = await store.lease('k', HOUR);
      await lease?.release();
      await store.reserve('k', HOUR);
      expect(await store.get('k')).toBe('value');
      expect(listeners()).toEqual(before);
      await close();
    });
  }

  describe('on the server', () => {
    let connection: Redis;
    let store: RedisStore;

    beforeEach(() => {
      connection = new Redis(server.url);
      store = redisStore(connection);
    });

    afterEach(() => connection.quit());

    /** Milliseconds until the server forgets a key. */
    const ttl = async (name: string): Promise<number> => Number(await server.command('PTTL', name));

    it('every key has a TTL', async () => {
      await store.set('k', 'value', { ttlMs: 30 * DAY });
      await store.lease('k', 12 * SECOND);
      await store.reserve('k', SECOND);
      const names = (await server.command('KEYS', '*')) as string[];
      expect(names.sort()).toEqual(['canfetch:{k}', 'canfetch:{k}:lease', 'canfetch:{k}:slot']);
      const ends = {
        'canfetch:{k}': 30 * DAY,
        'canfetch:{k}:lease': 12 * SECOND,
        'canfetch:{k}:slot': 5 * MINUTE,
      };
      for (const [name, end] of Object.entries(ends)) {
        expect(await ttl(name)).toBeLessThanOrEqual(end);
        expect(await ttl(name)).toBeGreaterThan(end - 10 * SECOND);
      }
    });

    it('values over a connection with `keyPrefix` are not listed nor cleared, with an error', async () => {
      const prefixed = new Redis(server.url, { keyPrefix: 'crawl:' });
      const other = redisStore(prefixed);
      await other.set('k', 'value', { ttlMs: DAY });
      expect(await other.get('k')).toBe('value');
      const refused = { code: 'ERR_ROBOTS_INVALID_OPTIONS', message: expect.stringContaining('`keyPrefix`') };
      await expect(other.clear()).rejects.toMatchObject(refused);
      await expect(other.entries()[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
      await prefixed.quit();
    });

    it('a slot is remembered for its delay beyond its time, five minutes at least', async () => {
      await store.reserve('k', HOUR);
      await store.reserve('k', HOUR);
      expect(await ttl('canfetch:{k}:slot')).toBeGreaterThan(2 * HOUR - 10 * SECOND);
      expect(await ttl('canfetch:{k}:slot')).toBeLessThanOrEqual(2 * HOUR);
    });

    it('keys begin with the prefix, and stores with different ones share nothing', async () => {
      const other = redisStore(connection, { prefix: 'crawl-7/' });
      await store.set('k', 'value', { ttlMs: DAY });
      await store.lease('k', HOUR);
      await store.reserve('k', HOUR);
      expect(await other.get('k')).toBeUndefined();
      expect(await other.lease('k', HOUR)).toBeDefined();
      expect((await other.reserve('k', HOUR)).waitMs).toBe(0);
      expect(await server.command('KEYS', 'crawl-7/*')).toHaveLength(2);
    });

    it('junk in the place of a value or a lease keeps neither out for long', async () => {
      for (const junk of ['r', 'r99', 'r9999999999999999', `r${'0'.repeat(16)}`]) {
        await server.command('SET', 'canfetch:{k}', junk);
        await store.set('k', 'value', { ttlMs: DAY, recordedAt: Date.now() });
        expect(await store.get('k')).toBe('value');
      }
      for (const junk of ['junk', 'x'.repeat(36)]) {
        await server.command('SET', 'canfetch:{k}:lease', junk);
        await expect(store.lease('k', HOUR)).rejects.toThrow('expected a lease of canfetch');
      }
    });

    it('goes by the clock of the server alone', async () => {
      await store.lease('k', HOUR);
      await store.reserve('k', MINUTE);
      for (const year of [1999, 2099]) {
        const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(year, 0));
        try {
          expect(await store.lease('k', HOUR)).toBeUndefined();
          expect(Math.ceil((await store.reserve('k', MINUTE)).waitMs / MINUTE)).toBe(year === 1999 ? 1 : 2);
        } finally {
          clock.mockRestore();
        }
      }
    });

    it('a lease granted to a command that was sent twice is held', async () => {
      const callBuffer: Redis['callBuffer'] = connection.callBuffer.bind(connection);
      const flaky = redisStore({
        async callBuffer(command, ...args) {
          // The first reply is lost.
          if (command.startsWith('EVAL')) await callBuffer(command, ...args);
          return callBuffer(command, ...args);
        },
      });
      await flaky.lease('warm', HOUR).catch(() => undefined);
      const lease = await flaky.lease('k', HOUR);
      expect(lease).toBeDefined();
      expect(await store.lease('k', HOUR)).toBeUndefined();
    });

    it('scripts are loaded once, and again on a server that has lost them', async () => {
      const evals = async (): Promise<string | undefined> =>
        /cmdstat_eval:calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats')))?.[1];
      await server.command('SCRIPT', 'FLUSH');
      await server.command('CONFIG', 'RESETSTAT');
      for (let count = 0; count < 5; count++) await store.reserve('k', SECOND);
      expect(await evals()).toBe('1');
      await server.command('SCRIPT', 'FLUSH');
      expect((await store.reserve('k', SECOND)).waitMs).toBeGreaterThan(4 * SECOND);
      expect(await evals()).toBe('2');
    });

    it('compresses a long file to a tenth, and stores a short one as text', async () => {
      await store.set('short', '{"body":"User-agent: *\\nDisallow:"}', { ttlMs: DAY });
      expect(await server.command('GET', 'canfetch:{short}')).toBe('t{"body":"User-agent: *\\nDisallow:"}');
      await store.set('long', 'Disallow: /private/*.html$\n'.repeat(1_000), { ttlMs: DAY });
      expect(await server.command('STRLEN', 'canfetch:{long}')).toBeLessThan(2_700);
    });

    it('finds no record in a foreign value', async () => {
      const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
      const bomb = Buffer.concat([Buffer.from('T'), brotliCompressSync(Buffer.alloc(2 ** 26), quickly)]);
      const poison = ['', 'value', '{"allowed":true}', Buffer.from([0xff, 0xfe]), randomBytes(100_000), bomb];
      for (const bytes of poison) {
        await connection.set('canfetch:{k}', bytes);
        expect(await store.get('k')).toBeUndefined();
      }
    });

    it('fetches no more of a value than the size of the largest record', async () => {
      await connection.set('canfetch:{k}', Buffer.alloc(64 * 1024 * 1024, 't'));
      await server.command('CONFIG', 'RESETSTAT');
      expect(await store.get('k')).toBeUndefined();
      const sent = /total_net_output_bytes:(\d+)/.exec(String(await server.command('INFO', 'stats')))?.[1];
      expect(Number(sent)).toBeGreaterThan(4 * 1024 * 1024);
      expect(Number(sent)).toBeLessThan(5 * 1024 * 1024);
    });

    it.each(['', ' and what a later version adds'])(
      'reads and writes the schedule of version 1, with %j behind it',
      async (more) => {
        const [seconds] = (await server.command('TIME')) as string[];
        const inMicros = (ms: number): number => (Number(seconds) * SECOND + ms) * 1_000;
        // The end of the last slot, that of the pause, when they were written, the delay, and the cause of the pause.
        const fields = [inMicros(HOUR), inMicros(MINUTE), inMicros(0), MINUTE * 1_000, `back-off${more}`];
        await connection.set('canfetch:{slot:v1:a.example}:slot', fields.join(' '));
        expect(await store.pause(slotKey('a.example'), 0)).toMatchObject({ cause: 'back-off' });
        const { waitMs, pauseMs, cause } = await store.reserve(slotKey('a.example'), 0);
        expect([Math.ceil(waitMs / MINUTE), Math.ceil(pauseMs / MINUTE), cause]).toEqual([61, 1, 'back-off']);
        expect(await connection.get('canfetch:{slot:v1:a.example}:slot')).toMatch(
          /^\d{16} \d{16} \d{16} 0 back-off$/,
        );
      },
    );

    it('books the first slot where the stored one is invalid', async () => {
      await connection.set('canfetch:{k}:slot', 'tomorrow');
      expect((await store.reserve('k', HOUR)).waitMs).toBe(0);
      expect(Math.ceil((await store.reserve('k', HOUR)).waitMs / HOUR)).toBe(1);
    });
  });

  describe('a server in trouble', () => {
    let troubled: RedisServer;
    let connection: Redis;
    let store: RedisStore;

    beforeEach(async () => {
      troubled = await startRedis();
      connection = new Redis(troubled.url, { retryStrategy: () => 1 });
      connection.on('error', () => undefined);
      store = redisStore(connection);
      await store.set('k', 'value', { ttlMs: DAY });
    });

    afterEach(async () => {
      connection.disconnect();
      await troubled.stop();
    });

    it('that is out of memory rejects writes with its error', async () => {
      await troubled.fill();
      await expect(store.set('other', 'value', { ttlMs: DAY })).rejects.toThrow('OOM');
      await expect(store.lease('k', HOUR)).rejects.toThrow('OOM');
      await expect(store.reserve('k', HOUR)).rejects.toThrow('OOM');
      expect(await store.get('k')).toBe('value');
    });

    it('that has become a replica rejects writes with its error', async () => {
      await troubled.makeReplica();
      await expect(store.set('k', 'other', { ttlMs: DAY })).rejects.toThrow('READONLY');
      await expect(store.lease('k', HOUR)).rejects.toThrow('READONLY');
      await expect(store.reserve('k', HOUR)).rejects.toThrow('READONLY');
      expect(await store.get('k')).toBe('value');
    });

    it('that was away books no slot for those who have left meanwhile', async () => {
      const options = { deadlineMs: 50 };
      await store.reserve('k', HOUR);
      troubled.pause();
      const booked = Array.from({ length: 5 }, () =>
        store.reserve('k', HOUR, options).catch(() => 'too late'),
      );
      await sleep(100);
      troubled.resume();
      expect(await Promise.all(booked)).toEqual(booked.map(() => 'too late'));
      expect(Math.ceil((await store.reserve('k', HOUR)).waitMs / HOUR)).toBe(1);
    });
  });
});

describe('an invalid Redis store', () => {
  const connection = { callBuffer: async () => null };

  it.each(['', '{', 'a}', 'a b', 'ä', 'a\n', 'x'.repeat(129), 7])('the prefix %j', (prefix) => {
    // @ts-expect-error: a number is none
    expect(() => redisStore(connection, { prefix })).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
  });

  it('a connection of node-redis 4, which returns text', () => {
    const connection = { sendCommand: () => Promise.resolve(), disconnect: () => undefined };
    expect(() => redisStore(connection)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining(
          'Expected a connection of node-redis 5 or later, of ioredis 4 or later',
        ),
      }),
    );
  });

  it('the connection of another library', () => {
    for (const other of [undefined, null, 'redis://localhost', {}, { get: () => undefined }]) {
      // @ts-expect-error: none of them is one
      expect(() => redisStore(other)).toThrow(
        'Expected a connection of node-redis (`sendCommand`), ioredis or iovalkey (`callBuffer`), got neither',
      );
    }
  });

  it('an unknown option', () => {
    // @ts-expect-error: it is none
    expect(() => redisStore(connection, { ttl: 5 })).toThrow('Expected only known options, got `ttl`');
  });
});
