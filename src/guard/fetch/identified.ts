/** Adds the `User-Agent` to requests of a guarded fetch. */
import type { Identity } from '../identity.ts';
import type { Call, HeadersInput } from './request.ts';

/** The `init` of a call without one: it sets the `User-Agent`. */
export function initNaming(userAgent: string): Call['init'] {
  return Object.freeze({ headers: Object.freeze({ 'user-agent': userAgent }) });
}

/** `call` with the `User-Agent` that it lacks. The headers of a Request given by the caller are not changed. */
export function identified(call: Call, identity: Identity): Call {
  const headers = call.init.headers ?? call.request?.headers;
  const userAgent = identity.replaces(call.url, userAgentOf(headers));
  if (userAgent === undefined) return call;
  return { ...call, init: { ...call.init, headers: withUserAgent(headers, userAgent) } };
}

function userAgentOf(headers: HeadersInput): string | null | undefined {
  if (headers === undefined || headers === null) return undefined;
  if (headers instanceof Headers) return headers.get('user-agent');
  const fields = Symbol.iterator in headers ? headers : Object.entries(headers);
  for (const [name, value] of fields) if (isUserAgent(name)) return String(value);
  return undefined;
}

function withUserAgent(headers: HeadersInput, userAgent: string): HeadersInput {
  const named = { 'user-agent': userAgent };
  if (headers === undefined || headers === null) return named;
  if (Array.isArray(headers)) {
    const others: string[][] = headers.filter(([name]) => !isUserAgent(name));
    return [...others, ['user-agent', userAgent]];
  }
  if (Symbol.iterator in headers) {
    const copy = new Headers(headers);
    copy.set('user-agent', userAgent);
    return copy;
  }
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !isUserAgent(name))), ...named };
}

function isUserAgent(name: unknown): boolean {
  return typeof name === 'string' && name.length === 10 && name.toLowerCase() === 'user-agent';
}
