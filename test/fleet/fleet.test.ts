import { describeFleetOnLmdb, describeFleetOnRedis } from './behaviour.ts';

const ORIGINS = 60;

describeFleetOnLmdb(ORIGINS);
describeFleetOnRedis(ORIGINS, 'node-redis');
