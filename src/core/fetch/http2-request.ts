import { ignore } from '../base/index.ts';
import type { LightAbortSignal } from '../base/index.ts';
import type { Connector } from '../net/index.ts';
import { FetchFailure, MALFORMED } from './failure.ts';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { errors } from 'undici';

/** The code of the TLS error when the server speaks none of the protocols that were offered: RFC 7301 §3.2. */
export const NO_APPLICATION_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';

/** The peer has to wait while more bytes are unread. */
const UNREAD_BYTES = 1_048_576;

/**
 * Fields that HTTP/2 does not have. RFC 9113 §8.2.2: "An endpoint MUST NOT generate an HTTP/2 message containing
 * connection-specific header fields." `host` is in `:authority`.
 */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  ...['connection', 'host', 'http2-settings', 'keep-alive', 'proxy-connection', 'te'],
  ...['transfer-encoding', 'upgrade'],
]);

/**
 * Keeps the memory of a session until its stream is collected.
 *
 * A header section may have a forbidden field, such as those of {@link CONNECTION_FIELDS}. Node frees its part of such a
 * section with the stream. If Node frees the session before, it ends the process: `Assertion failed:
 * (current_nghttp2_memory_) == (0)` (Node 20 to 24).
 */
const keptHandles = new FinalizationRegistry<object>(ignore);

export interface Http2Request {
  /** Opens the socket. It must offer `h2`. */
  readonly connect: Connector;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: LightAbortSignal;
  readonly maxInterim: number;
  /** Bound of a header section, also of an interim response. */
  readonly maxHeaderBytes: number;
}

export interface Http2Response {
  readonly status: number;
  /** Every line by its name: Node itself keeps one line of a field that must not be repeated. */
  readonly headers: Readonly<Record<string, string[]>>;
  /** Ends only when the server has ended it. When it is over, or destroyed, so is the connection. */
  readonly body: Readable;
}

/**
 * Sends one GET over HTTP/2, on a connection of its own.
 *
 * undici can speak HTTP/2 (`allowH2`). But it takes a stream that the server cancels for one that has ended, so that a
 * part of a file counts as the whole: a file that is cut before its rules allows everything. It also keeps each
 * connection open until the server closes it.
 */
export async function requestOverHttp2({
  connect: connector,
  url,
  headers,
  signal,
  ...limits
}: Http2Request): Promise<Http2Response> {
  const socket = await openSocket(connector, url, signal);
  const options = {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: limits.maxHeaderBytes },
    // Only the size is limited. A field takes two bytes at least, and Node's own limit is 128 fields.
    maxHeaderListPairs: limits.maxHeaderBytes,
    // Otherwise a field with white space around its value vanishes, and a coded body looks like text.
    strictFieldWhitespaceValidation: false,
  };
  const session = connect(url.origin, options);
  // Its streams report its errors.
  session.on('error', ignore);
  const stop = (): void => void setImmediate(destroy, session);
  signal.addEventListener('abort', stop, { once: true });
  session.once('close', () => {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  });
  try {
    const stream = session.request(requestHeaders(url, headers), { endStream: true });
    keepHandle(session, stream);
    const body = readStream(stream, stop);
    const fields = await responseOf(stream, limits);
    return { status: Number(fields[':status']?.[0]), headers: fields, body };
  } catch (error) {
    stop();
    throw signal.aborted ? signal.reason : error;
  }
}

/**
 * Call it in a turn of its own. Destroying a session while nghttp2 still has bytes to read ends the process, if these begin
 * a frame of a wrong size: `Assertion iframe->state == NGHTTP2_IB_IGN_ALL failed` (Node 20, CVE-2026-27135).
 */
function destroy(session: ClientHttp2Session): void {
  session.destroy();
}

/** @see {@link keptHandles}. Other runtimes have no such handle, and no such assertion. */
function keepHandle(session: ClientHttp2Session, stream: ClientHttp2Stream): void {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle');
  const handle: unknown = symbol === undefined ? undefined : Reflect.get(session, symbol);
  if (typeof handle === 'object' && handle !== null) keptHandles.register(stream, handle);
}

function requestHeaders(url: URL, fields: Readonly<Record<string, string>>): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':method': 'GET',
    ':scheme': 'https',
    ':authority': fields['host'] ?? url.host,
    ':path': url.pathname + url.search,
  };
  for (const [name, value] of Object.entries(fields)) {
    if (!CONNECTION_FIELDS.has(name)) headers[name] = value;
  }
  return headers;
}

/** Opens a socket that speaks HTTP/2. When `signal` aborts, the promise rejects, and the socket is closed once it is open. */
function openSocket(connector: Connector, url: URL, signal: LightAbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const { protocol, host, port } = url;
    const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
    connector({ protocol, host, hostname, port }, (...[error, socket]) => {
      signal.removeEventListener('abort', stop);
      if (error !== null) return reject(error);
      socket.on('error', ignore);
      if (!signal.aborted && Reflect.get(socket, 'alpnProtocol') === 'h2') return resolve(socket);
      socket.destroy();
      // The server spoke neither protocol a moment ago.
      reject(signal.aborted ? signal.reason : new FetchFailure(MALFORMED));
    });
  });
}

/** Waits for the header section. Rejects when the stream ends without one, or when it is too long. */
function responseOf(
  stream: ClientHttp2Stream,
  { maxInterim, maxHeaderBytes }: Pick<Http2Request, 'maxInterim' | 'maxHeaderBytes'>,
): Promise<Http2Response['headers']> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    stream.on('headers', (_headers: unknown, _flags: unknown, lines: readonly string[]) => {
      if (++interim > maxInterim) stream.destroy(new FetchFailure(MALFORMED));
      if (bytesOf(lines) > maxHeaderBytes) stream.destroy(new errors.HeadersOverflowError());
    });
    stream.once('response', (_headers: unknown, _flags: unknown, lines: readonly string[]) => {
      if (bytesOf(lines) > maxHeaderBytes) reject(new errors.HeadersOverflowError());
      else resolve(fieldsOf(lines));
    });
    stream.once('error', reject);
    stream.once('close', () => reject(resetError(stream)));
  });
}

/**
 * The bytes of a header section of names and values in turn, as HTTP/1.1 would write them: `name: value`, CR and LF. The
 * peer may send a short reference to a long field, so those that were sent do not count.
 */
function bytesOf(lines: readonly string[]): number {
  return lines.reduce((bytes, text) => bytes + text.length + 2, 0);
}

function fieldsOf(lines: readonly string[]): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null);
  for (let at = 0; at + 1 < lines.length; at += 2) (fields[lines[at]!] ??= []).push(lines[at + 1]!);
  return fields;
}

/**
 * The body of a stream. It is whole only if a frame with END_STREAM was its last. RST_STREAM, with whatever code, and
 * the end of the connection cut it.
 */
function readStream(stream: ClientHttp2Stream, release: () => void): Readable {
  let hasEnded = false;
  // Both END_STREAM and RST_STREAM end the stream for its reader. But Node has closed it before it ends it for a reset.
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null && !stream.closed) hasEnded = true;
    return push(chunk, encoding);
  };
  const body = new Readable({
    highWaterMark: UNREAD_BYTES,
    read: () => void stream.resume(),
    destroy: (error, callback) => {
      release();
      callback(error);
    },
  });
  // A body that is destroyed by its reader, or never read, must not end the process.
  body.on('error', ignore);
  stream.on('data', (chunk: Buffer) => {
    if (!body.destroyed && !body.push(chunk)) stream.pause();
  });
  stream.on('error', (error) => body.destroy(error));
  stream.once('close', () => {
    if (hasEnded && stream.readableEnded && stream.rstCode === 0) body.push(null);
    else body.destroy(resetError(stream));
  });
  return body;
}

function resetError(stream: ClientHttp2Stream): Error {
  const error = new Error(
    `The server reset the HTTP/2 stream (code ${stream.rstCode}) before the response was whole`,
  );
  return Object.assign(error, { code: 'ERR_HTTP2_STREAM_ERROR' });
}
