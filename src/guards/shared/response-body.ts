import { ignore } from '../../core/base/index.ts';

/** A request whose body is observed. */
export interface BodyObserver {
  onBodyRead(): void;
  finish(): void;
  /** It broke off. */
  fail(error: unknown): void;
}

/** The part of a Node stream that is observed. */
export interface NodeStream {
  readonly destroyed?: boolean;
  emit(event: string | symbol, ...values: unknown[]): boolean;
  push?(chunk: unknown, encoding?: string): boolean;
}

/**
 * Observes a body until its last byte has come, or it has failed. By its methods: a listener for `data` would start the stream,
 * and no event reports the end of an unread body.
 */
export function observeNodeStream(stream: NodeStream, observer: BodyObserver): void {
  // The request may have been aborted when its header came.
  if (stream.destroyed === true) {
    observer.finish();
    return;
  }
  const { emit, push } = stream;
  stream.emit = function observedEmit(event, ...values) {
    if (event === 'data') observer.onBodyRead();
    else if (event === 'error') observer.fail(values[0]);
    else if (event === 'end' || event === 'close') observer.finish();
    return Reflect.apply(emit, this, [event, ...values]);
  };
  if (push === undefined) return;
  stream.push = function observedPush(chunk, encoding) {
    if (chunk === null) observer.finish();
    return Reflect.apply(push, this, [chunk, encoding]);
  };
}

export function isWebStream(body: unknown): body is ReadableStream<unknown> {
  return 'getReader' in Object(body);
}

export function isNodeStream(body: unknown): body is NodeStream & { destroy(): unknown } {
  return typeof body === 'object' && body !== null && 'emit' in body && 'destroy' in body;
}

/** Frees the connection of a response that will not be read, of `fetch`, undici or axios. Not awaited: nothing depends on it. */
export function dropBody(response: unknown): void {
  const { body, data }: { body?: unknown; data?: unknown } = Object(response);
  for (const stream of [body, data]) {
    const { dump, cancel, destroy, locked }: Droppable = Object(stream);
    // `destroy` of undici's bodies emits an error.
    if (dump !== undefined) Reflect.apply(dump, stream, []).catch(ignore);
    else if (cancel !== undefined && locked !== true) Reflect.apply(cancel, stream, []).catch(ignore);
    else if (destroy !== undefined) Reflect.apply(destroy, stream, []);
  }
}

interface Droppable {
  readonly dump?: () => Promise<unknown>;
  readonly cancel?: () => Promise<unknown>;
  readonly destroy?: () => unknown;
  readonly locked?: boolean;
}
