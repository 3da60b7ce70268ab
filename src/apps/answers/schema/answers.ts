import { z } from 'zod';
import {
  type Decision,
  type OriginPolicy,
  REASONS,
  ROBOTS_SOURCES,
  type RobotsSource,
} from '../../../core/decision/index.ts';
import { type UnavailableReason, SUSPECTS, ORIGIN_STATES } from '../../../core/lifecycle/index.ts';
import type { Explanation, MatchedGroup, MatchedRule, Preference, Usage } from '../../../core/rules/index.ts';

/** The fields of answers that the tools for AI agents give, with descriptions for the model. */

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

const text: z.ZodString = z.string();
const line: z.ZodInt = z.int().min(1);
const count: z.ZodInt = z.int().min(0);
const epochMs: z.ZodNumber = z.number().describe('Epoch milliseconds');
const preference: z.ZodType = oneOf<Preference>({ disallow: true, allow: true, unknown: true });
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

type RunnerUp = NonNullable<Explanation['runnerUp']>;
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

type StatedUsage = Pick<Usage, 'train-ai' | 'ai-use' | 'ai-input' | 'search' | 'licenses'>;
export const usage: Schema<StatedUsage> = object<StatedUsage>({
  'train-ai': preference,
  'ai-use': preference,
  'ai-input': preference,
  search: preference,
  licenses: z.array(text),
});

type Decided = Pick<Decision, 'allowed' | 'reason' | 'rule' | 'retryAt' | 'url' | 'agent' | 'crawlDelayMs'>;
export const decision: Schema<Decided> = object<Decided>({
  allowed: z.boolean().describe('Whether robots.txt allows the agent to fetch the URL'),
  reason: z
    .enum(REASONS)
    .describe(
      'What decides: a rule; that no rule matches, or no group is for the agent; that there is no robots.txt (unavailable); that it cannot be fetched for now (unreachable)',
    ),
  rule: rule.optional(),
  retryAt: retryAt.optional(),
  url: text.describe('The URL as it was checked'),
  agent: text.describe('The name that robots.txt was read for'),
  crawlDelayMs: delayMs.optional(),
});

type Policy = Pick<
  OriginPolicy,
  | 'state'
  | 'reason'
  | 'origin'
  | 'profile'
  | 'retryAt'
  | 'agent'
  | 'robots'
  | 'group'
  | 'sitemaps'
  | 'crawlDelayMs'
  | 'requestRateMs'
>;
export const policy: Schema<Policy> = object<Policy>({
  state: z
    .enum(ORIGIN_STATES)
    .describe(
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
  origin: text.describe('The scheme, host and port that the policy is for, and no other'),
  profile: text,
  retryAt: retryAt.optional(),
  agent: text.describe('The name that `group` and the delays are for'),
  robots,
  group: group.optional(),
  sitemaps: z.array(
    object<OriginPolicy['sitemaps'][number]>({
      url: text.describe('Relative ones are resolved against the final URL of robots.txt, if there is one'),
      line,
      written: text.optional().describe('As written, if `url` is another'),
    }),
  ),
  crawlDelayMs: delayMs.optional(),
  requestRateMs: delayMs.optional(),
});
