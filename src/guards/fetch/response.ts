import type { Clock } from '../../core/base/index.ts';
import { answeringFor, type Refusal, refusalOf } from '../../core/client/refusal-errors.ts';
import type { Fields } from '../shared/headers.ts';
import type { HopRequest } from '../shared/redirect.ts';

/** The part of a `Response`, of any realm, that a guard reads. */
export interface ResponseLike {
  readonly status: number;
  readonly type?: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly headers: Fields;
  /** A web stream, or a Node stream as node-fetch returns it. */
  readonly body: ReadableStream<unknown> | { cancel(): Promise<void> } | { destroy(): unknown } | null;
  clone(): ResponseLike;
}

/** The URL of a response, and the redirects that led to it. */
export type Arrival = Pick<HopRequest, 'url' | 'redirects' | 'crossedOrigins'>;

/** Sets `url`, `redirected` and `type` of `response`, and of its clones, as after a chain of redirects. */
export function arrivedAt<Response extends ResponseLike>(response: Response, arrival: Arrival): Response {
  const clone = response.clone.bind(response);
  const refused = refusalOf(response);
  const cloneOf = (): ResponseLike => (refused === undefined ? clone() : answeringFor(clone(), refused));
  const { url, type } = response;
  return Object.defineProperties(response, {
    // "The url getter steps are to return […] this's response's URL, serialized with exclude fragment set to true."
    url: { value: url === '' ? withoutFragment(arrival.url) : url, configurable: true },
    redirected: { value: arrival.redirects > 0, configurable: true },
    // Each hop is a separate request for the wrapped fetch, so its type is "basic" there.
    type: { value: type === 'basic' && arrival.crossedOrigins ? 'cors' : type, configurable: true },
    clone: { value: () => arrivedAt(cloneOf(), arrival), configurable: true },
  });
}

/** The response of a refusal: 403, or 503 while robots.txt is unreachable. */
export function refusalResponse(refusal: Refusal, clock: Clock): Response {
  const { allowed, reason, rule, retryAt } = refusal.decision;
  // A refusal whose decision allows fetching was made because of the purpose.
  const headers = new Headers({ 'x-robots-reason': allowed ? 'usage' : reason });
  if (rule !== undefined && !allowed) {
    headers.set('x-robots-rule', `line ${rule.line}: ${rule.directive}: ${headerSafe(rule.pattern)}`);
  }
  if (reason !== 'unreachable') return synthetic(refusal, 403, 'Forbidden', headers);
  if (retryAt !== undefined) {
    headers.set('retry-after', String(Math.max(0, Math.ceil((retryAt - clock.now()) / 1000))));
  }
  return synthetic(refusal, 503, 'Service Unavailable', headers);
}

function synthetic(refusal: Refusal, status: number, statusText: string, headers: Headers): Response {
  return answeringFor(new Response(`${refusal.message}\n`, { status, statusText, headers }), refusal);
}

/** Encodes a pattern for a header field: characters other than visible ASCII are percent-encoded, in UTF-8. */
function headerSafe(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) =>
    byte >= 0x20 && byte <= 0x7e
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

function withoutFragment(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
}
