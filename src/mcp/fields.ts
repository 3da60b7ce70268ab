/** Schemas of fields that several tools have. Their descriptions are for the model. */
import { z } from 'zod';
import type { RobotsSource } from '../lifecycle/index.ts';
import type { MatchedRule, Preference } from '../rules/index.ts';

/** Longer than any URL that servers accept. */
const MAX_URL_LENGTH = 8_192;
const MAX_AGENT_LENGTH = 1_000;

export const urlField: z.ZodType<string, string> = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .describe('An absolute URL, such as https://example.com/page?id=1');

export const agentField: z.ZodType<string | undefined, string | undefined> = z
  .string()
  .min(1)
  .max(MAX_AGENT_LENGTH)
  .optional()
  .describe(
    'Another crawler to ask about, such as Googlebot. Leave it out to ask about yourself: fetch_page fetches as yourself only',
  );

export const whyField: z.ZodType<string> = z.string().describe('The reason as a sentence');

export const ruleField: z.ZodType<MatchedRule> = z
  .object({ directive: z.enum(['allow', 'disallow']), pattern: z.string(), line: z.number().min(1) })
  .describe('The rule that decides, with its line in robots.txt');

export const retryAtField: z.ZodType<number> = z
  .number()
  .describe('Ask again after this time, not before: milliseconds since 1970-01-01 UTC');

export const crawlDelayField: z.ZodType<number> = z
  .number()
  .describe('Milliseconds that the site asks for between two requests. fetch_page keeps to it');

/** The part of a source that the tools show. */
type RobotsFields = Pick<RobotsSource, 'url' | 'finalUrl'> & {
  readonly [Name in 'status' | 'error' | 'fetchedAt' | 'staleAt' | 'truncated' | 'suspect']?:
    RobotsSource[Name] | undefined;
};

export const robotsField: z.ZodType<RobotsFields> = z
  .object({
    url: z.string(),
    finalUrl: z.string().describe('Where redirects led'),
    status: z.number().optional(),
    error: z.string().optional(),
    fetchedAt: z.number().optional(),
    staleAt: z.number().optional(),
    truncated: z
      .literal(true)
      .optional()
      .describe('The file is longer than what is read; the rest does not count'),
    suspect: z
      .enum(['challenge', 'blocked', 'login', 'html'])
      .optional()
      .describe('What the answer looks like, if not like a robots.txt'),
  })
  .describe('The answer for robots.txt. Times are milliseconds since 1970-01-01 UTC');

export function robotsOf(source: RobotsSource): RobotsFields {
  const { url, finalUrl, status, error, fetchedAt, staleAt, truncated, suspect } = source;
  return { url, finalUrl, status, error, fetchedAt, staleAt, truncated, suspect };
}

/** A site's statements about the use of its content. */
export interface UsageFields {
  readonly 'train-ai': Preference;
  readonly 'ai-use': Preference;
  readonly 'ai-input': Preference;
  readonly search: Preference;
  readonly licenses: readonly string[];
}

const preference = z.enum(['allow', 'disallow', 'unknown']);

export const usageField: z.ZodType<UsageFields> = z
  .object({
    'train-ai': preference,
    'ai-use': preference,
    'ai-input': preference,
    search: preference,
    licenses: z.array(z.string()),
  })
  .describe(
    'What the site states about the use of its content. It does not change whether it may be fetched',
  );
