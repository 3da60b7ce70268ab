/** The fields of a decision that `check_url` and `explain_url` give. */
import { z } from 'zod';
import { type Decision, REASONS } from '../decision/index.ts';
import { withoutUserinfo } from '../report/text/index.ts';
import { crawlDelayField, retryAtField, ruleField, whyField } from './fields.ts';
import { reasonSentence } from './sentences.ts';

type DecisionFields = Pick<
  Decision,
  'allowed' | 'reason' | 'rule' | 'retryAt' | 'url' | 'agent' | 'crawlDelayMs'
> & { readonly why: string };

const allowedField: z.ZodType<boolean> = z
  .boolean()
  .describe('Whether robots.txt allows the agent to fetch the URL');

const reasonField: z.ZodType<Decision['reason']> = z
  .enum(REASONS)
  .describe(
    'What decides: a rule; that no rule matches, or no group is for the agent; that there is no robots.txt ' +
      '(unavailable); that it cannot be fetched for now (unreachable)',
  );

/** Their schemas. */
export const decisionFields: {
  readonly [Name in keyof Required<DecisionFields>]: z.ZodType<DecisionFields[Name]>;
} = {
  allowed: allowedField,
  reason: reasonField,
  why: whyField,
  rule: ruleField.optional(),
  retryAt: retryAtField.optional(),
  url: z.string().describe('The URL as it was checked'),
  agent: z.string().describe('The name that robots.txt was read for'),
  crawlDelayMs: crawlDelayField.optional(),
};

/** Their values. */
export function decisionFieldsOf(decision: Decision): {
  readonly [Name in keyof Required<DecisionFields>]: DecisionFields[Name];
} {
  const { allowed, reason, rule, retryAt, agent, crawlDelayMs } = decision;
  const url = withoutUserinfo(decision.url);
  return { allowed, reason, why: reasonSentence(decision), rule, retryAt, url, agent, crawlDelayMs };
}
