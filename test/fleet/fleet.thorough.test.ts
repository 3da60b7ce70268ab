import { describeFleetOnRedis, describeFleetOnSqlite } from './behaviour.ts';

const ORIGINS = 300;

describeFleetOnSqlite(ORIGINS);
describeFleetOnRedis(ORIGINS, 'ioredis');
// What the two clients differ in needs no crowd.
describeFleetOnRedis(200, 'node-redis');
