import { Cluster } from 'ioredis';
import { Cluster as ValkeyCluster } from 'iovalkey';
import { createCluster } from 'redis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { redisStore } from '../../src/cache/redis.ts';
import { describeWith } from '../support/installed.ts';
import { type RedisServer, startRedisCluster } from '../support/redis-server.ts';
import { elapseOnServer } from './redis-time.ts';
import { storeContract } from './store-contract.ts';

/** A cluster refuses scripts and commands whose keys are on several slots (`CROSSSLOT`). */
describeWith('redis-server')('Redis Cluster', () => {
  let node: RedisServer;

  beforeAll(async () => {
    node = await startRedisCluster();
  });

  afterAll(() => node?.stop());

  beforeEach(() => node.command('FLUSHALL'));

  storeContract('ioredis, Cluster', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: node.port }]);
    return {
      store: redisStore(cluster),
      elapse: elapseOnServer(node),
      close: async () => cluster.disconnect(),
    };
  });

  storeContract('iovalkey, Cluster', async () => {
    const cluster = new ValkeyCluster([{ host: '127.0.0.1', port: node.port }]);
    return {
      store: redisStore(cluster),
      elapse: elapseOnServer(node),
      close: async () => cluster.disconnect(),
    };
  });

  storeContract('node-redis, createCluster', async () => {
    const cluster = createCluster({ rootNodes: [{ url: node.url }] });
    await cluster.connect();
    return { store: redisStore(cluster), elapse: elapseOnServer(node), close: () => cluster.close() };
  });
});
