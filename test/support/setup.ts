import { AsyncLocalStorage } from 'node:async_hooks';
import { hasSubscribers } from 'node:diagnostics_channel';
import { afterAll, afterEach, expect } from 'vitest';
import { warned } from '../../src/core/base/errors.ts';
import { countClient } from '../../src/core/client/settings.ts';
import { runTasks } from './after-each-test.ts';

// vitest runs this file again for each file of tests.
afterEach(runTasks);
// With a subscriber `permits` answers nothing, in all files of the worker.
afterAll(() =>
  expect(hasSubscribers('canfetch:decision'), 'the file leaves a report, evidence or spans open').toBe(false),
);

/*
 * The files of a worker share the global dispatcher, and tests set others. undici 8 replaces the platform's by a
 * wrapper of its own as soon as it is loaded, so that `fetch` would connect as undici 8 does in every file
 * after guards/contract.test.ts. Each file begins with the one of the platform.
 */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const PLATFORM_DISPATCHER = Symbol.for('canfetch.test.platformDispatcher');
if (Reflect.get(globalThis, PLATFORM_DISPATCHER) === undefined) {
  // The first call loads the platform's copy, which sets its dispatcher.
  await fetch('data:,');
  Reflect.set(globalThis, PLATFORM_DISPATCHER, Reflect.get(globalThis, GLOBAL_DISPATCHER));
}
Reflect.set(globalThis, GLOBAL_DISPATCHER, Reflect.get(globalThis, PLATFORM_DISPATCHER));

/*
 * Up to Node 22 an `AsyncLocalStorage` that was used once, as the guards of got and Crawlee do, makes every promise of the
 * process slower until it is disabled: a random schedule takes six times as long. Each file begins without.
 */
const USED_STORAGES = Symbol.for('canfetch.test.usedStorages');
const usedStorages: Set<AsyncLocalStorage<unknown>> = Reflect.get(globalThis, USED_STORAGES) ?? new Set();
if (!Reflect.has(globalThis, USED_STORAGES)) {
  Reflect.set(globalThis, USED_STORAGES, usedStorages);
  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function noted(this: AsyncLocalStorage<unknown>, ...given: unknown[]) {
    usedStorages.add(this);
    return Reflect.apply(run, this, given);
  } as typeof run;
}
for (const storage of usedStorages) storage.disable();
usedStorages.clear();

// Each file begins as a new process does, which was warned of nothing.
warned.clear();

// The files of a worker make more clients within a minute than a program does: that is warned of before the first test.
const { emitWarning } = process;
process.emitWarning = () => {};
for (let count = 0; count < 10; count++) countClient('setup');
process.emitWarning = emitWarning;
