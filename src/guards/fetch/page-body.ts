import type { BodyObserver } from '../shared/response-body.ts';

/** On a stream: the request whose body it is. */
const OBSERVER: unique symbol = Symbol('canfetch.observer');

interface ObservedStream extends ReadableStream<unknown> {
  [OBSERVER]: BodyObserver;
}

type AnyRead = (...args: unknown[]) => Promise<{ readonly done?: boolean | undefined }>;

/** Observes a web stream by the ways to read it: each chunk, its end, its failure. `text()` of a Response takes a reader, too. */
export function observeWebStream(stream: ReadableStream<unknown>, observer: BodyObserver): void {
  Object.defineProperties(stream, OBSERVED);
  (stream as ObservedStream)[OBSERVER] = observer;
}

/** Calls the method that an observed one replaces. */
function original(stream: ReadableStream<unknown>, name: string | symbol, args: readonly unknown[]): any {
  const method: unknown = Reflect.get(Object.getPrototypeOf(stream) as object, name);
  return typeof method === 'function' ? Reflect.apply(method, stream, args) : undefined;
}

function observedRead(read: AnyRead, observer: BodyObserver): AnyRead {
  return (...args) => {
    const pending = read(...args);
    pending.then(
      ({ done }) => (done === true ? observer.finish() : observer.onBodyRead()),
      (error: unknown) => observer.fail(error),
    );
    return pending;
  };
}

/** A stream that passes the chunks of another on. */
function counted(stream: ObservedStream): ReadableStream<unknown> {
  const observer = stream[OBSERVER];
  const counter = new TransformStream({
    transform(chunk, controller) {
      observer.onBodyRead();
      controller.enqueue(chunk);
    },
    flush: () => observer.finish(),
  });
  return original(stream, 'pipeThrough', [counter]);
}

function observedValues(name: 'values' | symbol) {
  return function values(this: ObservedStream, ...args: unknown[]): unknown {
    const observer = this[OBSERVER];
    const iterator: { next: AnyRead; return?: AnyRead } = original(this, name, args);
    iterator.next = observedRead(iterator.next.bind(iterator), observer);
    const leave = iterator.return?.bind(iterator);
    if (leave !== undefined)
      iterator.return = (...values) => leave(...values).finally(() => observer.finish());
    return iterator;
  };
}

const METHODS = {
  getReader(this: ObservedStream, ...args: unknown[]): unknown {
    const observer = this[OBSERVER];
    const reader: { read: AnyRead; cancel(reason?: unknown): Promise<void> } = original(
      this,
      'getReader',
      args,
    );
    reader.read = observedRead(reader.read.bind(reader), observer);
    const cancel = reader.cancel.bind(reader);
    reader.cancel = (reason) => {
      observer.finish();
      return cancel(reason);
    };
    return reader;
  },
  cancel(this: ObservedStream, ...args: unknown[]): unknown {
    this[OBSERVER].finish();
    return original(this, 'cancel', args);
  },
  tee(this: ObservedStream): readonly ReadableStream[] {
    const observer = this[OBSERVER];
    const branches: readonly ReadableStream[] = original(this, 'tee', []);
    for (const branch of branches) observeWebStream(branch, observer);
    return branches;
  },
  pipeTo(this: ObservedStream, ...args: unknown[]): Promise<void> {
    const observer = this[OBSERVER];
    const piped: Promise<void> = original(counted(this), 'pipeTo', args);
    piped.then(
      () => observer.finish(),
      (error: unknown) => observer.fail(error),
    );
    return piped;
  },
  pipeThrough(this: ObservedStream, ...args: unknown[]): unknown {
    return original(counted(this), 'pipeThrough', args);
  },
  values: observedValues('values'),
  [Symbol.asyncIterator]: observedValues(Symbol.asyncIterator),
};

const OBSERVED: PropertyDescriptorMap = Object.fromEntries(
  Reflect.ownKeys(METHODS).map((name) => [
    name,
    { value: Reflect.get(METHODS, name), configurable: true, writable: true },
  ]),
);
