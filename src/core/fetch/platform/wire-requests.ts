import { builtin, ignore } from '../../base/index.ts';

/** A request that holds a permit, or is recorded, as the HTTP stack below its library sees it. */
export interface WatchedRequest {
  readonly url: string | URL;
  readonly decision: { readonly url: string } | undefined;
  /** Whether its permit has ended although the request has not, or it will not be sent any more. */
  readonly hasExpired: boolean;
  onWireStart(): void;
  onWireHeaders(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  onBodyRead(): void;
  /** The body has ended, or the request has failed. The library may show the header later. */
  onWireEnd(): void;
  finish(): void;
}

/** Where the requests of a library are seen. */
export interface RequestWatch {
  /** Whether the library may drop a request after its start without a word: its permit then lasts 30 s until it is sent. */
  readonly mayBeDropped: boolean;
  /** Watches a started request until it ends. */
  expect(request: WatchedRequest): Expected;
  /** Ends the watch of a request that was not sent. */
  forget(expected: Expected): void;
}

/** A request of Node or undici in the messages of their channels. */
export interface WireRequest {
  readonly path: string;
  [WATCHED]?: WatchedRequest;
}

/** On a request of an HTTP stack: that of the guard. A weak map would cost each request more than the rest of the watch. */
export const WATCHED: unique symbol = Symbol('canfetch.watched');

interface UndiciRequest extends WireRequest {
  readonly origin: string | URL;
}

/** A request that was not sent yet, and an older one for the same URL. */
export interface Expected {
  readonly key: string;
  readonly request: WatchedRequest;
  older: Expected | undefined;
}

/** Beyond it, the oldest URLs are forgotten whose requests have lost their permits: the library has dropped them. */
const MAX_DROPPED_URLS = 100;

/**
 * Finds the requests of guards on the diagnostics channels of an HTTP stack. A message has only the URL of a request, so
 * of two for one URL the newer one is taken to be sent: the older one may have been dropped.
 */
export class WireRequests {
  readonly #expected = new Map<string, Expected>();
  /** The newest one, which most libraries send before the next is expected. To find it takes no key. */
  #latest: Expected | undefined;

  expect(request: WatchedRequest): Expected {
    if (this.#latest !== undefined) this.#keep(this.#latest);
    return (this.#latest = { key: keyOf(request), request, older: undefined });
  }

  #keep(expected: Expected): void {
    let older = this.#expected.get(expected.key);
    while (older?.request.hasExpired === true) older = older.older;
    if (this.#expected.size >= MAX_DROPPED_URLS) this.#forgetDropped();
    expected.older = older;
    this.#expected.set(expected.key, expected);
  }

  /** A request was sent. Returns the guard's request for the same URL. */
  sent(wire: WireRequest, origin: string): WatchedRequest | undefined {
    const expected = this.#find(wire.path, origin);
    if (expected === undefined) return undefined;
    const { request } = expected;
    this.forget(expected);
    wire[WATCHED] = request;
    request.onWireStart();
    return request;
  }

  #find(path: string, origin: string): Expected | undefined {
    // A proxy is sent the whole URL.
    const start = path.startsWith('/') ? origin : '';
    const { key = '' } = this.#latest ?? {};
    if (key.length === start.length + path.length && key.startsWith(start) && key.endsWith(path))
      return this.#latest;
    return this.#expected.size === 0 ? undefined : this.#expected.get(start + path);
  }

  forget(expected: Expected): void {
    if (expected === this.#latest) this.#latest = undefined;
    // Most were sent, and so forgotten, before.
    if (this.#expected.size === 0) return;
    const { key, request, older } = expected;
    let newer = this.#expected.get(key);
    if (newer?.request === request) {
      if (older === undefined) this.#expected.delete(key);
      else this.#expected.set(key, older);
      return;
    }
    while (newer !== undefined && newer.older?.request !== request) newer = newer.older;
    if (newer !== undefined) newer.older = older;
  }

  #forgetDropped(): void {
    for (const [key, { request }] of this.#expected) {
      if (!request.hasExpired) return;
      this.#expected.delete(key);
    }
  }
}

/** Origin, path and query, as an HTTP stack has them. The URL of a decision needs no parsing. */
function keyOf({ url, decision }: WatchedRequest): string {
  const href = decision?.url ?? String(url);
  if (decision !== undefined && !href.includes('@')) {
    const hash = href.indexOf('#');
    return hash < 0 ? href : href.slice(0, hash);
  }
  const { origin, pathname, search } = new URL(href);
  return origin + pathname + search;
}

/** The requests over undici, Node's `fetch` included: an unread response shows no end. */
export const watchUndiciRequests: RequestWatch = {
  mayBeDropped: false,
  expect: (request) => undiciRequests().expect(request),
  forget: (expected) => undiciRequests().forget(expected),
};

const undiciRequests = /* @__PURE__ */ once(() => {
  const requests = new WireRequests();
  const channels = builtin('node:diagnostics_channel');
  const end = (message: unknown): void =>
    (message as { readonly request: UndiciRequest }).request[WATCHED]?.onWireEnd();
  channels?.subscribe('undici:request:create', (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    requests.sent(request, String(request.origin));
  });
  // Published when the body has ended, with trailers or without.
  channels?.subscribe('undici:request:trailers', end);
  channels?.subscribe('undici:request:error', end);
  return requests;
});

/** A value that is made when it is first needed. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

/** A request whose body is observed. */
interface BodyObserver {
  onBodyRead(): void;
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
