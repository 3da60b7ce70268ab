/** `canfetch/otel`: OpenTelemetry spans from the client's tracing channels. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import {
  type Check,
  type ClientMessage,
  invalid,
  isFunction,
  optionTable,
  predicate,
  codeOf,
  omitUndefined,
  FETCH_FAILED,
} from '../../core/base/index.ts';
import { loadPeer } from '../../core/base/optional-peer.ts';
import type { DecisionMessage } from '../../core/decision/index.ts';
import type { RobotsRequestMessage } from '../../core/fetch/index.ts';
import { targetOf } from '../../core/url/index.ts';
import type { AttemptMessage } from '../../core/client/attempts.ts';
import type { CheckMessage } from '../../core/client/client-engine.ts';
import type { RobotsClient } from '../../core/client/robots-client.ts';
import type { Outcome } from '../../core/lifecycle/index.ts';

export interface TraceRobotsOptions {
  /** The client whose work has spans. @default all clients of the process */
  readonly client?: RobotsClient;
  /**
   * Whether decisions from memory have a span, too. The span takes longer than the decision, and `permits` is then
   * `undefined`.
   * @default false
   */
  readonly warm?: boolean;
}

/** Made by {@link traceRobots}. */
export interface RobotsTracing extends Disposable {
  /** Starts no more spans. Open spans are not ended. */
  close(): void;
}

/** The context of work, and the caller's context when it began. */
interface Frame {
  readonly own: Context;
  readonly callers: Context;
}

/** What a message of a tracing channel has when the work failed. */
interface Ended {
  readonly error?: unknown;
}

const checkOptions: Check = optionTable({
  client: predicate('a RobotsClient', (value) => isFunction(Reflect.get(Object(value), 'check'))),
  warm: predicate('true or false', (value) => typeof value === 'boolean'),
} satisfies Readonly<Record<keyof TraceRobotsOptions, Check>>);

/**
 * Makes OpenTelemetry spans for all clients of the process, or for one (`client`):
 *
 * - `canfetch.check`: a call that waits for the store or for the network;
 * - `canfetch.attempt`: an attempt to fetch a robots.txt. Its parent is the call that started it. Other calls that
 *   wait for it have `canfetch.shared` and a link to that call, or to the attempt;
 * - `GET`, within the attempt: each request, of kind CLIENT. Redirects are requests of their own.
 *
 * The parent of a call is the span that is active where the client, or a guard, is called. Decisions from memory have no
 * span unless `warm` is set. Attributes follow OpenTelemetry's conventions for HTTP, and `canfetch.*`. No span has user names
 * and passwords, values of header fields, or bodies.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also where `@opentelemetry/api` is not
 *   installed.
 *
 * @example
 * ```ts
 * import { trace } from '@opentelemetry/api';
 * import { traceRobots } from 'canfetch/otel';
 *
 * const tracing = traceRobots(trace.getTracer('crawler'));
 * ```
 */
export function traceRobots(tracer: Tracer, options: TraceRobotsOptions = {}): RobotsTracing {
  if (!isFunction(Reflect.get(Object(tracer), 'startSpan'))) {
    throw invalid('the tracer', 'a tracer of @opentelemetry/api', tracer);
  }
  checkOptions(options, '');
  return new Tracing(tracer, options);
}

class Tracing implements RobotsTracing {
  readonly #api: typeof OpenTelemetry = loadPeer('@opentelemetry/api', 'canfetch/otel', () =>
    createRequire(import.meta.url)('@opentelemetry/api'),
  );
  readonly #tracer: Tracer;
  readonly #client: object | undefined;
  /** The innermost call, attempt or request that the running code belongs to. */
  readonly #frames = new AsyncLocalStorage<Frame | undefined>();
  /** Open spans, by their message. */
  readonly #spans = new WeakMap<object, Span>();
  /** What other calls may wait for: the span of a call, then of its attempt. By client and origin. */
  readonly #shared = new WeakMap<object, Map<string, Span>>();
  readonly #endings: (() => void)[] = [];

  constructor(tracer: Tracer, { client, warm = false }: TraceRobotsOptions) {
    this.#tracer = tracer;
    this.#client = client;
    this.#trace('check', (about: CheckMessage) => this.#startCheck(about), checkEnd);
    this.#trace('attempt', (about: AttemptMessage) => this.#startAttempt(about), attemptEnd);
    this.#trace('robots-request', (about: RobotsRequestMessage) => this.#startRequest(about), requestEnd);
    if (!warm) return;
    const decisions = channel('canfetch:decision');
    const decided = (message: unknown): void => {
      if (this.#concerns(message as DecisionMessage)) this.#decided(message as DecisionMessage);
    };
    decisions.subscribe(decided);
    this.#endings.push(() => decisions.unsubscribe(decided));
  }

  close(): void {
    for (const end of this.#endings.splice(0)) end();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Starts a span with the work that is published on `canfetch:<name>`, and ends it with that work. */
  #trace<Message extends Ended & ClientMessage>(
    name: string,
    start: (message: Message) => Frame,
    attributesAtEnd: (message: Message) => Attributes,
  ): void {
    const { start: started, asyncEnd } = tracingChannel<unknown, object>(`canfetch:${name}`);
    const end = (message: unknown): void => this.#end(message as Message & object, attributesAtEnd);
    started.bindStore(this.#frames, (about) => {
      const message = about as Message;
      return this.#concerns(message) ? start(message) : this.#frames.getStore();
    });
    asyncEnd.subscribe(end);
    this.#endings.push(() => {
      started.unbindStore(this.#frames);
      asyncEnd.unsubscribe(end);
    });
  }

  #concerns({ client }: ClientMessage): boolean {
    return this.#client === undefined || this.#client === client;
  }

  #startCheck(message: CheckMessage): Frame {
    const { origin, shared } = message;
    const other = shared ? this.#shared.get(message.client)?.get(origin) : undefined;
    const frame = this.#start(message, 'canfetch.check', {
      attributes: checkStart(message),
      links: other === undefined ? [] : [{ context: other.spanContext() }],
    });
    if (!shared) this.#share(message);
    return frame;
  }

  #startAttempt(message: AttemptMessage): Frame {
    const frame = this.#start(message, 'canfetch.attempt', { attributes: attemptStart(message) });
    this.#share(message);
    return frame;
  }

  #startRequest(message: RobotsRequestMessage): Frame {
    return this.#start(message, message.method, {
      kind: this.#api.SpanKind.CLIENT,
      attributes: requestStart(message),
    });
  }

  #start(message: object, name: string, options: SpanOptions): Frame {
    const callers = this.#api.context.active();
    const frame = this.#frames.getStore();
    // The caller may have activated its own span inside; that span is then the parent.
    const parent = frame?.callers === callers ? frame.own : callers;
    const span = this.#tracer.startSpan(name, options, parent);
    this.#spans.set(message, span);
    return { own: this.#api.trace.setSpan(parent, span), callers };
  }

  #end<Message extends Ended>(
    message: Message & object,
    attributesAtEnd: (message: Message) => Attributes,
  ): void {
    const span = this.#spans.get(message);
    if (span === undefined) return;
    const attributes = attributesAtEnd(message);
    if (message.error !== undefined) attributes['error.type'] = errorType(message.error);
    span.setAttributes(attributes);
    if (attributes['error.type'] !== undefined) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    span.end();
    const { client, origin } = message as Partial<AttemptMessage>;
    const shared = client && this.#shared.get(client);
    if (origin !== undefined && shared?.get(origin) === span) shared.delete(origin);
  }

  #share(message: CheckMessage | AttemptMessage): void {
    const span = this.#spans.get(message);
    if (span === undefined) return;
    const spans = this.#shared.get(message.client) ?? new Map<string, Span>();
    this.#shared.set(message.client, spans.set(message.origin, span));
  }

  /** A span without duration for a decision from memory. */
  #decided({ decision, client }: DecisionMessage): void {
    const { origin, robots } = decision;
    if (robots.source === 'network' || robots.source === 'store') return;
    const url = origin + targetOf(decision.url);
    const message: CheckMessage = { url, origin, shared: false, client, result: decision };
    this.#start(message, 'canfetch.check', { attributes: checkStart(message) });
    this.#end(message, checkEnd);
  }
}

// The attributes of spans: OpenTelemetry's conventions for HTTP, and `canfetch.*`.

/** OpenTelemetry's conventions redact these in `url.full`: signatures and keys of storage services. */
const SECRET_PARAMETER = /([?&](?:AWSAccessKeyId|Signature|sig|X-Goog-Signature)=)[^&#]*/g;
const MAX_PATTERN = 200;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ftp:': 21 };

function checkStart({ url, origin, shared }: CheckMessage): Attributes {
  return {
    'url.full': redacted(url),
    'canfetch.origin': origin,
    ...(shared ? { 'canfetch.shared': true } : {}),
  };
}

function checkEnd({ result }: CheckMessage): Attributes {
  if (result === undefined) return {};
  const { agent, profile, state, reason, allowed, rule, robots } = result;
  return {
    'canfetch.agent': agent,
    'canfetch.profile': profile,
    'canfetch.state': state,
    'canfetch.reason': reason,
    'canfetch.allowed': allowed,
    'canfetch.source': robots.source,
    ...omitUndefined({ 'canfetch.sha256': robots.sha256 }),
    ...(rule === undefined
      ? {}
      : {
          'canfetch.rule.directive': rule.directive,
          'canfetch.rule.pattern': rule.pattern.slice(0, MAX_PATTERN),
          'canfetch.rule.line': rule.line,
        }),
  };
}

function attemptStart({ origin, revalidation }: AttemptMessage): Attributes {
  return { 'canfetch.origin': origin, 'canfetch.revalidation': revalidation };
}

function attemptEnd({ result }: AttemptMessage): Attributes {
  return result === undefined ? {} : { ...outcomeAttributes(result), 'canfetch.redirects': result.hops };
}

function requestStart({ method, url, redirects }: RobotsRequestMessage): Attributes {
  const { protocol, hostname, port } = new URL(url);
  const isHttp = method === 'GET';
  return {
    'url.full': redacted(url),
    'server.address': hostname,
    'server.port': Number(port) || DEFAULT_PORTS[protocol],
    ...(isHttp ? { 'http.request.method': method } : {}),
    ...(isHttp && redirects > 0 ? { 'http.request.resend_count': redirects } : {}),
  };
}

function requestEnd({ method, status, result }: RobotsRequestMessage): Attributes {
  const attributes = result === undefined ? {} : outcomeAttributes(result);
  if (status === undefined) return attributes;
  if (method === 'RETR') return { ...attributes, 'ftp.response.status_code': status };
  return {
    'http.response.status_code': status,
    ...(status < 400 ? {} : { 'error.type': String(status) }),
    ...attributes,
  };
}

function outcomeAttributes(outcome: Outcome): Attributes {
  const { kind } = outcome;
  return {
    'canfetch.outcome': kind,
    ...(kind === 'success' ? { 'http.response.body.size': outcome.body.length } : {}),
    ...(kind === 'unreachable' ? { 'error.type': outcome.error } : {}),
  };
}

/** `error.type`: the code of an error, else its name. */
function errorType(error: unknown): string {
  const code = codeOf(error);
  return code === FETCH_FAILED && error instanceof Error ? error.name : code;
}

function redacted(url: string): string {
  return url.replaceAll(SECRET_PARAMETER, '$1REDACTED');
}
