import { Readable } from 'node:stream';
import { RobotsInvalidOptionsError, RobotsInvalidUrlError } from '../../core/base/index.ts';
import { isSentAsGiven, sentUrl } from '../../core/url/index.ts';
import { exchange, type LibraryCall } from '../shared/exchange.ts';
import type { ResponseHead, EditableHeaders, NodeHeaders, ResponseFields } from '../shared/headers.ts';
import type { Guard } from '../shared/guard.ts';
import type { RequestOptions } from '../shared/admission.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import { ignoredBecause } from '../shared/options.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import { isNodeStream, observeNodeStream } from '../shared/response-body.ts';
import { markRetryAt } from '../shared/not-now.ts';
import { type AxiosLike, bareInstance, usesFetch } from './instance.ts';

/** The part of axios's response that the guard reads. */
interface AxiosResponseLike {
  readonly status: number;
  readonly headers: NodeHeaders;
  /** With `responseType: 'stream'` a Node stream. */
  readonly data?: unknown;
  config: Config;
  /** Over Node's HTTP: a `ClientRequest`. */
  readonly request?: unknown;
}

/** The request of a redirect, as axios has worked it out: options of Node's `request`. */
interface RedirectOptions {
  readonly href: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly protocol?: string;
  readonly hostname?: string;
  readonly port?: string | number;
  /** Over a proxy the whole URL. */
  readonly path?: string;
  auth?: string | undefined;
}

type BeforeRedirect = (
  options: RedirectOptions,
  response: { readonly statusCode: number; readonly headers: NodeHeaders },
  ...details: unknown[]
) => void;

/** The part of axios's request config that the guard reads and writes. */
export interface Config {
  readonly url?: string;
  readonly method?: string;
  readonly headers?: EditableHeaders;
  readonly data?: unknown;
  readonly auth?: { readonly username?: string; readonly password?: string | undefined } | undefined;
  readonly signal?: AbortSignal;
  readonly cancelToken?: { toAbortSignal(): AbortSignal & { readonly unsubscribe?: () => void } };
  readonly maxRedirects?: number;
  readonly beforeRedirect?: BeforeRedirect;
  readonly robots?: unknown;
  adapter?: unknown;
  env?: { readonly fetch?: unknown };
  fetchOptions?: object;
}

type Adapter = (config: Config) => Promise<AxiosResponseLike>;

const FETCH_LATE =
  "Expected `adapter: 'fetch'` before the guard, got it from an interceptor that runs after the guard; add that one after it";

/** The requests that axios sends over Node's HTTP. `guardFetch` guards requests over `fetch`. */
export class NodeRequests {
  readonly #instance: AxiosLike;
  readonly #guard: Guard;
  readonly #sender: ReturnType<typeof bareInstance>;
  /** A config may be sent again. */
  readonly #guarded = new WeakSet<Adapter>();

  constructor(instance: AxiosLike, guard: Guard) {
    this.#instance = instance;
    this.#guard = guard;
    this.#sender = bareInstance(instance);
  }

  /** Puts an adapter in place of that of `config`, and of one that a later interceptor sets: it has the final URL. */
  guard(config: Config): Config {
    let adapter = this.#adapter(config.adapter);
    return Object.defineProperty(config, 'adapter', {
      configurable: true,
      enumerable: true,
      get: () => adapter,
      set: (chosen: unknown) => {
        adapter = this.#adapter(chosen);
      },
    });
  }

  #adapter(inner: unknown): Adapter {
    if (this.#guarded.has(inner as Adapter)) return inner as Adapter;
    const guarded: Adapter = (config) => this.#send(config, inner);
    this.#guarded.add(guarded);
    return guarded;
  }

  async #send(config: Config, adapter: unknown): Promise<AxiosResponseLike> {
    if (usesFetch(adapter)) throw new RobotsInvalidOptionsError(FETCH_LATE);
    const { cancelToken, headers } = config;
    const text = this.#instance.getUri(config);
    const url = urlOf(sentUrl(text));
    if (headers !== undefined) this.#guard.identity?.identify(headers);
    const cancelled = config.signal === undefined ? cancelToken?.toAbortSignal() : undefined;
    const signal = config.signal ?? cancelled;
    const options = { signal, because: ignoredBecause(config.robots) };
    const planned = this.#guard.plan(url, options);
    const first = { ...config, ...(isSentAsGiven(text) ? {} : onlyUrl(url)), adapter };
    try {
      return await exchange(planned, new NodeCall(this.#sender, config, first, url, options));
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      // axios checks the signal first, and rejects with its own error, which `isCancel` recognizes.
      return this.#sender.request({ ...config, adapter: () => Promise.reject(error) });
    } finally {
      cancelled?.unsubscribe?.();
    }
  }
}

/** The config of one hop. */
type Hop = Config & { readonly url: string };

interface Redirected extends ResponseHead {
  readonly next: Hop;
}

interface Answered extends ResponseHead {
  readonly response: AxiosResponseLike;
  /** The error of a status that `validateStatus` does not accept. */
  readonly error?: object;
}

type Sent = Redirected | Answered;

/** The call of axios around the hops transforms what they send and return. */
const UNCHANGED = { transformRequest: [], transformResponse: [] };

/** The default of follow-redirects, which axios uses. */
const MAX_REDIRECTS = 21;

/** A call of axios, hop by hop. axios works out each redirect, and `beforeRedirect` keeps it from following. */
class NodeCall implements LibraryCall<Hop, Sent, AxiosResponseLike> {
  readonly options: RequestOptions;
  readonly #sender: ReturnType<typeof bareInstance>;
  readonly #given: Config;
  readonly #first: Config;
  /** Of the URL that the caller gave. */
  readonly #origin: string;
  readonly #body: RepeatedStream | undefined;
  #redirects = 0;

  constructor(
    sender: ReturnType<typeof bareInstance>,
    given: Config,
    first: Config,
    { origin }: URL,
    options: RequestOptions,
  ) {
    this.#origin = origin;
    this.options = options;
    this.#sender = sender;
    this.#given = given;
    this.#first = first;
    const { data, maxRedirects } = given;
    // axios asks a form of the package `form-data` for its header fields.
    if (data instanceof Readable && maxRedirects !== 0 && !('getHeaders' in data))
      this.#body = new RepeatedStream(data);
  }

  async send(hop: Hop | undefined, request: GuardedRequest): Promise<Sent> {
    const config = hop ?? this.#first;
    const { maxRedirects = MAX_REDIRECTS } = config;
    let next: Redirected | undefined;
    try {
      const response: AxiosResponseLike = await this.#sender.request({
        ...config,
        ...UNCHANGED,
        ...(this.#body !== undefined && config.data !== undefined && { data: this.#body.stream() }),
        // 0 would be no limit that was passed, but a caller who wants no redirects.
        maxRedirects: maxRedirects === 0 ? 0 : maxRedirects - this.#redirects || -1,
        beforeRedirect: (options: RedirectOptions, response: Head, ...details: unknown[]): void => {
          const redirected = this.#redirected(config, options, response, details);
          // follow-redirects knows no other schemes, and fails with its own error.
          if (options.protocol !== 'http:' && options.protocol !== 'https:') {
            request.onResponse(response.statusCode, response.headers);
            return;
          }
          next = redirected;
          throw new Error('The guard follows this redirect');
        },
      });
      return this.#answered(response, hop);
    } catch (error) {
      if (next !== undefined) return next;
      const failed: { config?: Config; response?: AxiosResponseLike } = Object(error);
      if (failed.config !== undefined) failed.config = this.#given;
      if (failed.response === undefined) throw error;
      return { ...this.#answered(failed.response, hop), error: failed };
    }
  }

  #answered(response: AxiosResponseLike, hop: Hop | undefined): Answered {
    response.config = this.#given;
    // As after a redirect that axios follows.
    const { res }: { res?: { responseUrl?: string } } = Object(response.request);
    if (hop !== undefined && res?.responseUrl !== undefined) res.responseUrl += new URL(hop.url).hash;
    const { status, headers } = response;
    return { status, headers: linesOf(response) ?? { ...headers }, response };
  }

  #redirected(config: Config, options: RedirectOptions, response: Head, details: unknown[]): Redirected {
    // Before the caller's function: what it changes is sent.
    const keepsBody = options.method === config.method?.toUpperCase();
    const { auth, beforeRedirect } = this.#given;
    // As axios does: for the origin that the caller gave them for, also when a redirect leads back.
    if (auth !== undefined)
      options.auth =
        new URL(options.href).origin === this.#origin
          ? `${auth.username ?? ''}:${auth.password ?? ''}`
          : undefined;
    const before = { ...options };
    beforeRedirect?.(options, response, ...details);
    if (keepsBody && this.#body === undefined && config.data instanceof Readable)
      throw new TypeError(
        'Expected a body that can be sent again after a redirect, got a form of `form-data`',
      );
    const { headers, statusCode: status } = response;
    const [username, password] = options.auth?.split(/:(.*)/s) ?? [];
    const url = urlOf(sentUrl(targetOf(options, before)));
    url.username = url.password = '';
    const next: Hop = {
      ...config,
      ...onlyUrl(url),
      method: options.method,
      headers: { ...unsentFields(config.headers), ...options.headers } as unknown as EditableHeaders,
      data: keepsBody ? config.data : undefined,
      auth: username === undefined ? undefined : { username, password },
    };
    return { status, headers, next };
  }

  follows(sent: Sent): boolean {
    return 'next' in sent;
  }

  next(_hop: Hop | undefined, sent: Sent): Hop {
    this.#redirects += 1;
    return (sent as Redirected).next;
  }

  failed(error: unknown, request: GuardedRequest): unknown {
    const { code, request: sent }: { code?: unknown; request?: unknown } = Object(error);
    // axios refuses a body above `maxBodyLength` before there is a request.
    if (code === 'ERR_BAD_REQUEST' && sent === undefined) request.withdraw();
    else request.fail(error);
    return error;
  }

  respond(sent: Sent, request: GuardedRequest): AxiosResponseLike {
    const { response, error } = sent as Answered;
    markRetryAt(response, request);
    // axios sets `data` when the body has come: without it, the body has broken off.
    if (error !== undefined && response.data === undefined) request.fail(error);
    // The body of an error is rarely read.
    if (error === undefined && isNodeStream(response.data) && request.watchesBody) {
      observeNodeStream(response.data, request);
      request.awaitReader();
    } else request.finish();
    if (error !== undefined) throw error;
    return response;
  }

  refuse(refusal: Refusal): never {
    throw refusal;
  }

  discard(sent: Sent): void {
    if ('response' in sent && isNodeStream(sent.response.data)) sent.response.data.destroy();
  }
}

type Head = Parameters<BeforeRedirect>[1];

/** A stream that can be sent again: what was read of it is kept, as axios does. */
class RepeatedStream {
  readonly #source: AsyncIterator<unknown>;
  readonly #read: Promise<IteratorResult<unknown>>[] = [];

  constructor(source: Readable) {
    this.#source = source[Symbol.asyncIterator]();
  }

  stream(): Readable {
    return Readable.from(this.#values(), { objectMode: false });
  }

  async *#values(): AsyncGenerator<unknown> {
    for (let at = 0; ; at++) {
      const { done, value } = await (this.#read[at] ??= this.#source.next());
      if (done === true) return;
      yield value;
    }
  }
}

/** A URL that has its parameters. */
function onlyUrl({ href }: URL): { readonly url: string } {
  return { url: href, ...{ baseURL: undefined, params: undefined } };
}

/** Where a redirect leads, with what the caller's `beforeRedirect` has changed of the options that Node reads. */
function targetOf(options: RedirectOptions, before: RedirectOptions): string {
  const changed = (name: 'protocol' | 'hostname' | 'port' | 'path'): boolean =>
    options[name] !== before[name];
  const url = new URL((changed('path') && options.path) || before.href, before.href);
  for (const name of ['protocol', 'hostname', 'port'] as const)
    if (changed(name)) url[name] = String(options[name] ?? '');
  return url.href;
}

/** The fields that the caller has turned off by `false`. */
function unsentFields(headers: object | undefined): object {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value === false));
}

/** All lines of the header section, where axios shows the response of Node: of some fields `headers` has one line. */
function linesOf({ request }: AxiosResponseLike): ResponseFields | undefined {
  const { res }: { res?: unknown } = Object(request);
  const { rawHeaders }: { rawHeaders?: unknown } = Object(res);
  return Array.isArray(rawHeaders) ? rawHeaders : undefined;
}

function urlOf(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new RobotsInvalidUrlError(text, { cause });
  }
}
