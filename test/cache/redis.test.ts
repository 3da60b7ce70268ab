import { afterAll, beforeAll } from 'vitest';
import { redisStore } from '../../src/cache/redis.ts';
import { describeWith } from '../support/installed.ts';
import { redisClients } from '../support/redis-clients.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { elapseOnServer } from './redis-time.ts';
import { storeContract } from './store-contract.ts';

describeWith('redis-server')('Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });

  afterAll(() => server?.stop());

  for (const [name, connect] of Object.entries(redisClients)) {
    storeContract(name, async () => {
      await server.command('FLUSHALL');
      const { connection, close } = await connect(server.url);
      return { store: redisStore(connection), elapse: elapseOnServer(server), close };
    });
  }
});
