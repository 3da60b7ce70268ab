import { z } from 'zod';
import {
  type Decision,
  type DecisionUsage,
  PURPOSES,
  REASONS,
  ROBOTS_SOURCES,
  type RobotsSource,
} from '../../../core/decision/index.ts';
import { type UnavailableReason, SUSPECTS, ORIGIN_STATES } from '../../../core/lifecycle/index.ts';
import type {
  UsageSource,
  Explanation,
  MatchedGroup,
  MatchedRule,
  Preference,
} from '../../../core/rules/index.ts';

/** A schema for every field of `Data`. */
export type Fields<Data> = { readonly [Name in keyof Data]-?: z.ZodType };
export type Schema<Data> = z.ZodObject<Fields<Data>>;

export function object<Data>(fields: Fields<Data>): Schema<Data> {
  return z.object(fields);
}

/** All values of a union. The compiler checks that none is missing. */
export function oneOf<Value extends string>(values: Readonly<Record<Value, true>>): z.ZodType {
  return z.enum(Object.keys(values));
}

/** A value that is not described further. */
export const some = (type: 'object' | 'string'): z.ZodType =>
  z.custom((value) => typeof value === type).meta({ type });

export const text: z.ZodString = z.string();
export const line: z.ZodInt = z.int().min(1);
export const count: z.ZodInt = z.int().min(0);
export const epochMs: z.ZodNumber = z.number().describe('Epoch milliseconds');
const preference: z.ZodType = oneOf<Preference>({ disallow: true, allow: true, unknown: true });
export const state: z.ZodType = z.enum(ORIGIN_STATES);
export const delayMs: z.ZodNumber = z
  .number()
  .describe('Milliseconds that the site asks for between two requests');
export const retryAt: z.ZodNumber = epochMs.describe(
  'Epoch milliseconds from which to ask again, not before',
);
export const schemaVersion: z.ZodType = z.literal(1);

export const rule: Schema<MatchedRule> = object<MatchedRule>({
  directive: oneOf({ disallow: true, allow: true }),
  pattern: text,
  line,
}).describe('A rule with its line in robots.txt');

export const group: Schema<MatchedGroup> = object<MatchedGroup>({
  agent: text,
  lines: z.array(line),
  omitted: count.optional(),
}).describe(
  'The group that applies: its name, the first 100 lines that name it, and how many more there are',
);

export type RunnerUp = NonNullable<Explanation['runnerUp']>;
export const runnerUp: Schema<RunnerUp> = object<RunnerUp>({
  rule,
  lost: oneOf({ shorter: true, tie: true, later: true }),
}).describe('The rule that came closest to deciding, and why it lost');

export const robots: Schema<RobotsSource> = object<RobotsSource>({
  url: text,
  finalUrl: text.describe('Where redirects led'),
  hops: count.describe('The number of redirects'),
  status: z.int().optional(),
  error: text.optional(),
  detail: text.optional().describe('The address that refused, or the message of an error without a code'),
  unavailable: oneOf<UnavailableReason>({
    'too-many-redirects': true,
    'redirect-loop': true,
    'disallowed-redirect': true,
  })
    .optional()
    .describe('Why the response counts as unavailable, where its status does not say so'),
  fetchedAt: epochMs.optional(),
  staleAt: epochMs.optional(),
  sha256: text
    .optional()
    .describe('SHA-256 of the bytes whose rules decide, in hex: what `sha256sum` says of the file'),
  truncated: z
    .literal(true)
    .optional()
    .describe('The file is longer than what is read; the rest does not count'),
  suspect: z.enum(SUSPECTS).optional().describe('What the answer looks like, if not like a robots.txt'),
  source: z.enum(ROBOTS_SOURCES),
}).describe('The answer for robots.txt that this rests on');

const usageSource = object<UsageSource>({
  directive: oneOf({ 'content-usage': true, 'content-signal': true, license: true, link: true }),
  specification: text.describe('The document by which it was read'),
  line: line.optional(),
  scope: z
    .literal('origin')
    .optional()
    .describe('The line stands apart from all groups: it is for all agents'),
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

export const allowed: z.ZodType = z
  .boolean()
  .describe('Whether robots.txt allows the agent to fetch the URL');
const reason = z
  .enum(REASONS)
  .describe(
    'What decides: a rule; that no rule matches, or no group is for the agent; that there is no robots.txt (unavailable); that it cannot be fetched for now (unreachable)',
  );

export const decisionFields: Fields<Decision> = {
  url: text.describe('The URL as it was checked'),
  origin: text,
  agent: text.describe('The name that robots.txt was read for'),
  profile: text,
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
export type Asked = { readonly schemaVersion: 1; readonly input: string; readonly line?: number };
export const asked: Fields<Asked> = {
  schemaVersion,
  input: text.describe('The URL as it was asked for'),
  line: line.optional().describe('The line of the input that it stood on'),
};

export const decision: Schema<Asked & Decision> = object<Asked & Decision>({ ...asked, ...decisionFields });

type ErrorRecord = { readonly code: string; readonly message: string };
const error: Schema<ErrorRecord> = object<ErrorRecord>({ code: text, message: text });

/** What is wrong with a line of a list, or with a stream as a whole. */
export interface LineError extends Pick<Asked, 'schemaVersion'> {
  readonly input?: string;
  readonly line?: number;
  readonly error: ErrorRecord;
}
export const lineError: Schema<LineError> = object<LineError>({
  schemaVersion,
  input: asked.input.optional(),
  line: asked.line,
  error,
});
