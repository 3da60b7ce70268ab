import { z } from 'zod';
import type { Decision, DelayFrom } from '../../../core/decision/index.ts';
import {
  asked,
  decisionFields,
  delayMs,
  epochMs,
  type Fields,
  object,
  oneOf,
  retryAt,
  type Schema,
  schemaVersion,
  text,
} from './decision.ts';

/** The response of `POST /v1/reserve`. */
export interface ReservationResult {
  readonly schemaVersion: 1;
  readonly input: string;
  readonly status: 'booked' | 'deferred' | 'refused';
  readonly id?: string;
  readonly at?: number;
  readonly waitMs?: number;
  readonly delayMs?: number;
  readonly delayFrom?: DelayFrom;
  readonly retryAt?: number;
  readonly decision: Decision;
}

const fields: Fields<ReservationResult> = {
  schemaVersion,
  input: asked.input,
  status: oneOf({ booked: true, deferred: true, refused: true }).describe(
    'booked: wait for `waitMs`, send the request, and end it with /v1/done; deferred: nothing is booked, ask again at `retryAt`; refused: the URL may not be fetched',
  ),
  id: text.optional().describe('Of the booking, for /v1/done'),
  at: epochMs.optional().describe('When to send the request, in epoch milliseconds'),
  waitMs: z.number().optional().describe('Milliseconds from now until then'),
  delayMs: delayMs.optional().describe('Milliseconds between two requests to the site'),
  delayFrom: oneOf<DelayFrom>({
    'crawl-delay': true,
    'request-rate': true,
    'default-delay': true,
    'min-delay': true,
    latency: true,
    concurrency: true,
    'retry-after': true,
    'back-off': true,
  })
    .optional()
    .describe('What decides the time'),
  retryAt: retryAt.optional(),
  decision: object<Decision>(decisionFields),
};
export const reservation: Schema<ReservationResult> = object<ReservationResult>(fields);

/** The response of `POST /v1/done`. */
export interface DoneResult {
  readonly schemaVersion: 1;
  readonly id: string;
}
export const doneResult: Schema<DoneResult> = object<DoneResult>({ schemaVersion, id: text });
