import { z } from 'zod';
import type { Decision, OriginPolicy, PolicyFile } from '../../decision/index.ts';
import type { RobotsSource } from '../../lifecycle/index.ts';
import type { Diagnostic, OtherRecord } from '../../rules/index.ts';
import type { DiagnosticDescription } from '../../rules/lint/describe-diagnostic.ts';
import {
  agent,
  count,
  delayMs,
  fetchedAt,
  type Fields,
  group,
  GROUP,
  line,
  LINES,
  object,
  oneOf,
  origin,
  profile,
  retryAt,
  type RunnerUp,
  runnerUp,
  type Schema,
  schemaVersion,
  some,
  state,
  text,
  url,
  VERDICT,
} from './fields.ts';
import {
  asked,
  type Asked,
  decisionFields,
  error,
  robots,
  type UsageRecord,
  verdict,
  type VerdictRecord,
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
  otherLine: line.optional(),
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

/** A policy as plain data: without the parsed file and its octets. */
export type PolicyData = Omit<OriginPolicy, 'rules' | 'file'> & {
  readonly dialect?: string;
  readonly file?: Omit<PolicyFile, 'body'>;
};
const sitemaps = z
  .array(
    object<OriginPolicy['sitemaps'][number]>({
      url: text.describe('Relative ones are resolved against the final URL of robots.txt, if there is one'),
      line,
      written: text.optional().describe('As written, if `url` is another'),
    }),
  )
  .meta({ examples: [[]] });
const policyFields: Fields<PolicyData> = {
  origin: origin.describe('The scheme, host and port that the policy is for, and no other'),
  profile,
  state: state.describe(
    'What is in force: the rules of the file, those of the last good copy, everything or nothing allowed',
  ),
  reason: oneOf<NonNullable<OriginPolicy['reason']>>({
    unavailable: true,
    restricted: true,
    unreachable: true,
    'unreachable-expired': true,
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
  pause: some('object').optional(),
  site: some('object').optional(),
  file: some('object').optional(),
  dialect: text.optional(),
  groups: z.array(some('object')).meta({ examples: [[GROUP]] }),
  sitemaps,
  agent: agent.describe('The name that `group` and the delays are for'),
  group: group.optional(),
  crawlDelayMs: delayMs.optional(),
  requestRateMs: delayMs.optional(),
  underProfiles: z.array(some('object')),
};
export const policyData: Schema<PolicyData> = object<PolicyData>(policyFields);

/** The answer of `GET /v1/policy`. */
export interface PolicyAnswer extends PolicyData {
  readonly schemaVersion: 1;
  readonly timeline: readonly TimelineEvent[];
  readonly diagnostics: readonly DiagnosticRecord[];
  readonly usage?: UsageRecord;
}
const timeline = z.array(
  object<TimelineEvent>({
    at: fetchedAt,
    event: timelineEvent,
    detail: text.optional(),
  }),
);
export const policy: Schema<PolicyAnswer> = object<PolicyAnswer>({
  ...policyFields,
  schemaVersion,
  timeline,
  diagnostics: z.array(diagnostic),
  usage: decisionFields.usage,
});

/** The lines, groups, records and diagnostics of a file. */
export interface FileParts {
  readonly lines: readonly string[];
  readonly groups: PolicyData['groups'];
  readonly otherRecords: readonly OtherRecord[];
  readonly sitemaps: PolicyData['sitemaps'];
  readonly diagnostics: readonly DiagnosticRecord[];
  readonly groupRanges: readonly GroupRanges[];
}

/** The lines of a group: its user-agent lines, its rules and its other records. */
export interface GroupRanges {
  /** The name of the group, as `group.agent` of the verdicts that it applies to. */
  readonly agent: string;
  /** Runs of lines, [first, last], 1-based, in order. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** The number of further runs. */
  readonly omitted?: number;
}
const fileParts: Fields<FileParts> = {
  lines: z.array(text).meta({ examples: [LINES] }),
  groups: policyFields.groups,
  otherRecords: z.array(some('object')),
  sitemaps,
  diagnostics: z.array(diagnostic),
  groupRanges: z
    .array(
      object<GroupRanges>({
        agent: group.shape.agent,
        ranges: z.array(z.array(line)),
        omitted: count.optional(),
      }),
    )
    .describe(
      'The lines of the groups that apply: runs of first and last line, by `group.agent` of the verdicts',
    )
    .meta({ examples: [[{ agent: '*', ranges: [[1, 3]] }]] }),
};

/** The answer of `GET /v1/explain`. The parts of the file are absent when there is none. */
export type ExplanationAnswer = Asked &
  Omit<Decision, 'usage'> &
  Partial<FileParts> & {
    readonly now: number;
    readonly runnerUp?: RunnerUp;
    readonly verdicts: readonly VerdictRecord[];
    readonly underProfiles: readonly object[];
    readonly timeline: readonly TimelineEvent[];
    readonly lifetimeReason?: string;
    readonly cause?: string;
    readonly policy: PolicyData;
    readonly usage?: UsageRecord;
  };
export const explanation: Schema<ExplanationAnswer> = object<ExplanationAnswer>({
  ...asked,
  ...decisionFields,
  now: fetchedAt,
  runnerUp: runnerUp.optional(),
  verdicts: z.array(verdict),
  underProfiles: z.array(some('object')),
  timeline,
  lifetimeReason: text.optional(),
  cause: text.optional().describe('What the last request for robots.txt came to, when it failed'),
  policy: policyData,
  lines: fileParts.lines.optional(),
  groups: fileParts.groups.optional(),
  otherRecords: fileParts.otherRecords.optional(),
  sitemaps: fileParts.sitemaps.optional(),
  diagnostics: fileParts.diagnostics.optional(),
  groupRanges: fileParts.groupRanges.optional(),
});

/** The answer of `POST /v1/explain`. */
export interface PastedAnswer extends FileParts {
  readonly schemaVersion: 1;
  readonly profile: string;
  readonly dialect: string;
  readonly truncated: boolean;
  readonly suspect?: RobotsSource['suspect'];
  readonly results: readonly {
    readonly input: string;
    readonly verdicts?: readonly VerdictRecord[];
    readonly error?: { readonly code: string; readonly message: string };
  }[];
}
export const pastedAnswer: Schema<PastedAnswer> = object<PastedAnswer>({
  schemaVersion,
  profile,
  dialect: profile,
  truncated: z.boolean().meta({ examples: [false] }),
  suspect: robots.shape.suspect,
  results: z.array(
    object<PastedAnswer['results'][number]>({
      input: url,
      verdicts: z
        .array(verdict)
        .optional()
        .meta({ examples: [[VERDICT]] }),
      error: error.optional(),
    }),
  ),
  ...fileParts,
});
