import { builtin } from '../../core/base/index.ts';

/** A request of a guard that is sent by undici's `fetch`, Node's included. */
interface FetchedRequest {
  readonly url: string | URL;
  onArrived(error?: unknown): void;
}

/** A request in the messages of undici. */
interface UndiciRequest {
  readonly origin: string | URL;
  readonly path: string;
}

const requests = new WeakMap<object, FetchedRequest>();
/** The request whose `fetch` is being called. undici makes its own request of it meanwhile. */
let sending: FetchedRequest | undefined;
let isSubscribed = false;

const requestOf = (message: unknown): UndiciRequest =>
  (message as { readonly request: UndiciRequest }).request;

function onCreate(message: unknown): void {
  const request = requestOf(message);
  // A pool with few connections makes a request while another is sent.
  if (sending !== undefined && isOf(sending.url, request)) requests.set(request, sending);
}

function isOf(url: string | URL, { origin, path }: UndiciRequest): boolean {
  const start = String(origin);
  // Most URLs are serialised as they are given: parsing them again would take a tenth of the time that pacing takes.
  if (typeof url === 'string' && url.startsWith(start) && url.startsWith(path, start.length)) return true;
  return new URL(url).href.startsWith(start + path);
}

function onEnd(message: unknown): void {
  requests.get(requestOf(message))?.onArrived(Reflect.get(Object(message), 'error'));
}

/** By client and guard: takes the request that is in flight while the running code handles its response. */
const handled = new WeakMap<object, Map<object, () => unknown>>();

export function handledRequestsOf(client: object): Map<object, () => unknown> {
  const known = handled.get(client) ?? new Map<object, () => unknown>();
  handled.set(client, known);
  return known;
}

/** The request whose `fetch` is being called, and has not returned yet. */
export function requestBeingSent(): unknown {
  return sending;
}

/**
 * Sends `request`, and says when its body has arrived: a short body that is not read holds up no other request. Where the
 * `fetch` is not undici's, only the reading of the body shows that.
 */
export function sendUntilArrived<Value>(request: FetchedRequest, send: () => Value): Value {
  if (!isSubscribed) {
    isSubscribed = true;
    const channels = builtin('node:diagnostics_channel');
    channels?.subscribe('undici:request:create', onCreate);
    // The body has arrived whole, also where it is not read.
    channels?.subscribe('undici:request:trailers', onEnd);
    channels?.subscribe('undici:request:error', onEnd);
  }
  const outer = sending;
  sending = request;
  try {
    return send();
  } finally {
    sending = outer;
  }
}
