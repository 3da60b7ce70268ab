import { describeFleetOnLmdb } from './behaviour.ts';

/** `fleet.thorough.test.ts` has more origins, and Redis. */
describeFleetOnLmdb(60);
