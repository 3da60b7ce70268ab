import { describeFleetOnLmdb, describeFleetOnRedis } from './behaviour.ts';

const ORIGINS = 2_000;

describeFleetOnLmdb(ORIGINS);
describeFleetOnRedis(ORIGINS, 'ioredis');
describeFleetOnRedis(ORIGINS, 'node-redis');
