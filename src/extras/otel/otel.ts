/** `canfetch/otel`: OpenTelemetry spans from the client's tracing channels. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import {
  type Check,
  type ClientMessage,
  invalid,
  isFunction,
  loadPeer,
  optionTable,
  predicate,
  codeOf,
  omitUndefined,
  FETCH_FAILED,
} from '../../core/base/index.ts';
import type { DecisionMessage } from '../../core/decision/index.ts';
import type { AttemptMessage, RobotsRequestMessage } from '../../core/fetch/index.ts';
import { targetOf } from '../../core/url/index.ts';
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

/** What a message of a tracing channel has. */
interface Traced extends ClientMessage {
  readonly origin?: string;
  /** Set when the work failed. */
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
  const api: typeof OpenTelemetry = loadPeer('@opentelemetry/api', 'canfetch/otel', () =>
    createRequire(import.meta.url)('@opentelemetry/api'),
  );
  const { client, warm = false } = options;
  /** The innermost call, attempt or request that the running code belongs to. */
  const frames = new AsyncLocalStorage<Frame | undefined>();
  /** Open spans, by their message. */
  const spans = new WeakMap<object, Span>();
  /** What other calls may wait for: the span of a call, then of its attempt. By client and origin. */
  const shared = new WeakMap<object, Map<string, Span>>();
  const ends: (() => void)[] = [];

  const start = (message: object, name: string, spanOptions: SpanOptions): Frame => {
    const callers = api.context.active();
    const frame = frames.getStore();
    // The caller may have activated its own span inside; that span is then the parent.
    const parent = frame?.callers === callers ? frame.own : callers;
    const span = tracer.startSpan(name, spanOptions, parent);
    spans.set(message, span);
    return { own: api.trace.setSpan(parent, span), callers };
  };

  const share = (message: CheckMessage | AttemptMessage): void => {
    const span = spans.get(message);
    if (span === undefined) return;
    const ofClient = shared.get(message.client) ?? new Map<string, Span>();
    shared.set(message.client, ofClient.set(message.origin, span));
  };

  const end = (message: Traced, attributes: Attributes): void => {
    const span = spans.get(message);
    if (span === undefined) return;
    if (message.error !== undefined) attributes['error.type'] = errorType(message.error);
    span.setAttributes(attributes);
    if (attributes['error.type'] !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
    const ofClient = shared.get(message.client);
    if (message.origin !== undefined && ofClient?.get(message.origin) === span)
      ofClient.delete(message.origin);
  };

  const isWanted = (message: ClientMessage): boolean => client === undefined || message.client === client;

  /** Starts a span with the work that is published on `canfetch:<name>`, and ends it with that work. */
  const traceWork = <Message extends Traced>(
    name: string,
    startWork: (message: Message) => Frame,
    attributesAtEnd: (message: Message) => Attributes,
  ): void => {
    const { start: started, asyncEnd } = tracingChannel<unknown, object>(`canfetch:${name}`);
    const onEnd = (message: unknown): void => end(message as Message, attributesAtEnd(message as Message));
    started.bindStore(frames, (message) =>
      isWanted(message as Message) ? startWork(message as Message) : frames.getStore(),
    );
    asyncEnd.subscribe(onEnd);
    ends.push(() => {
      started.unbindStore(frames);
      asyncEnd.unsubscribe(onEnd);
    });
  };

  traceWork<CheckMessage>(
    'check',
    (message) => {
      const other = message.shared ? shared.get(message.client)?.get(message.origin) : undefined;
      const frame = start(message, 'canfetch.check', {
        attributes: checkStart(message),
        links: other === undefined ? [] : [{ context: other.spanContext() }],
      });
      if (!message.shared) share(message);
      return frame;
    },
    checkEnd,
  );
  traceWork<AttemptMessage>(
    'attempt',
    (message) => {
      const frame = start(message, 'canfetch.attempt', { attributes: attemptStart(message) });
      share(message);
      return frame;
    },
    attemptEnd,
  );
  traceWork<RobotsRequestMessage>(
    'robots-request',
    (message) =>
      start(message, message.method, { kind: api.SpanKind.CLIENT, attributes: requestStart(message) }),
    requestEnd,
  );
  if (warm) {
    /** A span without duration for a decision from memory. */
    const onDecision = (published: unknown): void => {
      const { decision, client: of } = published as DecisionMessage;
      const { origin, robots } = decision;
      if (!isWanted({ client: of }) || robots.source === 'network' || robots.source === 'store') return;
      const url = origin + targetOf(decision.url);
      const message: CheckMessage = { url, origin, shared: false, client: of, result: decision };
      start(message, 'canfetch.check', { attributes: checkStart(message) });
      end(message, checkEnd(message));
    };
    subscribe('canfetch:decision', onDecision);
    ends.push(() => unsubscribe('canfetch:decision', onDecision));
  }

  const close = (): void => {
    for (const each of ends.splice(0)) each();
  };
  return { close, [Symbol.dispose]: close };
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
