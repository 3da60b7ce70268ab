import type { Hop } from './redirect.ts';

/** The `init` of a fetch, as far as the guard looks at it. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly redirect?: string;
  readonly signal?: AbortSignal | null;
}

/** A `Request`, of whatever realm. */
export interface RequestLike extends FetchInit {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: string;
  readonly signal: AbortSignal;
}

/** A fetch, whatever its types are called. */
export type Send = (input: unknown, init?: object) => Promise<Response>;

export function isRequest(input: unknown): input is RequestLike {
  return (
    typeof input === 'object' &&
    input !== null &&
    !(input instanceof URL) &&
    'url' in input &&
    'method' in input
  );
}

/**
 * Sends a request as it came. A `Request` of another realm (one of Node's given to undici's fetch, or the other
 * way round) is no Request to that fetch but an object to be made a URL string of: it is taken apart first.
 */
export async function sendAsGiven(send: Send, input: unknown, init: FetchInit): Promise<Response> {
  try {
    return await send(input, init);
  } catch (error) {
    if (!isRequest(input) || !wasTakenForUrl(error)) throw error;
    const { url, method, headers, body, redirect, signal } = input;
    const stream = body === null || body === undefined ? {} : { body, duplex: 'half' };
    return send(url, { ...carriedOver(input), method, headers, redirect, signal, ...stream, ...init });
  }
}

/** `Failed to parse URL from [object Request]`: nothing was sent, and the body is still whole. */
function wasTakenForUrl(error: unknown): boolean {
  if (!(error instanceof TypeError)) return false;
  const cause: unknown = error.cause ?? error;
  if (typeof cause !== 'object' || cause === null) return false;
  return (
    Reflect.get(cause, 'code') === 'ERR_INVALID_URL' && Reflect.get(cause, 'input') === '[object Request]'
  );
}

/** The request as it stands before the first redirect. `init` wins over the Request, field by field. */
export function firstHop(url: URL, request: RequestLike | undefined, init: FetchInit): Hop {
  // The body of a Request is a stream whatever it was made from.
  const body = init.body ?? request?.body ?? undefined;
  return {
    url,
    method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init.headers ?? request?.headers),
    body,
    bodyIsStream: body !== undefined && body !== null && isStream(body),
    redirects: 0,
  };
}

function isStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && (Symbol.asyncIterator in body || 'getReader' in body);
}

/** What a Request says besides method, headers and body, for the hops that are sent without it. */
export function carriedOver(request: RequestLike | undefined): object {
  if (request === undefined) return {};
  const fields = ['cache', 'credentials', 'integrity', 'keepalive', 'mode', 'referrerPolicy'] as const;
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value: unknown = Reflect.get(request, field);
      return value === undefined || value === 'navigate' ? [] : [[field, value]];
    }),
  );
}
