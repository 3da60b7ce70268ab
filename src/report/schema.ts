/**
 * The one description of the answers of the command, the service and the tools for AI agents. OpenAPI's components and
 * examples and the outputs of the tools are made from it. A field that a type has and its schema has not does not compile.
 */
import { z } from 'zod';
import {
  type Decision,
  type DecisionUsage,
  type OriginPolicy,
  type PolicyFile,
  PURPOSES,
  REASONS,
} from '../decision/index.ts';
import {
  ORIGIN_STATES,
  profileNames,
  ROBOTS_SOURCES,
  type RobotsSource,
  SUSPECTS,
} from '../lifecycle/index.ts';
import type {
  Diagnostic,
  Explanation,
  MatchedGroup,
  MatchedRule,
  OtherRecord,
  Preference,
  UsageSource,
} from '../rules/index.ts';
import type { DiagnosticDescription } from '../rules/lint/describe-diagnostic.ts';
import type { FileDecision, FileSource } from './file-decision.ts';

/** A schema for every field of `Data`. */
type Fields<Data> = { readonly [Name in keyof Data]-?: z.ZodType };
export type Schema<Data> = z.ZodObject<Fields<Data>>;

function object<Data>(fields: Fields<Data>): Schema<Data> {
  return z.object(fields);
}

/** All values of a union, which the compiler holds to be whole. */
function oneOf<Value extends string>(values: Readonly<Record<Value, true>>): z.ZodType {
  return z.enum(Object.keys(values));
}

/** A value that is not described further. */
const some = (type: 'object' | 'string'): z.ZodType =>
  z.custom((value) => typeof value === type).meta({ type });

/** The examples are of a site whose robots.txt has these lines. */
const LINES = ['User-agent: *', 'Disallow: /private', 'Allow: /private/press'];
const RULE = { directive: 'disallow', pattern: '/private', line: 2 };
const GROUP = {
  agentLines: [{ names: ['*'], written: '*', line: 1, block: 0 }],
  rules: [RULE, { directive: 'allow', pattern: '/private/press', line: 3 }],
};
const VERDICT = { agent: 'ExampleBot', allowed: false, reason: 'rule', rule: RULE };
const FETCHED_AT = 1_795_268_260_000;
const text = z.string();
const line = z.int().min(1);
const count = z.int().min(0);
const epochMs = z.number().describe('Epoch milliseconds');
const fetchedAt = epochMs.meta({ examples: [FETCHED_AT] });
const staleAt = epochMs.meta({ examples: [FETCHED_AT + 3_550_000] });
const url = text.meta({ examples: ['https://example.com/private/report'] });
const origin = text.meta({ examples: ['https://example.com'] });
const agent = text.meta({ examples: ['ExampleBot'] });
const profile = text.meta({ examples: [profileNames[0]] });
const preference = oneOf<Preference>({ disallow: true, allow: true, unknown: true });
const state = z.enum(ORIGIN_STATES);
const delayMs = z.number().describe('Milliseconds that the site asks for between two requests');
const retryAt = epochMs.describe('Epoch milliseconds from which to ask again, not before');
const schemaVersion = z.literal(1);

export const rule: Schema<MatchedRule> = object<MatchedRule>({
  directive: oneOf({ disallow: true, allow: true }),
  pattern: text,
  line,
})
  .describe('A rule with its line in robots.txt')
  .meta({ examples: [RULE] });

export const group: Schema<MatchedGroup> = object<MatchedGroup>({
  agent: text,
  lines: z.array(line),
  omitted: count.optional(),
})
  .describe('The group that applies: its name, the first 100 lines that name it, and how many more there are')
  .meta({ examples: [{ agent: '*', lines: [1] }] });

type RunnerUp = NonNullable<Explanation['runnerUp']>;
const runnerUp = object<RunnerUp>({
  rule,
  lost: oneOf({ shorter: true, tie: true, later: true }),
}).describe('The rule that came closest to deciding, and why it lost');

export const robots: Schema<RobotsSource> = object<RobotsSource>({
  url: text.meta({ examples: ['https://example.com/robots.txt'] }),
  finalUrl: text.describe('Where redirects led').meta({ examples: ['https://example.com/robots.txt'] }),
  hops: count.describe('The number of redirects').meta({ examples: [0] }),
  status: z
    .int()
    .optional()
    .meta({ examples: [200] }),
  error: text.optional(),
  fetchedAt: fetchedAt.optional(),
  staleAt: staleAt.optional(),
  sha256: text
    .optional()
    .describe('SHA-256 of the octets whose rules decide, in hex: what `sha256sum` says of the file')
    .meta({ examples: ['b9af6f3bb3d3a6336cabd95424d0362882b2059c9e0bab52eb4225cfa6c12052'] }),
  truncated: z
    .literal(true)
    .optional()
    .describe('The file is longer than what is read; the rest does not count'),
  suspect: z.enum(SUSPECTS).optional().describe('What the answer looks like, if not like a robots.txt'),
  source: z.enum(ROBOTS_SOURCES).meta({ examples: ['network'] }),
}).describe('The answer for robots.txt that this rests on');

const usageSource = object<UsageSource>({
  directive: oneOf({ 'content-usage': true, 'content-signal': true, license: true, link: true }),
  specification: text.describe('The document by which it was read'),
  line: line.optional(),
  path: text.optional(),
  value: text,
  preferences: z.record(text, preference),
  use: oneOf({ immediate: true, reference: true, full: true }).optional(),
  malformed: z.literal(true).optional(),
});

export type UsageRecord = Omit<DecisionUsage, 'purpose' | 'preference'> &
  Partial<Pick<DecisionUsage, 'purpose' | 'preference'>>;
export const usage: Schema<UsageRecord> = object<UsageRecord>({
  'train-ai': preference,
  'ai-use': preference,
  'ai-input': preference,
  search: preference,
  use: oneOf({ immediate: true, reference: true, full: true }).optional(),
  licenses: z.array(text),
  sources: z.array(usageSource),
  omitted: count.optional(),
  purpose: z.enum(PURPOSES).optional(),
  preference: preference.optional(),
  source: usageSource.optional(),
}).describe(
  'What the site states about the use of the page. With a purpose, `preference` is what it says of that one, and `source` where. It does not change `allowed`',
);

const allowed = z
  .boolean()
  .describe('Whether robots.txt allows the agent to fetch the URL')
  .meta({ examples: [false] });
const reason = z
  .enum(REASONS)
  .describe(
    'What decides: a rule; that no rule matches, or no group is for the agent; that there is no robots.txt (unavailable); that it cannot be fetched for now (unreachable)',
  )
  .meta({ examples: ['rule'] });

const decisionFields: Fields<Decision> = {
  url: url.describe('The URL as it was checked'),
  origin,
  agent: agent.describe('The name that robots.txt was read for'),
  profile,
  state,
  allowed,
  reason,
  rule: rule.optional(),
  group: group.optional(),
  crawlDelayMs: delayMs.optional(),
  robots,
  retryAt: retryAt.optional(),
  because: text.optional().describe("The caller's reason for an override"),
  usage: usage.optional(),
};
type Asked = { readonly schemaVersion: 1; readonly input: string; readonly line?: number };
const asked: Fields<Asked> = {
  schemaVersion,
  input: url.describe('The URL as it was asked for'),
  line: line.optional().describe('The line of the input that it stood on'),
};

export const decision: Schema<Asked & Decision> = object<Asked & Decision>({ ...asked, ...decisionFields });

/** The answer of the command with `--robots FILE`. */
export const fileDecision: Schema<Asked & FileDecision> = object<Asked & FileDecision>({
  ...decision.omit({ origin: true, retryAt: true, because: true }).shape,
  robots: object<FileSource>({
    file: text,
    source: z.literal('file'),
    truncated: robots.shape.truncated,
    suspect: robots.shape.suspect,
  }),
});

const error = object<{ readonly code: string; readonly message: string }>({ code: text, message: text });

interface LineError extends Partial<Asked> {
  readonly error: object;
}
export const lineError: Schema<LineError> = object<LineError>({
  schemaVersion,
  input: asked.input.optional(),
  line: asked.line,
  error,
});

/** What a verdict of a file for one of several agents has of a decision. */
export type VerdictRecord = Pick<
  Decision,
  'agent' | 'allowed' | 'reason' | 'rule' | 'group' | 'crawlDelayMs'
> & { readonly runnerUp?: RunnerUp; readonly usage?: UsageRecord };
const verdict: Schema<VerdictRecord> = object<VerdictRecord>({
  agent,
  allowed,
  reason,
  rule: decisionFields.rule,
  group: decisionFields.group,
  crawlDelayMs: decisionFields.crawlDelayMs,
  runnerUp: runnerUp.optional(),
  usage: decisionFields.usage,
});

export type DiagnosticRecord = Diagnostic & DiagnosticDescription;
const diagnostic: Schema<DiagnosticRecord> = object<DiagnosticRecord>({
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
  .array(object<OriginPolicy['sitemaps'][number]>({ url: text, line }))
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

/** The components of OpenAPI, by name. */
export const components: Readonly<Record<string, z.ZodType>> = {
  Rule: rule,
  Group: group,
  RobotsAnswer: robots,
  Decision: decision,
  LineError: lineError,
  Verdict: verdict,
  Usage: usage,
  Diagnostic: diagnostic,
  Policy: policy,
  Explanation: explanation,
  PastedVerdicts: pastedAnswer,
};
