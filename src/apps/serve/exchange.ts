import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RobotsClient } from '../../core/client/index.ts';
import type { ProfileName } from '../../core/lifecycle/index.ts';
import type { Reservation } from '../../core/pacing/index.ts';
import type { Decision } from '../../core/decision/index.ts';
import type { Metrics } from './metrics.ts';
import { BrokenPipeError } from '../answers/session.ts';
import { truncateToWidth } from '../answers/text/layout.ts';
import { jsonLine, withoutUserinfo } from '../../core/base/index.ts';

/** Limits that protect the service from slow or numerous requests. */
export interface ServiceLimits {
  /** Time in milliseconds after which a connection that neither sends nor takes anything is ended. Longer than the deadline of a fetch. */
  readonly idleMs: number;
  /** Time in milliseconds for the header section of a request to arrive, from the first byte or the connection on. */
  readonly headersMs: number;
  /** Maximum number of streams of questions, explanations and policies that are in progress or unread. */
  readonly largeAnswers: number;
}

export const DEFAULT_LIMITS: ServiceLimits = { idleMs: 120_000, headersMs: 10_000, largeAnswers: 16 };

export type Booking = Extract<Reservation, { status: 'booked' }>;

/** The shared state that handlers use. */
export interface Service {
  readonly client: RobotsClient;
  readonly profile: ProfileName;
  /** Agents for requests that name none, in order of preference. When empty, the client uses its own name. */
  readonly agents: readonly string[];
  /** `undefined` when prom-client is not installed. */
  readonly metrics: Metrics | undefined;
  /** Aborts when the service is to end. */
  readonly stopping: AbortSignal;
  /** Number of streams of questions, explanations and policies that are in progress or unread. */
  largeAnswers: number;
  readonly limits: ServiceLimits;
  /** Those whose end is awaited, by id, the oldest first. */
  readonly bookings: Map<string, Booking>;
}

/** The reason of a signal whose exchange has ended. It has no trace, which would cost more than a decision. */
const GONE = new BrokenPipeError();

/** One request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly service: Service;
  /** Path of the request, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The decision that the response has, for the log. */
  decision: Pick<Decision, 'agent' | 'allowed' | 'reason'> | undefined;
  #gone: AbortController | undefined;
  #hasLeft = false;

  constructor(request: IncomingMessage, response: ServerResponse, service: Service) {
    const { url = '' } = request;
    const start = url.indexOf('?');
    this.request = request;
    this.response = response;
    this.service = service;
    this.path = start < 0 ? url : url.slice(0, start);
    this.query = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  }

  /** Aborts when the requester has disconnected, or has received the whole response. */
  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      // Every pending question of a stream listens to it.
      setMaxListeners(0, this.#gone.signal);
      if (this.#hasLeft) this.#gone.abort(GONE);
    }
    return this.#gone.signal;
  }

  /** Ends the exchange: the connection has closed, or the response is sent. */
  leave(): void {
    this.#hasLeft = true;
    this.#gone?.abort(GONE);
  }
}

/** Characters of a path or a URL that a line has. */
const MAX_LENGTH = 2_000;

/**
 * Makes the function that is called when an exchange has ended, and writes a line of JSON for it: `time`, `method`, `path`,
 * the `url` or `origin` that was asked about, `agent`, `allowed` and `reason` of a decision, `status`, `durationMs`, `address`, and `aborted` when the requester did not
 * take the whole response.
 *
 * @param all Whether every request has a line. Failures (5xx) always have one.
 */
export function accessLog(
  write: (line: string) => void,
  all: boolean,
): (exchange: Exchange, durationMs: number) => void {
  return (exchange, durationMs) => {
    const { statusCode: status } = exchange.response;
    if (all || status >= 500) write(accessLine(exchange, durationMs));
  };
}

function accessLine({ request, response, path, query, decision }: Exchange, durationMs: number): string {
  const asked = (name: string): Record<string, string> => {
    const value = query.get(name);
    return value === null ? {} : { [name]: truncateToWidth(withoutUserinfo(value), MAX_LENGTH) };
  };
  return jsonLine({
    time: new Date().toISOString(),
    method: request.method,
    path: truncateToWidth(path, MAX_LENGTH),
    ...asked('url'),
    ...asked('origin'),
    ...(decision && { agent: decision.agent, allowed: decision.allowed, reason: decision.reason }),
    status: response.statusCode,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    address: request.socket.remoteAddress,
    aborted: response.writableFinished ? undefined : true,
  });
}
