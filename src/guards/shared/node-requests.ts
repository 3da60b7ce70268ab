import { builtin } from '../../core/base/index.ts';
import {
  once,
  type RequestWatch,
  WATCHED,
  type WatchedRequest,
  type WireRequest,
  WireRequests,
} from '../../core/fetch/platform/wire-requests.ts';
import { type NodeStream, watchNodeStream } from './response-body.ts';
import type { NodeHeaders } from './headers.ts';

/** A request of `node:http`, or of a library with the same events. */
interface ClientRequest {
  once(event: 'close', listener: () => void): unknown;
  once(event: 'response', listener: (response: ClientResponse) => void): unknown;
}

interface ClientResponse extends NodeStream {
  readonly statusCode: number;
  readonly headers: NodeHeaders;
}

interface NodeRequest extends WireRequest, ClientRequest {
  readonly protocol: string;
  getHeader(name: string): unknown;
}

/** The requests over `node:http`: got and axios show neither the header of a response nor the end of an attempt. */
export const watchNodeRequests: RequestWatch = {
  mayBeDropped: true,
  expect: (request) => nodeRequests().expect(request),
  forget: (expected) => nodeRequests().forget(expected),
};

/** Watches a request that a function of the caller's, or HTTP/2, has sent: no channel reports it. */
export function watchClientRequest(wire: unknown, request: WatchedRequest): void {
  if (!isClientRequest(wire)) return;
  request.onWireStart();
  // After the end of the response, and after each failure.
  wire.once('close', () => request.finish());
  wire.once('response', (response) => onResponse(response, request));
}

function isClientRequest(wire: unknown): wire is ClientRequest {
  return typeof Reflect.get(Object(wire), 'once') === 'function';
}

function onResponse(response: ClientResponse, request: WatchedRequest): void {
  request.onWireHeaders(response.statusCode, response.headers);
  watchNodeStream(response, request);
}

// One subscription for all guards of the process, from the first request on that is watched.
const nodeRequests = /* @__PURE__ */ once(() => {
  const requests = new WireRequests();
  const channels = builtin('node:diagnostics_channel');
  channels?.subscribe('http.client.request.start', (message) => {
    const { request } = message as { readonly request: NodeRequest };
    const watched = requests.sent(request, nodeOriginOf(request));
    // Published after the end of the response, and after each failure.
    if (watched === undefined) return;
    request.once('close', () => watched.finish());
  });
  channels?.subscribe('http.client.request.error', (message) => {
    const { request } = message as { readonly request: NodeRequest };
    // Given up before it had a socket, so that its start was not published.
    if (request[WATCHED] === undefined) requests.sent(request, nodeOriginOf(request))?.finish();
  });
  channels?.subscribe('http.client.response.finish', (message) => {
    const { request, response } = message as {
      readonly request: NodeRequest;
      readonly response: ClientResponse;
    };
    const watched = request[WATCHED];
    if (watched !== undefined) onResponse(response, watched);
  });
  return requests;
});

function nodeOriginOf(request: NodeRequest): string {
  const host = String(request.getHeader('host'));
  return `${request.protocol}//${host}`;
}
