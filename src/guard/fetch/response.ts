import type { Clock } from '../../base/index.ts';
import type { Decision } from '../../decision/index.ts';
import type { UsageOptions } from '../../rules/index.ts';
import { answeringFor, refusal, refusalOf } from '../refusal.ts';

/** A `Response`, of whatever realm, as far as a guard looks at it. */
export interface ResponseLike {
  readonly status: number;
  readonly type?: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly headers: Fields;
  /** A stream of the web, or one of Node, which node-fetch answers with. */
  readonly body: { cancel(): Promise<void> } | { destroy(): unknown } | null;
  clone(): ResponseLike;
}

/** Headers as Node gives them: by lower-case names. */
export type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Fields by lower-case names, of several with one name the first. */
export interface Fields {
  get(name: string): string | null;
}

export function fieldsOf(headers: NodeHeaders): Fields {
  return {
    get(name) {
      const value = headers[name];
      return (Array.isArray(value) ? value[0] : value) ?? null;
    },
  };
}

/** What a header states about the use of content: all lines of a field, as the standards join them. */
export function usageHeaders(headers: NodeHeaders | Fields): UsageOptions {
  const get = (name: string): string | null => {
    if (isFields(headers)) return headers.get(name);
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  };
  return { contentUsage: get('content-usage'), contentSignal: get('content-signal') };
}

function isFields(headers: NodeHeaders | Fields): headers is Fields {
  return typeof headers.get === 'function';
}

/** Frees the socket of an answer that nobody will read. Not waited for: what comes next does not depend on it. */
export function discard({ body }: ResponseLike): void {
  if (body === null) return;
  if ('cancel' in body) body.cancel().catch(() => undefined);
  else body.destroy();
}

/** How a request came to where it was answered. */
export interface Arrival {
  readonly url: URL;
  /** How many redirects were followed. */
  readonly redirects: number;
  /** Whether one of them led to another origin than that of the first URL. */
  readonly crossedOrigins: boolean;
}

/** `response`, and every clone of it, as the last of a chain of redirects. */
export function arrivedAt<Answer extends ResponseLike>(response: Answer, arrival: Arrival): Answer {
  const clone = response.clone.bind(response);
  const refused = refusalOf(response);
  const cloneOf = (): ResponseLike => (refused === undefined ? clone() : answeringFor(clone(), refused));
  const { url, type } = response;
  return Object.defineProperties(response, {
    // "The url getter steps are to return […] this's response's URL, serialized with exclude fragment set to true."
    url: { value: url === '' ? withoutFragment(arrival.url) : url, configurable: true },
    redirected: { value: arrival.redirects > 0, configurable: true },
    // Each hop is a request of its own to the fetch that is wrapped, so of type "basic" there.
    type: { value: type === 'basic' && arrival.crossedOrigins ? 'cors' : type, configurable: true },
    clone: { value: () => arrivedAt(cloneOf(), arrival), configurable: true },
  });
}

/** The answer that stands for a refusal: 403, or 503 while robots.txt is unreachable. */
export function refusalResponse(decision: Decision, clock: Clock): Response {
  const { allowed, reason, rule, retryAt } = decision;
  // What is allowed, and refused all the same, is so because of its use.
  const headers = new Headers({ 'x-robots-reason': allowed ? 'usage' : reason });
  if (rule !== undefined && !allowed) {
    headers.set('x-robots-rule', `line ${rule.line}: ${rule.directive}: ${headerSafe(rule.pattern)}`);
  }
  if (reason !== 'unreachable') return synthetic(decision, 403, 'Forbidden', headers);
  if (retryAt !== undefined) {
    headers.set('retry-after', String(Math.max(0, Math.ceil((retryAt - clock.now()) / 1000))));
  }
  return synthetic(decision, 503, 'Service Unavailable', headers);
}

function synthetic(decision: Decision, status: number, statusText: string, headers: Headers): Response {
  const refused = refusal(decision);
  return answeringFor(new Response(`${refused.message}\n`, { status, statusText, headers }), refused);
}

/** Patterns are foreign text: what is no visible ASCII goes percent-encoded, in UTF-8. */
function headerSafe(text: string): string {
  return Array.from(new TextEncoder().encode(text), (octet) =>
    octet >= 0x20 && octet <= 0x7e
      ? String.fromCharCode(octet)
      : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

function withoutFragment(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
}
