import { z } from 'zod';
import {
  allowed,
  count,
  line,
  object,
  oneOf,
  RULE,
  rule,
  type Schema,
  schemaVersion,
  text,
} from './decision.ts';
import type {
  AgentDifference,
  ComparedFile,
  ComparisonRecord,
  RecordChange,
  SideVerdict,
  VerdictChange,
} from '../comparison/compare.ts';
import type { RuleChange } from '../comparison/rule-changes.ts';

interface AnyRuleChange {
  readonly kind: RuleChange['kind'];
  readonly before?: object;
  readonly after?: object;
}

const comparedFile = object<ComparedFile>({
  name: text.meta({ examples: ['https://example.com'] }),
  because: text
    .optional()
    .describe('Why an empty or closed file is compared: there is none, or it is restricted'),
});
const ruleChange = object<AnyRuleChange>({
  kind: oneOf<RuleChange['kind']>({ added: true, removed: true, turned: true, moved: true }),
  before: rule.optional(),
  after: rule.optional(),
}).describe(
  'A rule that was added, removed, turned from Allow to Disallow or back, or moved where order decides',
);
const recordChange = object<RecordChange>({
  kind: oneOf<RecordChange['kind']>({ added: true, removed: true }),
  record: object<RecordChange['record']>({ key: text, value: text, line }),
});
const sideVerdict = object<SideVerdict>({ allowed, rule: rule.optional() });
const difference = object<AgentDifference>({
  agents: z.array(text).describe('Agents that share all that follows'),
  groupBefore: text.optional(),
  groupAfter: text.optional(),
  rules: z.array(ruleChange),
  records: z.array(recordChange),
  flips: z
    .array(object<VerdictChange>({ target: text, before: sideVerdict, after: sideVerdict }))
    .describe('URLs that become allowed or disallowed, at most 1,000'),
  flipCount: count.describe('The number of all such URLs'),
  redecidedCount: count.describe('URLs that another rule decides, with the same result'),
});

export type ComparisonResult = ComparisonRecord & { readonly schemaVersion: 1 };
/** The result of `POST /v1/diff`, and of `canfetch diff --json`. */
export const comparison: Schema<ComparisonResult> = object<ComparisonResult>({
  schemaVersion,
  before: comparedFile,
  after: comparedFile,
  same: z
    .boolean()
    .describe('Whether nothing changed for any agent')
    .meta({ examples: [false] }),
  differences: z.array(difference).meta({
    examples: [
      [
        {
          agents: ['*'],
          groupBefore: '*',
          groupAfter: '*',
          rules: [{ kind: 'removed', before: RULE }],
          records: [],
          flips: [{ target: '/private', before: { allowed: false, rule: RULE }, after: { allowed: true } }],
          flipCount: 2,
          redecidedCount: 0,
        },
      ],
    ],
  }),
  everybody: z
    .array(recordChange)
    .describe('Sitemaps and other records outside of groups')
    .meta({ examples: [[]] }),
  agentsLeftOut: count
    .describe('Agents that were not compared, because there are too many of them or of their changes')
    .meta({ examples: [0] }),
});
