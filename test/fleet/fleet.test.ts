import { describeFleetOnLmdb, describeFleetOnSqlite } from './behaviour.ts';

/** `fleet.thorough.test.ts` has more origins, and Redis. */
describeFleetOnLmdb(60);
describeFleetOnSqlite(60);
