import { z } from 'zod';
import type { OriginPolicy, PolicyFile } from '../../../core/decision/index.ts';
import type { Diagnostic } from '../../../core/rules/index.ts';
import type { DiagnosticDescription } from '../../../core/rules/lint/findings.ts';
import {
  decisionFields,
  robots,
  type UsageRecord,
  count,
  epochMs,
  delayMs,
  type Fields,
  group,
  line,
  object,
  oneOf,
  retryAt,
  type Schema,
  schemaVersion,
  some,
  state,
  text,
} from './decision.ts';

export type DiagnosticRecord = Diagnostic & DiagnosticDescription;
export const diagnostic: Schema<DiagnosticRecord> = object<DiagnosticRecord>({
  code: some('string'),
  severity: oneOf({ error: true, warning: true, info: true }),
  line,
  column: line,
  text,
  message: text.describe('What is wrong'),
  hint: text.describe('What to do'),
  explanation: text.describe('Why it matters'),
  agent: text.optional(),
  meant: text.optional(),
  kind: text.optional(),
  agents: z.array(text).optional(),
  otherLine: line.optional(),
  otherLines: z.array(line).optional(),
  omitted: count.optional(),
});

/** A past or future event in the state of an origin. */
export interface TimelineEvent {
  /** Time in epoch milliseconds. */
  readonly at: number;
  readonly event:
    /** The response arrived (`answered`), or a 304 confirmed it (`confirmed`). */
    | 'answered'
    | 'confirmed'
    /** The last good copy arrived or was confirmed. */
    | 'copy'
    /** From this time, a question is answered from the cache and starts a refresh. */
    | 'refresh-ahead'
    /** From this time, a question waits for a new response. */
    | 'stale'
    | 'first-failure'
    | 'last-failure'
    /** From this time, a question starts the next attempt. */
    | 'retry'
    /** The next phase of the outage begins, if the outage lasts until this time. */
    | 'phase'
    | 'site';
  /** Short description: the treatment from then on, the status received, or the number of failures. */
  readonly detail?: string;
}

const timelineEvent = oneOf<TimelineEvent['event']>({
  answered: true,
  confirmed: true,
  copy: true,
  'refresh-ahead': true,
  stale: true,
  'first-failure': true,
  'last-failure': true,
  retry: true,
  phase: true,
  site: true,
});

/** A policy as plain data: without the parsed file and its bytes. */
export type PolicyData = Omit<OriginPolicy, 'rules' | 'file'> & {
  readonly dialect?: string;
  readonly file?: Omit<PolicyFile, 'body'>;
};
export const sitemaps: z.ZodType = z.array(
  object<OriginPolicy['sitemaps'][number]>({
    url: text.describe('Relative ones are resolved against the final URL of robots.txt, if there is one'),
    line,
    written: text.optional().describe('As written, if `url` is another'),
  }),
);
export const policyFields: Fields<PolicyData> = {
  origin: text.describe('The scheme, host and port that the policy is for, and no other'),
  profile: text,
  state: state.describe(
    'What is in force: the rules of the file, those of the last good copy, everything or nothing allowed',
  ),
  reason: oneOf<NonNullable<OriginPolicy['reason']>>({
    unavailable: true,
    restricted: true,
    unreachable: true,
    'unreachable-expired': true,
    'unreachable-allowed': true,
    override: true,
  }).optional(),
  because: decisionFields.because,
  robots,
  sha256: robots.shape.sha256,
  addressChecks: oneOf({ connections: true, literals: true }),
  attempt: some('object').optional(),
  lifetime: some('object').optional(),
  nextAttempt: some('object').optional(),
  suspect: robots.shape.suspect,
  failure: some('object').optional(),
  retryAt: retryAt.optional(),
  pacing: some('object').optional(),
  site: some('object').optional(),
  file: some('object').optional(),
  dialect: text.optional(),
  groups: z.array(some('object')),
  sitemaps,
  agent: text.describe('The name that `group` and the delays are for'),
  group: group.optional(),
  crawlDelayMs: delayMs.optional(),
  requestRateMs: delayMs.optional(),
  underProfiles: z.array(some('object')),
};
export const policyData: Schema<PolicyData> = object<PolicyData>(policyFields);

/** The response of `GET /v1/policy`. */
export interface PolicyResult extends PolicyData {
  readonly schemaVersion: 1;
  readonly timeline: readonly TimelineEvent[];
  readonly diagnostics: readonly DiagnosticRecord[];
  readonly usage?: UsageRecord;
}
export const timeline: z.ZodType = z.array(
  object<TimelineEvent>({
    at: epochMs,
    event: timelineEvent,
    detail: text.optional(),
  }),
);
export const policy: Schema<PolicyResult> = object<PolicyResult>({
  ...policyFields,
  schemaVersion,
  timeline,
  diagnostics: z.array(diagnostic),
  usage: decisionFields.usage,
});
