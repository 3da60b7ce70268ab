import { ignore } from '../../core/base/index.ts';
/** A request whose body is observed. */
interface BodyObserver {
  onBodyRead(): void;
  finish(): void;
}

/** The part of a Node stream that is observed. */
interface NodeStream {
  emit(event: string | symbol, ...values: unknown[]): boolean;
  push?(chunk: unknown, encoding?: string): boolean;
}

/**
 * Observes a body until its last byte has come, or it has failed. By its methods: a listener for `data` would start the stream,
 * and no event tells the end of an unread body.
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

/** Calls `onRead` for each chunk that is read, however the stream is read: `text()` of a Response takes a reader, too. */
export function observeReads(stream: ReadableStream<unknown>, onRead: () => void): void {
  const getReader = stream.getReader.bind(stream) as (options?: object) => { read: AnyRead };
  const tee = stream.tee.bind(stream);
  const pipeThrough = stream.pipeThrough.bind(stream);
  const iterate = (Reflect.get(stream, 'values') as unknown as AnyIterate | undefined)?.bind(stream);
  const values = iterate && ((options?: object) => observedIterator(iterate(options), onRead));
  const counted = (): ReadableStream<unknown> =>
    pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          onRead();
          controller.enqueue(chunk);
        },
      }),
    );
  const replaced = {
    getReader: (options?: object) => {
      const reader = getReader(options);
      const read = reader.read.bind(reader);
      reader.read = observedRead(read, onRead);
      return reader;
    },
    tee: () => {
      const branches = tee();
      for (const branch of branches) observeReads(branch, onRead);
      return branches;
    },
    pipeTo: (...args: Parameters<ReadableStream['pipeTo']>) => counted().pipeTo(...args),
    pipeThrough: (...args: Parameters<ReadableStream['pipeThrough']>) => counted().pipeThrough(...args),
    ...(values && { values, [Symbol.asyncIterator]: values }),
  };
  for (const name of Reflect.ownKeys(replaced)) {
    const value: unknown = Reflect.get(replaced, name);
    Object.defineProperty(stream, name, { value, configurable: true, writable: true });
  }
}

type AnyRead = (...args: unknown[]) => Promise<{ readonly done?: boolean | undefined }>;
type AnyIterate = (options?: object) => { next: AnyRead };

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
