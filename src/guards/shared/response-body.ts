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

/** On a stream: the request whose body it is. A weak map would cost each request several times as much. */
const OBSERVER: unique symbol = Symbol('canfetch.observer');

interface ObservedStream extends ReadableStream<unknown> {
  [OBSERVER]: BodyObserver;
}

/** The ways to read a stream, observed. `text()` of a Response takes a reader, too. */
function observedMethods(plain: ReadableStream<unknown>): object {
  const counted = (stream: ObservedStream): ReadableStream<unknown> => {
    const observer = stream[OBSERVER];
    const counter = new TransformStream({
      transform(chunk, controller) {
        observer.onBodyRead();
        controller.enqueue(chunk);
      },
    });
    return Reflect.apply(plain.pipeThrough, stream, [counter]);
  };
  return {
    getReader(this: ObservedStream, ...args: unknown[]) {
      const reader: { read: AnyRead } = Reflect.apply(plain.getReader, this, args);
      reader.read = observedRead(reader.read.bind(reader), this[OBSERVER]);
      return reader;
    },
    tee(this: ObservedStream) {
      const branches: readonly ReadableStream[] = Reflect.apply(plain.tee, this, []);
      for (const branch of branches) observeReads(branch, this[OBSERVER]);
      return branches;
    },
    pipeTo(this: ObservedStream, ...args: Parameters<ReadableStream['pipeTo']>) {
      return counted(this).pipeTo(...args);
    },
    pipeThrough(this: ObservedStream, ...args: Parameters<ReadableStream['pipeThrough']>) {
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
    Reflect.set(prototype, name, function observedValues(this: ObservedStream, ...args: unknown[]) {
      return observedIterator(Reflect.apply(iterate, this, args), this[OBSERVER]);
    });
  }
  return prototype;
}

/**
 * Reports each chunk that is read. The stream gets another prototype, because methods of its own would cost
 * each paced request several microseconds.
 */
export function observeReads(stream: ReadableStream<unknown>, observer: BodyObserver): void {
  (stream as ObservedStream)[OBSERVER] = observer;
  Object.setPrototypeOf(stream, (observedPrototype ??= makeObservedPrototype()));
}

type AnyRead = (...args: unknown[]) => Promise<{ readonly done?: boolean | undefined }>;

function observedRead(read: AnyRead, observer: BodyObserver): AnyRead {
  return (...args) => {
    const pending = read(...args);
    pending.then(({ done }) => done === true || observer.onBodyRead(), ignore);
    return pending;
  };
}

function observedIterator(iterator: { next: AnyRead }, observer: BodyObserver): { next: AnyRead } {
  iterator.next = observedRead(iterator.next.bind(iterator), observer);
  return iterator;
}

export function isNodeStream(body: unknown): body is NodeStream & { destroy(): unknown } {
  return typeof body === 'object' && body !== null && 'emit' in body && 'destroy' in body;
}
