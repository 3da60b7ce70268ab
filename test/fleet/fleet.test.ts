import { describeFleetOnSqlite } from './behaviour.ts';

/** `fleet.thorough.test.ts` has more origins, and Redis. */
describeFleetOnSqlite(60);
