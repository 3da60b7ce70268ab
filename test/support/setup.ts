import { afterEach } from 'vitest';
import { runTasks } from './after-each-test.ts';

// vitest runs this file again for each file of tests.
afterEach(runTasks);
