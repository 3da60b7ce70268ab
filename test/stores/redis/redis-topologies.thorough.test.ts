import { Cluster } from 'ioredis';
import { Cluster as ValkeyCluster } from 'iovalkey';
import { createCluster, createSentinel, type RedisSentinelType } from 'redis';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { redisStore } from '../../../src/stores/redis/redis.ts';
import { describeWith } from '../../support/installed.ts';
import {
  type RedisServer,
  startRedis,
  startRedisCluster,
  startSentinel,
} from '../../support/redis-server.ts';
import { otherMajor } from '../../support/other-major.ts';
import { redisClientsByOtherSettings } from '../../support/redis-clients.ts';
import { elapseOnServer } from './redis-time.ts';
import { storeContract } from '../store-contract.ts';

// Of CommonJS.
const ioredisFive = await otherMajor<{ default: typeof import('ioredis') }>('ioredis-5');
const redisFive = await otherMajor<{ default: typeof import('redis') }>('redis-5');

/** A cluster refuses scripts and commands whose keys are on several slots (`CROSSSLOT`). */
describeWith('redis-server')('Redis Cluster', () => {
  let node: RedisServer;

  beforeAll(async () => {
    node = await startRedisCluster();
  });

  afterAll(() => node?.stop());

  beforeEach(() => node.command('FLUSHALL'));

  it('keeps all entries of a key in one hash slot, for any key', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: node.port }]);
    const store = redisStore(cluster);
    onTestFinished(() => cluster.disconnect());
    for (const key of ['https://example.com', '{', '}', '{}', 'a}b{c}', '{a}{b}', '', '%', '🔑']) {
      await store.set(key, 'value', { ttlMs: 60_000 });
      await store.lease(key, 60_000);
      await store.reserve(key, 60_000);
      const names = (await node.command('KEYS', '*')) as string[];
      expect(names).toHaveLength(3);
      const slots = await Promise.all(names.map((name) => node.command('CLUSTER', 'KEYSLOT', name)));
      expect(new Set(slots).size).toBe(1);
      await node.command('FLUSHALL');
    }
  });

  for (const [name, Client] of Object.entries({ ioredis: Cluster, iovalkey: ValkeyCluster })) {
    storeContract(`${name}, Cluster`, async () => {
      const cluster = new Client([{ host: '127.0.0.1', port: node.port }]);
      return {
        store: redisStore(cluster),
        elapse: elapseOnServer(node),
        close: async () => cluster.disconnect(),
      };
    });
  }

  storeContract('node-redis, createCluster', async () => {
    const cluster = createCluster({ rootNodes: [{ url: node.url }] });
    await cluster.connect();
    return { store: redisStore(cluster), elapse: elapseOnServer(node), close: () => cluster.close() };
  });
});

describeWith('redis-server')('Redis Sentinel', () => {
  let master: RedisServer;
  let sentinel: RedisServer;
  /** Of all tests: it takes its time to find the master. */
  let watched: RedisSentinelType;

  beforeAll(async () => {
    master = await startRedis();
    sentinel = await startSentinel(master);
    watched = createSentinel({
      name: 'main',
      sentinelRootNodes: [{ host: '127.0.0.1', port: sentinel.port }],
    });
    await watched.connect();
  });

  afterAll(async () => {
    await watched?.close();
    await sentinel?.stop();
    await master?.stop();
  });

  beforeEach(() => master.command('FLUSHALL'));

  storeContract('node-redis, createSentinel', async () => {
    return { store: redisStore(watched), elapse: elapseOnServer(master), close: async () => undefined };
  });
});

describeWith('redis-server')('Redis, over other settings and the major versions before', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });

  afterAll(() => server?.stop());

  beforeEach(() => server.command('FLUSHALL'));

  for (const [name, connect] of Object.entries(redisClientsByOtherSettings))
    storeContract(name, async () => {
      const { connection, close } = await connect(server.url);
      return { store: redisStore(connection), elapse: elapseOnServer(server), close };
    });

  if (ioredisFive !== undefined)
    storeContract('ioredis 5', async () => {
      const connection = new ioredisFive.default.Redis(server.url);
      const close = async (): Promise<void> => void (await connection.quit());
      return { store: redisStore(connection), elapse: elapseOnServer(server), close };
    });

  if (redisFive !== undefined)
    storeContract('node-redis 5', async () => {
      const connection = await redisFive.default.createClient({ url: server.url }).connect();
      return {
        store: redisStore(connection),
        elapse: elapseOnServer(server),
        close: () => connection.close(),
      };
    });
});
