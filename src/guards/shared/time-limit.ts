import { onAbort, setBackgroundTimeout } from '../../core/base/index.ts';

/** The time of one request, from its start until {@link end}. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #unlisten: (() => void) | undefined;

  /**
   * @param given Aborts the request, too.
   * @param onTimeout Called when the time is over, before the request is aborted.
   */
  constructor(timeoutMs: number, given: AbortSignal | undefined, onTimeout: (error: DOMException) => void) {
    this.#timer = setBackgroundTimeout(() => {
      // As that of `AbortSignal.timeout`.
      const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
      onTimeout(error);
      this.#controller.abort(error);
    }, timeoutMs);
    if (given === undefined) return;
    const follow = (): void => this.#controller.abort(given.reason);
    if (given.aborted) follow();
    else this.#unlisten = onAbort(given, follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#unlisten?.();
  }
}

export function isTimeout(error: unknown): boolean {
  return Reflect.get(Object(error), 'name') === 'TimeoutError';
}
