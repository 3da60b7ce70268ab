/** What undici takes for a signal: an AbortSignal, or an emitter of `abort` as Node had before. */
export type AbortSource = AbortSignal | AbortEmitter;

interface AbortEmitter {
  on(event: 'abort', listener: () => void): unknown;
  removeListener(event: 'abort', listener: () => void): unknown;
}

interface ListenedSignal {
  readonly signal: AbortSignal | undefined;
  readonly release: () => void;
}

const nothing = (): void => undefined;
const NO_SIGNAL: ListenedSignal = { signal: undefined, release: nothing };

/** `source` as an AbortSignal; `release` ends the listening. */
export function signalOf(source: AbortSource | null | undefined): ListenedSignal {
  if (source === undefined || source === null) return NO_SIGNAL;
  if ('addEventListener' in source) return { signal: source, release: nothing };
  const controller = new AbortController();
  const listener = (): void => controller.abort();
  source.on('abort', listener);
  return { signal: controller.signal, release: () => source.removeListener('abort', listener) };
}

/** The controller of a request that never was: handlers may look at it, and abort what has ended already. */
export function abortedController(error: unknown): object {
  return {
    aborted: true,
    paused: false,
    reason: error,
    rawHeaders: null,
    rawTrailers: null,
    abort: nothing,
    pause: nothing,
    resume: nothing,
  };
}
