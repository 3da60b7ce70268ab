import { textOf } from './errors.ts';

/** What this process was warned of. */
export const warned: Set<string> = new Set();

/** Warns the process, or the console of a platform without `process.emitWarning`. */
export function emitWarning(message: string, code: string, detail?: string): void {
  const { process }: { process?: { emitWarning?(message: string, options: object): void } } = globalThis;
  if (process?.emitWarning === undefined) console.warn(`${message} (${code})`);
  else process.emitWarning(message, { type: 'RobotsWarning', code, detail });
}

/** {@link emitWarning}, once in a process for each code. */
export function warnOnce(message: string, code: string): void {
  if (warned.has(code)) return;
  warned.add(code);
  emitWarning(message, code);
}

/**
 * Calls a function of the user that only listens, such as `onStoreEvent`. If it throws, or returns a promise that
 * rejects, that is no failure of ours: the process is warned once per name, with the code `CANFETCH_LISTENER_FAILED`.
 *
 * @param name The option or event that the function listens to.
 */
export function invokeListener<Values extends readonly unknown[]>(
  name: string,
  listener: (...values: Values) => unknown,
  ...values: Values
): void {
  try {
    const returned = listener(...values);
    if (typeof returned !== 'object' || returned === null || !('then' in returned)) return;
    Promise.resolve(returned).catch((error: unknown) => warnOfListener(name, error));
  } catch (error) {
    warnOfListener(name, error);
  }
}

function warnOfListener(name: string, error: unknown): void {
  if (warned.has(name)) return;
  warned.add(name);
  emitWarning(
    `\`${name}\` failed: ${textOf(error)}. No decision depends on it; its further failures are not reported`,
    'CANFETCH_LISTENER_FAILED',
    error instanceof Error ? textOf(error.stack) : undefined,
  );
}
