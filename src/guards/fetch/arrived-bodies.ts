import { builtin } from '../../core/base/index.ts';

/** A request of a guard that is sent by undici's `fetch`, Node's included. */
interface FetchedRequest {
  readonly url: string | URL;
  onArrived(): void;
}

/** A request in the messages of undici. */
interface UndiciRequest {
  readonly origin: string | URL;
  readonly path: string;
}

const open = () => {
  const AsyncLocalStorage = builtin('node:async_hooks')?.AsyncLocalStorage;
  const channels = builtin('node:diagnostics_channel');
  if (AsyncLocalStorage === undefined || channels === undefined) return undefined;
  const sending = new AsyncLocalStorage<FetchedRequest>();
  const requests = new WeakMap<object, FetchedRequest>();
  const requestOf = (message: unknown): UndiciRequest =>
    (message as { readonly request: UndiciRequest }).request;
  const end = (message: unknown): void => requests.get(requestOf(message))?.onArrived();
  channels.subscribe('undici:request:create', (message) => {
    const request = requestOf(message);
    const sent = sending.getStore();
    // A pool with few connections creates a request in the context of another.
    if (sent !== undefined && new URL(sent.url).href.startsWith(String(request.origin) + request.path))
      requests.set(request, sent);
  });
  // The body has arrived whole, also where it is not read.
  channels.subscribe('undici:request:trailers', end);
  channels.subscribe('undici:request:error', end);
  return sending;
};
let sending: ReturnType<typeof open> | false = false;

/**
 * Sends `request`, and ends it when its body has arrived: a short body that is not read holds up no other request. Where the
 * `fetch` is not undici's, only the reading of the body shows that.
 */
export function sendUntilArrived<Value>(request: FetchedRequest, send: () => Value): Value {
  if (sending === false) sending = open();
  return sending === undefined ? send() : sending.run(request, send);
}
