import { ignore } from '../../core/base/index.ts';
import type { BodyObserver } from '../shared/response-body.ts';

/** On a stream: the request whose body it is. */
const OBSERVER: unique symbol = Symbol('canfetch.observer');

interface ObservedStream extends ReadableStream<unknown> {
  [OBSERVER]: BodyObserver;
}

/** Classes of responses, and whether reading one is seen. */
const seen = new WeakMap<object, boolean>();

/**
 * Whether a response reads its body by the methods of the stream, as `text()` does in Node. Workers and browsers take the
 * bytes past them.
 */
export function showsReading({ constructor: ResponseOf }: object): boolean {
  const known = seen.get(ResponseOf);
  if (known !== undefined) return known;
  let isSeen = false;
  const stream = new ReadableStream({ start: (controller) => controller.close() });
  const getReader = stream.getReader.bind(stream);
  stream.getReader = (...args: []) => {
    isSeen = true;
    return getReader(...args);
  };
  try {
    const response: Response = Reflect.construct(ResponseOf, [stream]);
    response.text().catch(ignore);
  } catch {
    // It is no class of a runtime, which may have a way of its own.
    isSeen = true;
  }
  seen.set(ResponseOf, isSeen);
  return isSeen;
}

type Read = (...args: unknown[]) => Promise<{ readonly done?: boolean | undefined }>;

/**
 * Observes a web stream by its readers: each chunk, its end, its failure. `text()` of a Response takes one, too; the other
 * ways to read it do so here.
 */
export function observeWebStream(stream: ReadableStream<unknown>, observer: BodyObserver): void {
  if (!(OBSERVER in stream)) Object.setPrototypeOf(stream, observedMethods(Object.getPrototypeOf(stream)));
  (stream as ObservedStream)[OBSERVER] = observer;
}

/** By the class of the stream. Methods of the stream itself would cost ten times as much. */
const observed = new WeakMap<object, object>();

function observedMethods(native: object): object {
  const methods: object = observed.get(native) ?? Object.create(native, OBSERVED);
  observed.set(native, methods);
  return methods;
}

/** The methods that observed ones replace. */
const native = (stream: object): ReadableStream<unknown> =>
  Object.getPrototypeOf(Object.getPrototypeOf(stream));

/** A stream of what a reader gives, which is observed. */
function passedOn(stream: ReadableStream<unknown>): ReadableStream<unknown> {
  const reader = stream.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

async function* values(
  this: ReadableStream<unknown>,
  { preventCancel }: { readonly preventCancel?: boolean } = {},
): AsyncGenerator<unknown> {
  const reader = this.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    if (preventCancel !== true) await reader.cancel();
    reader.releaseLock();
  }
}

const METHODS = {
  getReader(this: ObservedStream, ...args: unknown[]): unknown {
    const observer = this[OBSERVER];
    const reader: { read: Read; cancel(reason?: unknown): Promise<void> } = Reflect.apply(
      native(this).getReader,
      this,
      args,
    );
    const { read, cancel } = reader;
    reader.read = (...into) => {
      const pending = Reflect.apply(read, reader, into);
      pending.then(
        ({ done }) => (done === true ? observer.finish() : observer.onBodyRead()),
        (error: unknown) => observer.fail(error),
      );
      return pending;
    };
    reader.cancel = (reason) => {
      observer.finish();
      return Reflect.apply(cancel, reader, [reason]);
    };
    return reader;
  },
  cancel(this: ObservedStream, reason: unknown): Promise<void> {
    this[OBSERVER].finish();
    return Reflect.apply(native(this).cancel, this, [reason]);
  },
  tee(this: ObservedStream): readonly ReadableStream[] {
    const branches: readonly ReadableStream[] = Reflect.apply(native(this).tee, this, []);
    for (const branch of branches) observeWebStream(branch, this[OBSERVER]);
    return branches;
  },
  pipeTo(this: ObservedStream, ...args: Parameters<ReadableStream['pipeTo']>): Promise<void> {
    return passedOn(this).pipeTo(...args);
  },
  pipeThrough(this: ObservedStream, ...args: Parameters<ReadableStream['pipeThrough']>): unknown {
    return passedOn(this).pipeThrough(...args);
  },
  values,
  [Symbol.asyncIterator]: values,
};

const OBSERVED: PropertyDescriptorMap = Object.fromEntries(
  Reflect.ownKeys(METHODS).map((name) => [
    name,
    { value: Reflect.get(METHODS, name), configurable: true, writable: true },
  ]),
);
