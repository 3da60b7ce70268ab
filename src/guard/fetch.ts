import { RobotsInvalidOptionsError } from '../errors.ts';
import { type Agent, agentTokens } from '../options.ts';
import { admit, type GuardClient, isCrawling, reportSite } from './guard.ts';
import { type Hop, nextHop, redirects } from './redirect.ts';

export interface GuardFetchOptions {
  /** Who is asked about. @default the client's own agent */
  readonly agent?: Agent;
}

/** The `init` of a fetch, as far as the guard looks at it. */
interface FetchInit {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly redirect?: string;
  readonly signal?: AbortSignal | null;
}

/** A `Request`, of whatever realm. */
interface RequestLike extends FetchInit {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: string;
  readonly signal: AbortSignal;
}

/**
 * Wraps a `fetch`: each request, and each redirect it meets, is held against the robots.txt of its own origin
 * before it is sent. Everything else is as the wrapped fetch does it.
 *
 * A request that may not be made rejects with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or
 * `RobotsUnreachableError` (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`). `decision` tells about the hop refused.
 *
 * Redirects are followed here, by the steps of the Fetch standard. `redirect: 'manual'` and `'error'` are left to
 * the wrapped fetch, which then makes a single request.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { guardFetch, RobotsClient } from 'canfetch';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const fetchPolitely = guardFetch(fetch, robots);
 * const response = await fetchPolitely('https://example.com/page');
 * ```
 */
export function guardFetch<Fetch extends (input: never, init?: never) => Promise<unknown>>(
  fetch: Fetch,
  client: GuardClient,
  options: GuardFetchOptions = {},
): Fetch {
  if (typeof fetch !== 'function') {
    throw new RobotsInvalidOptionsError(
      `Expected the first argument to be a fetch function, got ${typeof fetch}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (name !== 'agent') throw new RobotsInvalidOptionsError(`Expected only known options, got \`${name}\``);
  }
  const { agent } = options;
  if (agent !== undefined) agentTokens(agent);
  // What is called is whatever was handed over; what it takes and gives is held to the Fetch standard.
  const send = fetch as unknown as (input: unknown, init?: object) => Promise<Response>;

  const guarded = async (input: unknown, init: FetchInit = {}): Promise<Response> => {
    const request = isRequest(input) ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    if (!isCrawling(url)) return send(input, init);
    const signal = init.signal ?? request?.signal ?? undefined;
    await admit(client, url, agent, signal);
    const redirect = init.redirect ?? request?.redirect ?? 'follow';
    if (redirect !== 'follow') return observed(client, url, signal, send(input, init));

    let hop = firstHop(url, request, init);
    let response = await observed(client, url, signal, send(input, { ...init, redirect: 'manual' }));
    while (redirects(response)) {
      const refused = response;
      try {
        hop = nextHop(hop, response);
        await admit(client, hop.url, agent, signal);
      } finally {
        // Nobody reads the answer that only redirects; its socket is free again.
        await refused.body?.cancel().catch(() => undefined);
      }
      const { method, headers, body } = hop;
      response = await observed(
        client,
        hop.url,
        signal,
        send(hop.url.href, {
          ...carriedOver(request),
          ...init,
          method,
          headers,
          body,
          redirect: 'manual',
          ...(signal === undefined ? {} : { signal }),
        }),
      );
    }
    return hop.redirects === 0 ? response : asRedirected(response);
  };
  return guarded as unknown as Fetch;
}

function isRequest(input: unknown): input is RequestLike {
  return (
    typeof input === 'object' &&
    input !== null &&
    !(input instanceof URL) &&
    'url' in input &&
    'method' in input
  );
}

function firstHop(url: URL, request: RequestLike | undefined, init: FetchInit): Hop {
  // `init` wins over the request, field by field; the body of a Request is a stream whatever it was made from.
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
function carriedOver(request: RequestLike | undefined): object {
  if (request === undefined) return {};
  const fields = ['cache', 'credentials', 'integrity', 'keepalive', 'mode', 'referrerPolicy'] as const;
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value: unknown = Reflect.get(request, field);
      return value === undefined || value === 'navigate' ? [] : [[field, value]];
    }),
  );
}

/** Passes on what a request gives, telling the client what it shows of the site. */
async function observed(
  client: GuardClient,
  url: URL,
  signal: AbortSignal | undefined,
  sent: Promise<Response>,
): Promise<Response> {
  try {
    const response = await sent;
    reportSite(client, url, response.status < 500);
    return response;
  } catch (error) {
    // The caller's own abort says nothing of the site.
    if (signal?.aborted !== true) reportSite(client, url, false);
    throw error;
  }
}

/** The last answer of a chain. Its `url` is right already; `redirected`, also of clones, is not. */
function asRedirected(response: Response): Response {
  const clone = response.clone.bind(response);
  return Object.defineProperties(response, {
    redirected: { value: true, configurable: true },
    clone: { value: () => asRedirected(clone()), configurable: true },
  });
}
