import { stringify } from 'node:querystring';
import { RobotsInvalidOptionsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import type { OWN_REQUEST } from '../../core/fetch/transport.ts';
import { headerOf } from '../shared/headers.ts';

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
  readonly [GUARDED]?: GuardMark;
}

/** Among the options of a request that a guard passes on: another guard may stand below. */
export const GUARDED: unique symbol = Symbol('canfetch.guarded');

export interface GuardMark {
  readonly request: RequestOptions;
  readonly guard: object;
  /** A dispatcher that answers at once lets redirects be dispatched in the meantime. */
  readonly handler: { readonly hasEvents: boolean };
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

/** The URL of a request. */
export function urlOf({ origin, path, query, headers }: RequestOptions): string {
  if (origin === undefined) {
    throw new RobotsInvalidOptionsError(
      `Expected a request to name its \`origin\`, so that its robots.txt is known, got ${JSON.stringify(urlWithoutUserinfo(path))} alone`,
    );
  }
  // Not `new URL(path, origin)`, which reads a path of "//other.example/" as another host.
  let url = path.startsWith('/') ? new URL(origin).origin + path : path;
  if (query !== undefined && query !== null) {
    const search = stringify(query);
    if (search !== '') url = withSearch(url, search);
  }
  const host = headerOf(headers, 'host');
  if (host !== undefined) assertNamed(new URL(url), String(host));
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
