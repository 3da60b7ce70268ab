import { ignore } from '../../core/base/index.ts';

/** A request whose body is observed. */
interface BodyObserver {
  onBodyRead(): void;
  finish(): void;
}

/** The part of a Node stream that is observed. */
export interface NodeStream {
  emit(event: string | symbol, ...values: unknown[]): boolean;
  push?(chunk: unknown, encoding?: string): boolean;
}

/**
 * Observes a body until its last byte has come, or it has failed. By its methods: a listener for `data` would start the stream,
 * and no event reports the end of an unread body.
 */
export function watchNodeStream(stream: NodeStream, observer: BodyObserver): void {
  const { emit, push } = stream;
  stream.emit = function observedEmit(event, ...values) {
    if (event === 'data') observer.onBodyRead();
    else if (event === 'end' || event === 'close' || event === 'error') observer.finish();
    return Reflect.apply(emit, this, [event, ...values]);
  };
  if (push === undefined) return;
  stream.push = function observedPush(chunk, encoding) {
    if (chunk === null) observer.finish();
    return Reflect.apply(push, this, [chunk, encoding]);
  };
}

/** What to call for each chunk that is read, by stream. */
const listeners = new WeakMap<object, () => void>();
const listenerOf = (stream: object): (() => void) => listeners.get(stream) ?? ignore;

/** The ways to read a stream, observed. `text()` of a Response takes a reader, too. */
function observedMethods(plain: ReadableStream<unknown>): object {
  const counted = (stream: object): ReadableStream<unknown> => {
    const onRead = listenerOf(stream);
    const counter = new TransformStream({
      transform(chunk, controller) {
        onRead();
        controller.enqueue(chunk);
      },
    });
    return Reflect.apply(plain.pipeThrough, stream, [counter]);
  };
  return {
    getReader(...args: unknown[]) {
      const reader: { read: AnyRead } = Reflect.apply(plain.getReader, this, args);
      reader.read = observedRead(reader.read.bind(reader), listenerOf(this));
      return reader;
    },
    tee() {
      const branches: readonly ReadableStream[] = Reflect.apply(plain.tee, this, []);
      for (const branch of branches) observeReads(branch, listenerOf(this));
      return branches;
    },
    pipeTo(...args: Parameters<ReadableStream['pipeTo']>) {
      return counted(this).pipeTo(...args);
    },
    pipeThrough(...args: Parameters<ReadableStream['pipeThrough']>) {
      return counted(this).pipeThrough(...args);
    },
  };
}

let observedPrototype: object | undefined;

function makeObservedPrototype(): object {
  const plain = ReadableStream.prototype;
  const prototype: object = Object.create(plain, Object.getOwnPropertyDescriptors(observedMethods(plain)));
  for (const name of ['values', Symbol.asyncIterator] as const) {
    const iterate: unknown = Reflect.get(plain, name);
    // Not every platform iterates streams.
    if (typeof iterate !== 'function') continue;
    Reflect.set(prototype, name, function observedValues(this: object, ...args: unknown[]) {
      return observedIterator(Reflect.apply(iterate, this, args), listenerOf(this));
    });
  }
  return prototype;
}

/**
 * Calls `onRead` for each chunk that is read. The stream gets another prototype, because methods of its own would cost
 * each paced request several microseconds.
 */
export function observeReads(stream: ReadableStream<unknown>, onRead: () => void): void {
  listeners.set(stream, onRead);
  Object.setPrototypeOf(stream, (observedPrototype ??= makeObservedPrototype()));
}

type AnyRead = (...args: unknown[]) => Promise<{ readonly done?: boolean | undefined }>;

function observedRead(read: AnyRead, onRead: () => void): AnyRead {
  return (...args) => {
    const pending = read(...args);
    pending.then(({ done }) => done === true || onRead(), ignore);
    return pending;
  };
}

function observedIterator(iterator: { next: AnyRead }, onRead: () => void): { next: AnyRead } {
  iterator.next = observedRead(iterator.next.bind(iterator), onRead);
  return iterator;
}

export function isNodeStream(body: unknown): body is NodeStream & { destroy(): unknown } {
  return typeof body === 'object' && body !== null && 'emit' in body && 'destroy' in body;
}
