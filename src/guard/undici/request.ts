import { stringify } from 'node:querystring';
import { RobotsInvalidOptionsError } from '../../base/index.ts';
import type { OWN_REQUEST } from '../../fetch/transport.ts';
import type { Identity } from '../identity.ts';

/** The part of undici's `DispatchOptions` that the guard reads. */
export interface RequestOptions {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: unknown;
  readonly signal?: AbortSource | null;
  readonly robots?: unknown;
  readonly [OWN_REQUEST]?: boolean;
}

/** A signal as undici accepts it: an AbortSignal, or an EventEmitter that emits `abort`. */
type AbortSource = AbortSignal | AbortEmitter;

interface AbortEmitter {
  on(event: 'abort', listener: () => void): unknown;
  removeListener(event: 'abort', listener: () => void): unknown;
}

interface ListenedSignal {
  readonly signal: AbortSignal | undefined;
  readonly release: () => void;
}

const nothing = (): void => undefined;

const NO_SIGNAL: ListenedSignal = { signal: undefined, release: nothing };

/** `source` as an AbortSignal. `release` removes the listener. */
export function signalOf(source: AbortSource | null | undefined): ListenedSignal {
  if (source === undefined || source === null) return NO_SIGNAL;
  if ('addEventListener' in source) return { signal: source, release: nothing };
  const controller = new AbortController();
  const listener = (): void => controller.abort();
  source.on('abort', listener);
  return { signal: controller.signal, release: () => source.removeListener('abort', listener) };
}

/** The origin of the last request, as given and serialised. */
export interface LastSerialised {
  given: string | URL;
  serialised: string;
}

/** The URL of a request. Requests to one origin often follow each other, so its serialised form is kept in `last`. */
export function urlOf({ origin, path, query, headers }: RequestOptions, last: LastSerialised): string {
  if (origin === undefined) {
    throw new RobotsInvalidOptionsError(
      `Expected a request to name its \`origin\`, so that its robots.txt is known, got ${JSON.stringify(path)} alone`,
    );
  }
  if (origin !== last.given || typeof origin !== 'string') {
    last.serialised = new URL(origin).origin;
    last.given = origin;
  }
  // Not `new URL(path, origin)`, which reads a path of "//other.example/" as another host.
  let url = path.startsWith('/') ? last.serialised + path : path;
  if (query !== undefined && query !== null) {
    const search = stringify(query);
    if (search !== '') url = withSearch(url, search);
  }
  const host = headerOf(headers, 'host');
  if (host !== undefined) assertNamed(new URL(url), host);
  return url;
}

function withSearch(text: string, search: string): string {
  const url = new URL(text);
  url.search = search;
  return url.href;
}

/** Detects the wrong order `compose(guard, dns)`: the URL has an address, and only the `Host` field has the name. */
function assertNamed(url: URL, host: string): void {
  if (!isAddress(url.hostname) || host.toLowerCase() === url.host) return;
  throw new RobotsInvalidOptionsError(
    `Expected the origin of a request to be a site, got ${url.origin} for host ${JSON.stringify(host)}; ` +
      'compose(dns, guard, …) lets the guard see the name',
  );
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Reads a header field. undici accepts fields as an object, as a flat list, or as pairs. */
function headerOf(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (Array.isArray(headers)) {
    for (let at = 0; at + 1 < headers.length; at += 2) {
      if (isNamed(headers[at], name)) return String(headers[at + 1]);
    }
  } else if (Symbol.iterator in headers) {
    for (const [key, value] of headers as Iterable<[unknown, unknown]>) {
      if (isNamed(key, name)) return String(value);
    }
  } else {
    for (const key of Object.keys(headers)) {
      if (isNamed(key, name)) return String(Reflect.get(headers, key));
    }
  }
  return undefined;
}

function isNamed(key: unknown, name: string): boolean {
  const text = String(key);
  return text.length === name.length && text.toLowerCase() === name;
}

/** `request` with the `User-Agent` that it lacks. */
export function identified(request: RequestOptions, url: string, identity: Identity): RequestOptions {
  const { headers } = request;
  const userAgent = identity.replaces(url, headerOf(headers, 'user-agent'));
  return userAgent === undefined ? request : { ...request, headers: withUserAgent(headers, userAgent) };
}

/** `headers` with `userAgent`, in the form in which they were given: object, flat list or pairs. */
function withUserAgent(headers: unknown, userAgent: string): unknown {
  if (headers === undefined || headers === null) return { 'user-agent': userAgent };
  if (typeof headers !== 'object') return headers;
  if (Array.isArray(headers)) {
    const others = headers.filter((_, at) => !isNamed(headers[at - (at % 2)], 'user-agent'));
    return [...others, 'user-agent', userAgent];
  }
  const fields: readonly [unknown, unknown][] =
    Symbol.iterator in headers ? [...(headers as Iterable<[unknown, unknown]>)] : Object.entries(headers);
  const others = fields.filter(([name]) => !isNamed(name, 'user-agent'));
  return Object.fromEntries([...others, ['user-agent', userAgent]]);
}
