import type { StopSignal } from '../base/index.ts';
import type { LookupFunction } from 'node:net';
import type { StatusMeaning } from '../lifecycle/index.ts';

/**
 * Marks a request for a robots.txt among undici's dispatch options. A guard that shares the dispatcher lets it
 * pass: waiting for its own answer, it would wait for ever (a robots.txt may redirect to any path).
 */
export const OWN_REQUEST: unique symbol = Symbol.for('canfetch.own-request');

/** One way of sending one GET. Implementations follow no redirect and add no cookie and no credential. */
export interface Transport {
  /** Content codings to ask for; absent when the transport negotiates and decodes by itself. */
  readonly acceptEncoding?: string;
  /** Resolves when the header section has arrived. Rejects, and lets go of the socket, when `signal` aborts. */
  request(url: URL, init: TransportRequest): Promise<TransportResponse>;
  /** Ends what the transport opened itself; what the caller handed over stays open. */
  close?(): Promise<void>;
}

export interface TransportRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the request, its body included. */
  readonly signal: StopSignal;
  /**
   * The caller's, in place of the transport's own, for every connection the request opens by a name.
   */
  readonly lookup?: LookupFunction;
  /**
   * Connect to public addresses alone (see `isPublicAddress`), or fail with `RobotsAddressRefusedError`. A transport
   * that does not choose its addresses itself cannot heed it; what the URL shows has been checked already.
   */
  readonly publicOnly: boolean;
}

/** Its owner either reads `body` to the end, leaves the iteration early, aborts the signal, or calls `discard`. */
export interface TransportResponse {
  /** Of protocols that pronounce only when all has come: what holds as long as nothing else was said. */
  readonly status: number;
  /** What the answer means, where {@link status} is none of HTTP's. Else the profile says so. */
  readonly meaning?: Exclude<StatusMeaning, 'restricted'>;
  readonly headers: ResponseHeaders;
  readonly body: AsyncIterable<Uint8Array>;
  /** Whether the content codings that {@link headers} name are already undone. */
  readonly alreadyDecoded: boolean;
  /** Whether a public address has answered; absent when the transport does not know. */
  readonly isPublic?: boolean;
  /** Whether a proxy may have answered in the place of the site: the request went over one, or may have, without TLS. */
  readonly proxyMayAnswer?: boolean;
  /** Lets go of a body nobody wants. Never throws. */
  discard(): void;
}

export interface ResponseHeaders {
  /** `name` in lower case; every octet of the value one character. The lines of a repeated list field, and of `content-range`, are joined by commas; of other repeated fields the first counts. */
  get(name: string): string | undefined;
}
