import { writeSync } from 'node:fs';
import { inspect } from 'node:util';

/** Transactions that were requested and have not begun. */
let waiting = 0;
/** The uncaught error that ends this process, if any. */
let fatal: { readonly error: unknown } | undefined;
let isPrepared = false;

/**
 * Records that a transaction was requested.
 *
 * `lmdb` begins it in a thread of its own, which then waits for the event loop. `process.exit()` stops the loop and
 * waits for that thread: the process would never end, so a signal ends it.
 *
 * @returns a function to call when the transaction begins, or fails before that. It may be called twice.
 */
export function awaitTransaction(): () => void {
  if (!isPrepared) prepare();
  waiting++;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    waiting--;
  };
}

function prepare(): void {
  isPrepared = true;
  process.on('uncaughtExceptionMonitor', (error) => {
    fatal = { error };
    // If the error is handled, the process continues and gets here.
    queueMicrotask(() => (fatal = undefined));
  });
  process.on('exit', (code) => {
    if (waiting === 0) return;
    // Node would print the error after this.
    if (fatal !== undefined) writeSync(2, `${inspect(fatal.error)}\n`);
    writeSync(
      2,
      `canfetch: the process ends with ${code} while the LMDB store writes. SIGKILL ends it, because lmdb would wait ` +
        'for ever; call `close()` of the store before `process.exit()`\n',
    );
    process.kill(process.pid, 'SIGKILL');
  });
}
