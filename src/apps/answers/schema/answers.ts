import { z } from 'zod';
import {
  type Decision,
  type DecisionUsage,
  type OriginPolicy,
  type PolicyFile,
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
type Fields<Data> = { readonly [Name in keyof Data]-?: z.ZodType };
type Schema<Data> = z.ZodObject<Fields<Data>>;

function object<Data>(fields: Fields<Data>): Schema<Data> {
  return z.object(fields);
}

/** All values of a union. The compiler checks that none is missing. */
function oneOf<Value extends string>(values: Readonly<Record<Value, true>>): z.ZodType {
  return z.enum(Object.keys(values));
}

/** An object that is not described further. */
const data: z.ZodObject = z.looseObject({});
export const text: z.ZodString = z.string();
const line: z.ZodInt = z.int().min(1);
const count: z.ZodInt = z.int().min(0);
const epochMs: z.ZodNumber = z.number().describe('Epoch milliseconds');
const preference: z.ZodType = oneOf<Preference>({ disallow: true, allow: true, unknown: true });
const state: z.ZodType = z.enum(ORIGIN_STATES);
const delayMs: z.ZodNumber = z.number().describe('Milliseconds that the site asks for between two requests');
const retryAt: z.ZodNumber = epochMs.describe('Epoch milliseconds from which to ask again, not before');

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
  hops: count,
  status: z.int().optional(),
  error: text.optional(),
  detail: text.optional(),
  unavailable: oneOf<UnavailableReason>({
    'too-many-redirects': true,
    'redirect-loop': true,
    'disallowed-redirect': true,
  }).optional(),
  fetchedAt: epochMs.optional(),
  staleAt: epochMs.optional(),
  sha256: text.optional(),
  truncated: z
    .literal(true)
    .optional()
    .describe('The file is longer than what is read; the rest does not count'),
  suspect: z.enum(SUSPECTS).optional().describe('What the answer looks like, if not like a robots.txt'),
  source: z.enum(ROBOTS_SOURCES),
});

const usageSource = object<UsageSource>({
  directive: oneOf({ 'content-usage': true, 'content-signal': true, license: true, link: true }),
  specification: text,
  line: line.optional(),
  scope: z.literal('origin').optional(),
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
});

export const decision: Schema<Decision> = object<Decision>({
  url: text.describe('The URL as it was checked'),
  origin: text,
  agent: text.describe('The name that robots.txt was read for'),
  profile: text,
  state,
  allowed: z.boolean().describe('Whether robots.txt allows the agent to fetch the URL'),
  reason: z
    .enum(REASONS)
    .describe(
      'What decides: a rule; that no rule matches, or no group is for the agent; that there is no robots.txt (unavailable); that it cannot be fetched for now (unreachable)',
    ),
  rule: rule.optional(),
  group: group.optional(),
  crawlDelayMs: delayMs.optional(),
  robots,
  retryAt: retryAt.optional(),
  because: text.optional(),
  usage: usage.optional(),
});

/** A policy as plain data: without the parsed file and its bytes. */
export type PolicyData = Omit<OriginPolicy, 'rules' | 'file'> & {
  readonly dialect?: string;
  readonly file?: Omit<PolicyFile, 'body'>;
};
export const policyData: Schema<PolicyData> = object<PolicyData>({
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
  because: decision.shape.because,
  robots,
  sha256: robots.shape.sha256,
  addressChecks: oneOf({ connections: true, literals: true }),
  attempt: data.optional(),
  lifetime: data.optional(),
  nextAttempt: data.optional(),
  suspect: robots.shape.suspect,
  failure: data.optional(),
  retryAt: retryAt.optional(),
  pacing: data.optional(),
  site: data.optional(),
  file: data.optional(),
  dialect: text.optional(),
  groups: z.array(data),
  sitemaps: z.array(
    object<OriginPolicy['sitemaps'][number]>({
      url: text.describe('Relative ones are resolved against the final URL of robots.txt, if there is one'),
      line,
      written: text.optional().describe('As written, if `url` is another'),
    }),
  ),
  agent: text.describe('The name that `group` and the delays are for'),
  group: group.optional(),
  crawlDelayMs: delayMs.optional(),
  requestRateMs: delayMs.optional(),
});
