import { codeOf, type LightAbortSignal } from '../base/index.ts';
import type { LookupFunction } from 'node:net';
import type { StatusClass, Copy, Profile } from '../lifecycle/index.ts';
import type { AddressPolicy } from '../net/address-policy.ts';

/** A dispatcher of undici 6, 7 or 8, or of another package: their types differ in what their handlers take. */
export interface DispatcherLike {
  dispatch(options: never, handler: never): boolean;
}

/**
 * Marks a robots.txt request of a client: a key of undici's dispatch options and of the init of a fetch, and the value of
 * `robots` in got's context and axios's config. Guards let it pass. Otherwise a guard would wait for itself (a robots.txt
 * may redirect to any path).
 */
export const OWN_REQUEST: unique symbol = Symbol.for('canfetch.own-request');

/** Sends one GET. Implementations follow no redirect and add no cookie and no credentials. */
export interface Transport {
  /** Content codings to request: those whose end the transport sees. Absent for a transport without codings. */
  readonly acceptEncoding?: string;
  /** Resolves when the header section has arrived. Rejects, and releases the socket, when `signal` aborts. */
  request(url: URL, init: TransportRequest): Promise<TransportResponse>;
  /** Closes what the transport opened itself. What the caller handed over stays open. */
  close?(): Promise<void>;
}

export interface TransportRequest {
  /** Field names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts the request and its body. */
  readonly signal: LightAbortSignal;
  /** The caller's lookup, for a transport that looks names up by itself. Today that is FTP's; undici's is made with it. */
  readonly lookup?: LookupFunction;
  /**
   * Connect to public addresses only (see `isPublicAddress`), or fail with `RobotsAddressRefusedError`. A transport
   * that does not choose addresses itself cannot do this; literal addresses in the URL have been checked already.
   */
  readonly publicOnly: boolean;
}

/** Codes of a connection that ended before a response arrived. */
const CLOSED_SOCKET: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Sends a request, and once more when its connection was closed before a response: servers close idle connections at any
 * time, which says nothing about the site. RFC 9112 §9.3.1: "A client SHOULD NOT automatically retry a failed automatic
 * retry." undici's `retry` interceptor would also resume a body that was cut, by `Range`.
 */
export function sendOnceMore<Response>(
  send: () => Promise<Response>,
  signal: LightAbortSignal,
): Promise<Response> {
  return send().catch((error: unknown) => {
    if (signal.aborted || !CLOSED_SOCKET.has(codeOf(error))) throw error;
    return send();
  });
}

/** The content codings that are undone. */
export type ContentCoding = 'gzip' | 'deflate' | 'br';

/** Undoes content codings. Not part of reading a body, because decoders are modules of Node. */
export type Decode = (
  source: AsyncIterable<Uint8Array>,
  codings: readonly ContentCoding[],
  limits: { readonly maxBytesIn: number; readonly mayBeEmpty: boolean },
) => AsyncIterable<Uint8Array>;

/** The owner must read `body` to the end, leave the iteration early, abort the signal, or call `discard`. */
export interface TransportResponse {
  /** For protocols that report the result after the body: the status that holds unless another follows. */
  readonly status: number;
  /** What the response means when {@link status} is not an HTTP status. Otherwise the profile decides. */
  readonly meaning?: Exclude<StatusClass, 'restricted'>;
  readonly headers: ResponseHeaders;
  readonly body: AsyncIterable<Uint8Array>;
  /** Undoes the content codings in {@link headers}. Absent when the transport has undone them. */
  readonly decode?: Decode;
  /**
   * Whether a field may have been sent that {@link headers} does not show, as browsers do of other sites. What
   * depends on a field being absent is then not trusted.
   */
  readonly hidesFields?: boolean;
  /** Whether the response came from a public address. Absent when the transport does not know. */
  readonly isPublic?: boolean;
  /**
   * Whether the response may be that of a proxy: the request went, or may have gone, over a proxy without TLS.
   */
  readonly mayBeFromProxy?: boolean;
  /** Whether it is certainly that of a proxy, which has refused to forward the request. */
  readonly isFromProxy?: boolean;
  /** Releases a body that is not needed. Never throws. */
  discard(): void;
}

export interface ResponseHeaders {
  /**
   * Returns a field by its lower-case name; each character of the value is one byte. Repeated lines of a list field,
   * and of `content-range`, are joined by commas. Of other repeated fields the first counts.
   */
  get(name: string): string | undefined;
}

export interface FetchRobotsOptions {
  /** Scheme, host and port: `https://example.com`. */
  readonly origin: string;
  /** Value of the `User-Agent` field. */
  readonly userAgent: string;
  readonly profile: Profile;
  readonly transport: Transport;
  /** Further request fields for an origin, redirects included. They replace the fields set here. */
  readonly headersFor?: (origin: string) => Readonly<Record<string, string>> | undefined;
  /** What an earlier attempt found. Its validators are sent to its `finalUrl` only. */
  readonly copy?: Pick<Copy, 'finalUrl' | 'etag' | 'lastModified'> | undefined;
  readonly deadlineMs: number;
  readonly maxBodyBytes: number;
  readonly addressPolicy: AddressPolicy;
  /** The caller's lookup, for transports that take one per request. */
  readonly lookup?: LookupFunction | undefined;
  /** Called before a redirect is followed, if the profile has `disallowedRedirect: 'unavailable'`. */
  readonly isRedirectDisallowed: (url: string) => boolean;
  /** Aborts when no caller waits for the outcome any more. */
  readonly signal: LightAbortSignal;
  /** The client, for messages about its requests. */
  readonly client: object;
  /** Epoch ms, needed for a `Retry-After` with a date. */
  readonly clock: { now(): number };
}
