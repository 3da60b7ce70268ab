import { setMaxListeners } from 'node:events';
import type { Session } from '../../answers/session.ts';

/**
 * Runs `work` with a signal that aborts on Ctrl-C and when the work has ended. With `readsStdin`, standard input is
 * destroyed at the same time, even if it has not ended, so that it does not keep the process alive.
 */
export async function interruptible<Result>(
  session: Session,
  { readsStdin }: { readonly readsStdin: boolean },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  // Every URL in progress listens to the signal, so many listeners are not a leak.
  setMaxListeners(0, controller.signal);
  const interrupt = (): void => controller.abort(session.signal.reason);
  session.signal.addEventListener('abort', interrupt, { once: true });
  if (session.signal.aborted) interrupt();
  if (readsStdin) destroyStdinOn(controller.signal, session);
  try {
    const result = await work(controller.signal);
    controller.signal.throwIfAborted();
    return result;
  } finally {
    session.signal.removeEventListener('abort', interrupt);
    controller.abort();
  }
}

/** Destroys standard input when `signal` aborts. */
function destroyStdinOn(signal: AbortSignal, { stdin }: Session): void {
  const end = (): void => void stdin.destroy();
  stdin.on('error', () => undefined);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
}

/** Resolves when `signal` aborts, which Ctrl-C does, and on SIGTERM. */
export function waitForShutdown({ onSignal }: Session, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const shutDown = (): void => {
      // A second SIGTERM ends the process.
      removeListener?.();
      resolve();
    };
    const removeListener = onSignal?.('SIGTERM', shutDown);
    if (signal.aborted) shutDown();
    else signal.addEventListener('abort', shutDown, { once: true });
  });
}
