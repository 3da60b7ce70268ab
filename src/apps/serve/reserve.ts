import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonLine, omitUndefined } from '../../core/base/index.ts';
import { refusalIn } from '../../core/client/refusal-errors.ts';
import { agentsSchema, onlyKnown, readAs, readJson } from './request.ts';
import { agentOf } from './questions.ts';
import type { Decision } from '../../core/decision/index.ts';
import type { Booking, Service } from './exchange.ts';
import { type Handler, JSON_TYPE, Problem } from './reply.ts';

/** Longer than a URL, an agent and their JSON. */
const MAX_BYTES = 262_144;

/** The body of `POST /v1/reserve`. */
const reserveQuestion = z.strictObject({
  url: z.string(),
  agent: agentsSchema.optional(),
  /** How many bookings of the site may wait for their time. Without it, one request at a time. */
  ahead: z.int().min(0).max(1_000).optional(),
  /** The longest wait for the site; past it the request is deferred. */
  maxDelayMs: z.number().min(0).optional(),
});

/** `POST /v1/reserve`: books the next start at the site, or says when to ask again, or why not. */
export const reserve: Handler = async (exchange) => {
  const { request, query, service, signal } = exchange;
  onlyKnown(query, []);
  const { url, agent, ahead, maxDelayMs } = readAs(reserveQuestion, await readJson(request, MAX_BYTES));
  const named = agentOf(agent === undefined ? [] : [agent].flat(), service);
  const options = omitUndefined({ signal, ahead, maxDelayMs });
  const settled = await service.client.reserve(url, named, options).catch(refusedAnswer);
  const { status, decision, ...fields } = settled;
  exchange.decision = decision;
  const booked = settled.status === 'booked' ? { id: openBooking(settled, service) } : {};
  // JSON has no functions, so `done` and `release` are left out.
  const body = jsonLine({ input: url, status, ...booked, ...fields, decision });
  return { type: JSON_TYPE, body };
};

/** The answer for a URL that may not be fetched, of what `reserve` rejects with. */
function refusedAnswer(error: unknown): {
  readonly status: 'refused';
  readonly decision: Decision;
  readonly retryAt?: number;
} {
  const refusal = refusalIn(error);
  if (refusal === undefined) throw error;
  const { decision, retryAt } = refusal;
  return { status: 'refused', decision, ...omitUndefined({ retryAt }) };
}

const MAX_BOOKINGS = 10_000;
/** A response may come long after the permit of its request has ended by itself. */
const KEPT_MS = 600_000;

/** Keeps a booking until its end is told. Returns its id. */
function openBooking(booking: Booking, { bookings }: Service): string {
  const now = Date.now();
  for (const [id, { at }] of bookings) {
    if (at + KEPT_MS > now) break;
    bookings.delete(id);
  }
  if (bookings.size >= MAX_BOOKINGS) {
    booking.release();
    throw new Problem(
      503,
      'ERR_ROBOTS_BUSY',
      `Expected at most ${MAX_BOOKINGS} bookings that have not ended, got one more; end each with /v1/done`,
      { headers: { 'retry-after': '30' } },
    );
  }
  const id = randomUUID();
  bookings.set(id, booking);
  return id;
}

/** The body of `POST /v1/done`. */
const doneReport = z.strictObject({
  id: z.string(),
  status: z.int().min(100).max(999).optional(),
  /** The header field of the response, as received. */
  retryAfter: z.union([z.string(), z.number()], { error: 'the value of the header field' }).optional(),
  /** Why there is no response: a code, such as ECONNRESET. */
  error: z.string().optional(),
  /** When the request was sent, in epoch milliseconds, if it was late. */
  startedAt: z.number().optional(),
  /** `false`: the request was not sent, and its time is free again. */
  sent: z.boolean().optional(),
});

/** `POST /v1/done`: the request of a booking has ended. */
export const done: Handler = async ({ request, query, service }) => {
  onlyKnown(query, []);
  const { id, status, retryAfter, error, startedAt, sent } = readAs(
    doneReport,
    await readJson(request, MAX_BYTES),
  );
  const booking = service.bookings.get(id);
  service.bookings.delete(id);
  if (booking === undefined) {
    throw new Problem(
      404,
      'ERR_ROBOTS_UNKNOWN_BOOKING',
      'Expected the id of a booking that has not ended, got another; each is ended once, within ten minutes',
    );
  }
  if (sent === false) booking.release();
  else {
    booking.done(
      omitUndefined({
        status,
        headers: retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) },
        error: error === undefined ? undefined : Object.assign(new Error(error), { code: error }),
        startedAt,
      }),
    );
  }
  return { type: JSON_TYPE, body: jsonLine({ id }) };
};
