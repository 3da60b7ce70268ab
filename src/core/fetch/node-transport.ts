import { abortSignalOf, ignore } from '../base/index.ts';
import { ACCEPT_ENCODING, decode } from './decode.ts';
import { type ResponseHeaders, sendOnceMore, type Transport, type TransportResponse } from './transport.ts';
import type { Readable } from 'node:stream';

/** The response of a library over Node's HTTP, with the content codings as they were sent. */
export interface NodeAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Readable;
  /** The connection, if the library shows it. */
  readonly socket?: unknown;
}

/** Sends requests by a library over Node's HTTP. */
export function nodeTransport(
  send: (
    url: URL,
    init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ) => Promise<NodeAnswer>,
): Transport {
  return {
    acceptEncoding: ACCEPT_ENCODING,
    async request(url, { headers, signal }) {
      const init = { headers, signal: abortSignalOf(signal) };
      const { status, headers: fields, body, socket } = await sendOnceMore(() => send(url, init), signal);
      return nodeResponse(status, fields, body, signsOfProxy(url, socket));
    },
  };
}

/**
 * What a connection shows of proxies. Agents that get no tunnel from a proxy, such as https-proxy-agent, give Node the
 * proxy's refusal by a socket that was never connected, as if it were the site's: a 403 would allow everything.
 */
function signsOfProxy(
  { protocol }: URL,
  socket: unknown,
): Pick<TransportResponse, 'mayBeFromProxy' | 'isFromProxy'> {
  const { encrypted, bytesRead }: { encrypted?: unknown; bytesRead?: unknown } = Object(socket);
  const isShown = typeof socket === 'object' && socket !== null;
  const mayBeFromProxy = protocol === 'http:' || (isShown && encrypted !== true);
  return { mayBeFromProxy, isFromProxy: mayBeFromProxy && protocol === 'https:' && bytesRead === 0 };
}

/** The response of a transport whose body is a stream of Node. */
export function nodeResponse(
  status: number,
  headers: ResponseHeaders,
  body: Readable,
  known: Pick<TransportResponse, 'isPublic' | 'mayBeFromProxy' | 'isFromProxy'>,
): TransportResponse {
  // A body destroyed by its reader emits an error. Without a listener it would end the process.
  body.on('error', ignore);
  return { status, headers, body, decode, discard: () => drain(body), ...known };
}

/** A discarded body of up to this size is read to its end, so that its connection can be reused. */
const DRAIN_BYTES = 16_384;

/** The time that a discarded body may take to drain. */
const DRAIN_MS = 1_000;

function drain(body: Readable): void {
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > DRAIN_BYTES) body.destroy();
  });
}

/** Fields whose repeated lines are joined: list fields, and two that must not be repeated. */
const JOINED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-encoding',
  'transfer-encoding',
  'content-range',
  'proxy-status',
  'retry-after',
]);

/** The header fields of undici and Node, which has joined repeated lines of most fields already. */
export function nodeHeaders(
  fields: Readonly<Record<string, string | string[] | undefined>>,
): ResponseHeaders {
  return {
    get: (name) => {
      const value = fields[name];
      if (!Array.isArray(value)) return value;
      return JOINED.has(name) ? value.join(', ') : value[0];
    },
  };
}
