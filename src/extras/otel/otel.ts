/** `canfetch/otel`: OpenTelemetry spans from the client's tracing channels. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import {
  type Check,
  type ClientMessage,
  invalid,
  isFunction,
  loadPeer,
  omitUndefined,
  optionTable,
  predicate,
} from '../../core/base/index.ts';
import type { AttemptMessage, RobotsRequestMessage } from '../../core/fetch/index.ts';
import type { CheckMessage, PermitMessage } from '../../core/client/index.ts';
import type { RobotsClient } from '../../core/client/robots-client.ts';
import {
  attemptEnd,
  attemptStart,
  checkEnd,
  checkStart,
  errorType,
  permitEnd,
  permitStart,
  requestEnd,
  requestStart,
} from './span-attributes.ts';

export interface TraceRobotsOptions {
  /** The client whose work has spans. @default all clients of the process */
  readonly client?: RobotsClient;
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
  /** Set when the work failed. */
  readonly error?: unknown;
}

const checkOptions: Check = optionTable<keyof TraceRobotsOptions>({
  client: predicate('a RobotsClient', (value) => isFunction(Reflect.get(Object(value), 'check'))),
});

/**
 * Makes OpenTelemetry spans for all clients of the process, or for one (`client`):
 *
 * - `canfetch.check`: a call that waits for the store or for the network;
 * - `canfetch.attempt`: an attempt to fetch a robots.txt. Its parent is the call that started it. Other calls that
 *   wait for it have `canfetch.shared`;
 * - `GET`, within the attempt: each request for robots.txt, of kind CLIENT. Redirects are requests of their own;
 * - `canfetch.permit`: a request for a page that waits under `pacing`, for its turn or for the end of a pause.
 *
 * The parent of a call, and of a wait, is the span that is active where the client, or a guard, is called. Decisions from
 * memory, and requests for pages themselves, have no span. Attributes follow OpenTelemetry's conventions for HTTP, and `canfetch.*`. No span has user names
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
  const spans = new RobotsSpans(api, tracer, options.client);
  const close = (): void => spans.close();
  return { close, [Symbol.dispose]: close };
}

/** Makes the spans of work that the tracing channels publish. */
class RobotsSpans {
  readonly #api: typeof OpenTelemetry;
  readonly #tracer: Tracer;
  readonly #client: RobotsClient | undefined;
  /** The innermost work that the running code belongs to. */
  readonly #frames = new AsyncLocalStorage<Frame | undefined>();
  /** Open spans, by their message. */
  readonly #spans = new WeakMap<object, Span>();
  readonly #ends: (() => void)[] = [];

  constructor(api: typeof OpenTelemetry, tracer: Tracer, client: RobotsClient | undefined) {
    this.#api = api;
    this.#tracer = tracer;
    this.#client = client;
    this.#trace<CheckMessage>('check', () => 'canfetch.check', checkStart, checkEnd);
    this.#trace<AttemptMessage>('attempt', () => 'canfetch.attempt', attemptStart, attemptEnd);
    const { CLIENT } = api.SpanKind;
    this.#trace<RobotsRequestMessage>(
      'robots-request',
      ({ method }) => method,
      requestStart,
      requestEnd,
      CLIENT,
    );
    this.#trace<PermitMessage>('permit', () => 'canfetch.permit', permitStart, permitEnd);
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  /** Starts a span with the work that is published on `canfetch:<name>`, and ends it with that work. */
  #trace<Message extends Traced>(
    name: string,
    spanName: (message: Message) => string,
    attributesAtStart: (message: Message) => Attributes,
    attributesAtEnd: (message: Message) => Attributes,
    kind?: OpenTelemetry.SpanKind,
  ): void {
    const { start, asyncEnd } = tracingChannel<unknown, object>(`canfetch:${name}`);
    const onEnd = (message: unknown): void =>
      this.#end(message as Message, attributesAtEnd(message as Message));
    start.bindStore(this.#frames, (given) => {
      const message = given as Message;
      if (this.#client !== undefined && message.client !== this.#client) return this.#frames.getStore();
      const options = { attributes: attributesAtStart(message), ...omitUndefined({ kind }) };
      return this.#start(message, spanName(message), options);
    });
    asyncEnd.subscribe(onEnd);
    this.#ends.push(() => {
      start.unbindStore(this.#frames);
      asyncEnd.unsubscribe(onEnd);
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

  #end(message: Traced, attributes: Attributes): void {
    const span = this.#spans.get(message);
    if (span === undefined) return;
    if (message.error !== undefined) attributes['error.type'] = errorType(message.error);
    span.setAttributes(attributes);
    if (attributes['error.type'] !== undefined) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    span.end();
  }
}
