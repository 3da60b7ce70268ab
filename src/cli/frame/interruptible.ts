import { setMaxListeners } from 'node:events';
import type { Session } from '../../report/index.ts';

/**
 * Runs `work` with a signal that aborts on Ctrl-C and when the work has ended. With `readsStdin`, standard input is
 * destroyed at the same time, even if it has not ended, so that it does not keep the process alive.
 */
export async function interruptible<Result>(
  session: Session,
  { readsStdin }: { readonly readsStdin: boolean },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  // Every URL in progress listens to the signal, so many listeners are not a leak.
  setMaxListeners(0, stop.signal);
  const interrupt = (): void => stop.abort(session.signal.reason);
  session.signal.addEventListener('abort', interrupt, { once: true });
  if (session.signal.aborted) interrupt();
  if (readsStdin) endWith(stop.signal, session);
  try {
    const result = await work(stop.signal);
    stop.signal.throwIfAborted();
    return result;
  } finally {
    session.signal.removeEventListener('abort', interrupt);
    stop.abort();
  }
}

/** Destroys standard input when `signal` aborts. */
function endWith(signal: AbortSignal, { stdin }: Session): void {
  const end = (): void => void stdin.destroy();
  stdin.on('error', () => undefined);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
}
