import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonLine, omitUndefined } from '../../core/base/index.ts';
import { refusalIn } from '../../core/client/refusal-errors.ts';
import type { DoneResult, ReservationResult } from '../answers/schema/lines.ts';
import { onlyKnown, readAs, readJson } from './request.ts';
import { agentOf } from './check.ts';
import type { Booking, Service } from './exchange.ts';
import { type Handler, JSON_TYPE, Problem } from './reply.ts';

/** Longer than a URL, an agent and their JSON. */
const MAX_BYTES = 262_144;

interface ReserveQuestion {
  readonly url: string;
  readonly agent?: string | readonly string[] | undefined;
  readonly ahead?: number | undefined;
  readonly maxDelayMs?: number | undefined;
}

/** The body of `POST /v1/reserve`. */
export const reserveQuestion: z.ZodType<ReserveQuestion> = z.strictObject({
  url: z.string(),
  agent: z
    .union([z.string(), z.array(z.string()).min(1)], { error: 'a string or a list of strings' })
    .optional(),
  ahead: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe('How many bookings of the site may wait for their time. Without it, one request at a time'),
  maxDelayMs: z
    .number()
    .min(0)
    .optional()
    .describe('The longest wait for the site; past it the request is deferred'),
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
  const body = jsonLine<ReservationResult>({ input: url, status, ...booked, ...fields, decision });
  return { type: JSON_TYPE, body };
};

/** The answer for a URL that may not be fetched, of what `reserve` rejects with. */
function refusedAnswer(
  error: unknown,
): Pick<ReservationResult, 'decision' | 'retryAt'> & { status: 'refused' } {
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

interface DoneReport {
  readonly id: string;
  readonly status?: number | undefined;
  readonly retryAfter?: string | number | undefined;
  readonly error?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly sent?: boolean | undefined;
}

/** The body of `POST /v1/done`. */
export const doneReport: z.ZodType<DoneReport> = z.strictObject({
  id: z.string().describe('Of the booking'),
  status: z.int().min(100).max(999).optional().describe('Of the response'),
  retryAfter: z
    .union([z.string(), z.number()], { error: 'the value of the header field' })
    .optional()
    .describe('The header field `Retry-After` of the response, as received'),
  error: z.string().optional().describe('Why there is no response: a code, such as ECONNRESET'),
  startedAt: z
    .number()
    .optional()
    .describe('When the request was sent, in epoch milliseconds, if it was late'),
  sent: z.boolean().optional().describe('false: the request was not sent, and its time is free again'),
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
  return { type: JSON_TYPE, body: jsonLine<DoneResult>({ id }) };
};
