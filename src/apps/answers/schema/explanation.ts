import { z } from 'zod';
import type { Decision, RobotsSource } from '../../../core/decision/index.ts';
import type { Gatekeeper } from '../../../core/lifecycle/index.ts';
import type { Explanation, OtherRecord, PageDirectives, Usage } from '../../../core/rules/index.ts';
import type { FileDecision } from '../verdict.ts';
import {
  asked,
  type Asked,
  decisionFields,
  error,
  robots,
  type UsageRecord,
  verdict,
  type VerdictRecord,
  count,
  epochMs,
  type Fields,
  group,
  line,
  object,
  type RunnerUp,
  runnerUp,
  type Schema,
  schemaVersion,
  some,
  text,
} from './decision.ts';
import {
  diagnostic,
  type DiagnosticRecord,
  type PolicyData,
  policyData,
  policyFields,
  sitemaps,
  timeline,
  type TimelineEvent,
} from './policy.ts';

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
  lines: z.array(text),
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
    ),
};

/** The response of `GET /v1/explain`. The parts of the file are absent when there is none. */
export type ExplanationResult = Asked &
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
export const explanation: Schema<ExplanationResult> = object<ExplanationResult>({
  ...asked,
  ...decisionFields,
  now: epochMs,
  runnerUp: runnerUp.optional(),
  verdicts: z.array(verdict),
  underProfiles: z.array(some('object')),
  timeline,
  lifetimeReason: text.optional(),
  cause: text.optional().describe('What the last request for robots.txt came to, when it failed'),
  policy: policyData,
  ...object<FileParts>(fileParts).partial().shape,
});

/** The response of `POST /v1/explain`. */
export interface PastedResult extends FileParts {
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
export const pastedResult: Schema<PastedResult> = object<PastedResult>({
  schemaVersion,
  profile: text,
  dialect: text,
  truncated: z.boolean(),
  suspect: robots.shape.suspect,
  results: z.array(
    object<PastedResult['results'][number]>({
      input: text,
      verdicts: z.array(verdict).optional(),
      error: error.optional(),
    }),
  ),
  ...fileParts,
});

/** With `--page`: what the header fields of a page state about its use, or why they were not read. */
export type PageFetchResult =
  | {
      /** After redirects. */
      readonly url: string;
      readonly status: number;
      /** The service that answered in place of the site, such as `cloudflare`. */
      readonly gatekeeper?: Gatekeeper | undefined;
      readonly directives: PageDirectives;
      /** By robots.txt of the page's origin and by its header fields. */
      readonly usage: Usage;
    }
  | { readonly error: PageFailure };
interface PageFailure {
  readonly code?: string;
  readonly message: string;
  /** Of a redirect that was refused: the URL that was asked for. */
  readonly requested?: string;
  /** The URLs between that and the URL of the decision. */
  readonly redirects?: readonly string[];
  /** The decision about the URL that was refused. */
  readonly decision?: Decision;
}
interface ExplainedParts extends Pick<Explanation, 'star' | 'runsOn' | 'nearMiss'> {
  readonly runnerUp?: RunnerUp;
  readonly underProfiles: readonly object[];
}
/** The line of `canfetch explain --json`. */
export type ExplainedUrl = Asked &
  Decision &
  ExplainedParts & { readonly policy?: PolicyData; readonly page?: PageFetchResult };
/** The same with `--robots FILE`. */
export type ExplainedByFile = Asked & FileDecision & ExplainedParts;
