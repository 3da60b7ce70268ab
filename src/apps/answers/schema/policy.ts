import { z } from 'zod';
import type { Decision, OriginPolicy, PolicyFile } from '../../../core/decision/index.ts';
import type { Explanation } from '../../../core/rules/index.ts';
import {
  asked,
  type Asked,
  decisionFields,
  robots,
  type UsageRecord,
  delayMs,
  group,
  line,
  object,
  oneOf,
  retryAt,
  runnerUp,
  type Schema,
  schemaVersion,
  some,
  state,
  text,
} from './decision.ts';

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

/** The response of `GET /v1/policy`. */
export interface PolicyResult extends PolicyData {
  readonly schemaVersion: 1;
  readonly usage?: UsageRecord;
}
export const policy: Schema<PolicyResult> = object<PolicyResult>({
  ...policyData.shape,
  schemaVersion,
  usage: decisionFields.usage,
});

export type Circumstances = Omit<Explanation, 'verdict'>;

/** The response of `GET /v1/explain`. */
export type ExplanationResult = Asked & Decision & Circumstances & { readonly policy?: PolicyData };
export const explanation: Schema<ExplanationResult> = object<ExplanationResult>({
  ...asked,
  ...decisionFields,
  runnerUp: runnerUp.optional(),
  star: some('object').optional(),
  runsOn: some('object').optional(),
  nearMiss: some('object').optional(),
  policy: policyData.optional(),
});
