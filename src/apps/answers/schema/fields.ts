import { z } from 'zod';
import { ORIGIN_STATES, profileNames } from '../../../core/lifecycle/index.ts';
import type { Explanation, MatchedGroup, MatchedRule, Preference } from '../../../core/rules/index.ts';

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

/** The examples are of a site whose robots.txt has these lines. */
export const LINES: readonly string[] = ['User-agent: *', 'Disallow: /private', 'Allow: /private/press'];
export const RULE: MatchedRule = { directive: 'disallow', pattern: '/private', line: 2 };
export const GROUP: object = {
  agentLines: [{ names: ['*'], written: '*', line: 1, block: 0 }],
  rules: [RULE, { directive: 'allow', pattern: '/private/press', line: 3 }],
};
export const VERDICT: object = { agent: 'ExampleBot', allowed: false, reason: 'rule', rule: RULE };
export const FETCHED_AT: number = 1_795_268_260_000;
export const text: z.ZodString = z.string();
export const line: z.ZodInt = z.int().min(1);
export const count: z.ZodInt = z.int().min(0);
export const epochMs: z.ZodNumber = z.number().describe('Epoch milliseconds');
export const fetchedAt: z.ZodNumber = epochMs.meta({ examples: [FETCHED_AT] });
export const staleAt: z.ZodNumber = epochMs.meta({ examples: [FETCHED_AT + 3_550_000] });
export const url: z.ZodString = text.meta({ examples: ['https://example.com/private/report'] });
export const origin: z.ZodString = text.meta({ examples: ['https://example.com'] });
export const agent: z.ZodString = text.meta({ examples: ['ExampleBot'] });
export const profile: z.ZodString = text.meta({ examples: [profileNames[0]] });
export const preference: z.ZodType = oneOf<Preference>({ disallow: true, allow: true, unknown: true });
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

export type RunnerUp = NonNullable<Explanation['runnerUp']>;
export const runnerUp: Schema<RunnerUp> = object<RunnerUp>({
  rule,
  lost: oneOf({ shorter: true, tie: true, later: true }),
}).describe('The rule that came closest to deciding, and why it lost');
