const tasks: (() => unknown)[] = [];

/**
 * Runs a task after each test, whichever file it is of. Modules beside the tests are loaded once for all files of a
 * worker: a hook of vitest in one of them would be of the first file alone.
 */
export function afterEachTest(task: () => unknown): void {
  tasks.push(task);
}

export async function runTasks(): Promise<void> {
  for (const task of tasks) await task();
}
