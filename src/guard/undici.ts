import { RobotsInvalidOptionsError } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import type { TakenSlot } from '../pacing/index.ts';
import { OWN_REQUEST } from '../fetch/transport.ts';
import { isRedirect } from '../fetch/redirect.ts';
import { fieldsOf, type NodeHeaders, usageHeaders } from './fetch/response.ts';
import type { GuardClient } from './client.ts';
import { Guard } from './guard.ts';
import type { Identity } from './identity.ts';
import { ignoredBecause } from './ignore.ts';
import { assertServed, isLegacyHandler, legacyDispatcher } from './legacy-dispatcher.ts';
import { assertThrowing, type ThrowingGuardOptions } from './options.ts';
import { refusalFor } from './refusal.ts';
import { stringify } from 'node:querystring';
import { setImmediate } from 'node:timers/promises';

/** The part of undici's `DispatchHandler` that receives the response. */
interface ResponseHandler {
  onRequestStart?(controller: unknown, context: unknown): void;
  onRequestUpgrade?(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void;
  onResponseStart?(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void;
  onResponseData?(controller: unknown, chunk: unknown): void;
  onResponseEnd?(controller: unknown, trailers: unknown): void;
  onResponseError?(controller: unknown, error: unknown): void;
}

/** Passes all events to `handler`, and reports to the guard whether the site answered and asked for a pause. */
class ReportingHandler implements ResponseHandler {
  private readonly handler: ResponseHandler;
  private readonly guard: Guard;
  private readonly url: string;
  private readonly signal: AbortSignal | undefined;
  /** The decision that allowed the request, if the guard has a purpose. */
  private readonly decided: { readonly decision?: Decision } | undefined;
  /** The origin, if {@link Guard.allowedOrigin} returned it. */
  private readonly origin: string | undefined;
  private answered = false;

  constructor(
    handler: ResponseHandler,
    guard: Guard,
    url: string,
    signal: AbortSignal | undefined,
    decided: { readonly decision?: Decision } | undefined,
    origin?: string,
  ) {
    this.origin = origin;
    this.handler = handler;
    this.decided = decided;
    this.guard = guard;
    this.url = url;
    this.signal = signal;
  }

  onRequestStart(controller: unknown, context: unknown): void {
    this.handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void {
    this.handler.onRequestUpgrade?.(controller, status, headers, socket);
  }

  onResponseStart(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void {
    // RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response".
    if (status >= 200) {
      this.answered = true;
      if (this.origin === undefined) this.guard.reports.answered(this.url, status, fieldsOf(headers));
      else this.guard.reports.originAnswered(this.origin, status, fieldsOf(headers));
      if (this.decided !== undefined && !isRedirect(status)) {
        const refused = this.guard.refusesResponse(this.decided?.decision, usageHeaders(headers));
        if (refused !== undefined) {
          (controller as { abort(reason: Error): void }).abort(refusalFor(refused));
          return;
        }
      }
    }
    this.handler.onResponseStart?.(controller, status, headers, statusMessage);
  }

  onResponseData(controller: unknown, chunk: unknown): void {
    this.handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: unknown, trailers: unknown): void {
    this.handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: unknown, error: unknown): void {
    // A site whose body breaks off has answered, so it is reachable.
    if (!this.answered) this.guard.reports.failed(this.url, error, this.signal);
    this.handler.onResponseError?.(controller, error);
  }
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
function signalOf(source: AbortSource | null | undefined): ListenedSignal {
  if (source === undefined || source === null) return NO_SIGNAL;
  if ('addEventListener' in source) return { signal: source, release: nothing };
  const controller = new AbortController();
  const listener = (): void => controller.abort();
  source.on('abort', listener);
  return { signal: controller.signal, release: () => source.removeListener('abort', listener) };
}

/** The controller of a request that was never sent. Handlers may read it; aborting it has no effect. */
function abortedController(error: unknown): object {
  return {
    aborted: true,
    paused: false,
    reason: error,
    rawHeaders: null,
    rawTrailers: null,
    abort: nothing,
    pause: nothing,
    resume: nothing,
  };
}

export { publicOnlyAgent, type PublicOnlyAgentOptions } from '../net/index.ts';
export type { GuardClient } from './client.ts';
export type { OtherIdentity } from './identity.ts';
export type { RobotsInit } from './ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from './options.ts';

/**
 * `dispatch` of an undici Dispatcher of version 7 or 8. Handlers of undici 6 have no `onRequestStart`, so its
 * `dispatch` does not match this type.
 */
type DispatchLike = (options: never, handler: { onRequestStart?(): void }) => boolean;

/** The part of undici's `DispatchOptions` that the guard reads. */
interface RequestOptions {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: unknown;
  readonly signal?: AbortSource | null;
  readonly robots?: unknown;
  readonly [OWN_REQUEST]?: boolean;
}

/**
 * Makes an interceptor for `dispatcher.compose(...)`. It checks each request against the robots.txt of its origin
 * before it is sent. Works with undici 7 and 8. A dispatcher of undici 6 is refused with `ERR_ROBOTS_INVALID_OPTIONS`
 * when it is composed, or at each request if it cannot be recognized before (`MockAgent`, `ProxyAgent`, one that is
 * already composed).
 *
 * The *last* interceptor given to `compose` is called first. The only right order is
 * `compose(dns, guard, retry, redirect)`: a redirect interceptor given before the guard follows redirects below
 * it, where the guard sees none of them; a dns interceptor given after it hides the name of the host.
 *
 * `request` and `stream` reject with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or `RobotsUnreachableError`
 * (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`); `fetch` with `TypeError: fetch failed`, whose `cause` is that error.
 * Requests that carry `robots: { ignore: true, because }` among their options are sent regardless.
 *
 * Let the client share the connections without the guard: `new RobotsClient({ dispatcher: agent })` beside
 * `agent.compose(robotsInterceptor(robots))`. A page then goes through the connection robots.txt came by.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { Agent, interceptors, request } from 'undici';
 * import { RobotsClient } from 'canfetch';
 * import { robotsInterceptor } from 'canfetch/undici';
 *
 * const agent = new Agent();
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)', dispatcher: agent });
 * const dispatcher = agent.compose(
 *   robotsInterceptor(robots),
 *   interceptors.redirect({ maxRedirections: 20 }),
 * );
 * const { body } = await request('https://example.com/page', { dispatcher });
 * ```
 */
export function robotsInterceptor(
  client: GuardClient,
  options: ThrowingGuardOptions = {},
): <Dispatch extends DispatchLike>(dispatch: Dispatch) => Dispatch {
  assertThrowing(options);
  const guard = new Guard(client, options, true);
  const { identity } = guard;
  const last: LastSerialised = { given: '', serialised: '' };
  return <Dispatch extends DispatchLike>(next: Dispatch): Dispatch => {
    assertServed(next);
    const dispatch = next as unknown as (request: RequestOptions, handler: ResponseHandler) => boolean;
    // `compose` checks the number of parameters.
    const guarded = (given: RequestOptions, handler: ResponseHandler): boolean => {
      // CONNECT opens a tunnel and requests no page. Requests through the tunnel are dispatched separately.
      if (given.method === 'CONNECT' || given[OWN_REQUEST] === true) return dispatch(given, handler);
      if (handler.onRequestStart === undefined && isLegacyHandler(handler)) {
        queueMicrotask(() => handler.onError(legacyDispatcher()));
        return true;
      }
      const fail = (error: unknown): void => handler.onResponseError?.(abortedController(error), error);
      try {
        const url = urlOf(given, last);
        const request = identity === undefined ? given : identified(given, url, identity);
        if (request.signal === undefined && request.robots === undefined) {
          const allowed = guard.allowedOrigin(url);
          if (allowed !== undefined) {
            return dispatch(
              request,
              new ReportingHandler(handler, guard, url, undefined, undefined, allowed),
            );
          }
        }
        const because = ignoredBecause(request.robots);
        const { signal, release } = signalOf(request.signal);
        let slot: TakenSlot | undefined;
        const onSlot = (taken: TakenSlot): void => void (slot = taken);
        const decided: { decision?: Decision } | undefined = guard.hasPurpose ? {} : undefined;
        const onDecision = decided && ((decision: Decision): void => void (decided.decision = decision));
        const verdict = guard.refuses(url, { signal, because, afterAsking, onSlot, onDecision });
        const send = (): boolean =>
          dispatch(request, new ReportingHandler(handler, guard, url, signal, decided));
        if (verdict === undefined) {
          release();
          return send();
        }
        admitted(verdict)
          .then(() => (slot?.leaveNow() === false ? slot.leave(signal).then(send) : send()))
          .catch(fail)
          .finally(release);
      } catch (error) {
        // undici's callers cannot handle an error before `dispatch` returns.
        queueMicrotask(() => fail(error));
      }
      // `true` means that the dispatcher accepts further requests.
      return true;
    };
    return guarded as unknown as Dispatch;
  };
}

/** `request` with the `User-Agent` that it lacks. */
function identified(request: RequestOptions, url: string, identity: Identity): RequestOptions {
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

/** Resolves when the request is allowed; rejects with the refusal. */
async function admitted(verdict: Decision | Promise<Decision | undefined>): Promise<void> {
  const refused = await verdict;
  if (refused !== undefined) throw refusalFor(refused);
}

/** undici frees the connection of robots.txt in an immediate. Waiting for it lets the page reuse the connection. */
const afterAsking = (): Promise<void> => setImmediate();

/** The URL of a request. Requests to one origin often follow each other, so its serialised form is kept in `last`. */
function urlOf({ origin, path, query, headers }: RequestOptions, last: LastSerialised): string {
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

interface LastSerialised {
  given: string | URL;
  serialised: string;
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
