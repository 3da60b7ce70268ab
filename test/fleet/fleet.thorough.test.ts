import { describeFleetOnLmdb, describeFleetOnRedis, describeFleetOnSqlite } from './behaviour.ts';

const ORIGINS = 300;

describeFleetOnLmdb(ORIGINS);
describeFleetOnSqlite(ORIGINS);
describeFleetOnRedis(ORIGINS, 'ioredis');
// What the two clients differ in needs no crowd.
describeFleetOnRedis(200, 'node-redis');
