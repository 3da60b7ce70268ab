import { setMaxListeners } from 'node:events';
import type { Session } from '../../report/index.ts';

/**
 * Does `work` with a signal that aborts with Ctrl-C, and in any case when the work has ended. With `readsStdin`
 * standard input is let go of at the same time, whether it has ended or not.
 */
export async function interruptible<Result>(
  session: Session,
  { readsStdin }: { readonly readsStdin: boolean },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  // Every URL under way listens to it: that many listeners are no leak.
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

/** Lets go of standard input when the work ends before it does. */
function endWith(signal: AbortSignal, { stdin }: Session): void {
  const end = (): void => void stdin.destroy();
  stdin.on('error', () => undefined);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
}
