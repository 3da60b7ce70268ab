import { describeFleetOnLmdb, describeFleetOnRedis, describeFleetOnSqlite } from './behaviour.ts';

const ORIGINS = 2_000;

describeFleetOnLmdb(ORIGINS);
describeFleetOnSqlite(ORIGINS);
describeFleetOnRedis(ORIGINS, 'ioredis');
describeFleetOnRedis(ORIGINS, 'node-redis');
