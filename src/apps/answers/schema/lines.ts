/** The lines of JSON that the command alone prints, beside decisions, explanations, policies and comparisons. */
import { z } from 'zod';
import { type Decision, REASONS, type RobotsSource } from '../../../core/decision/index.ts';
import type { Copy, OriginRecord, Profile } from '../../../core/lifecycle/index.ts';
import type { MatchedGroup, MatchedRule, Verdict } from '../../../core/rules/index.ts';
import type { DialectTraits } from '../../../core/rules/dialect.ts';
import {
  allowed,
  decisionFields,
  robots,
  agent,
  count,
  epochMs,
  line,
  object,
  oneOf,
  origin,
  retryAt,
  type Schema,
  schemaVersion,
  some,
  state,
  text,
} from './decision.ts';
import { diagnostic, type DiagnosticRecord, type PolicyData, policyData } from './policy.ts';

interface Line {
  readonly schemaVersion: 1;
}

/** `canfetch policy --json`. */
export type PolicyLine = Line & PolicyData;
export const policyLine: Schema<PolicyLine> = object<PolicyLine>({ schemaVersion, ...policyData.shape });

/** `canfetch lint --json`: one finding. */
export type LintLine = Line & Omit<DiagnosticRecord, 'explanation'> & { readonly file: string };
export const lintLine: Schema<LintLine> = object<LintLine>({
  schemaVersion,
  file: text,
  ...diagnostic.omit({ explanation: true }).shape,
});

/** `canfetch test --json`: one expectation. */
export interface TestLine extends Line {
  /** The file of expectations. */
  readonly file: string;
  readonly line: number;
  readonly expected: 'allow' | 'disallow';
  readonly agent: string;
  readonly input: string;
  readonly met: boolean;
  /** The robots.txt under test. */
  readonly robots: string;
  readonly allowed: boolean;
  readonly reason?: Verdict['reason'];
  readonly rule?: MatchedRule;
  readonly group?: MatchedGroup;
  /** Why there is no file to decide by. */
  readonly because?: string;
}
export const testLine: Schema<TestLine> = object<TestLine>({
  schemaVersion,
  file: text,
  line,
  expected: oneOf({ allow: true, disallow: true }),
  agent,
  input: text,
  met: z.boolean(),
  robots: text,
  allowed,
  reason: z.enum(REASONS).optional(),
  rule: decisionFields.rule,
  group: decisionFields.group,
  because: text.optional(),
});

/** `canfetch prefetch --json`: the state of one origin. */
export interface PrefetchLine
  extends
    Line,
    Pick<Decision, 'origin' | 'state' | 'retryAt'>,
    Pick<RobotsSource, 'status' | 'error' | 'fetchedAt' | 'staleAt' | 'source' | 'suspect'> {
  /** Absent when rules are in force. */
  readonly reason?: Decision['reason'];
  /** With `finalUrl`: absent without redirects. */
  readonly hops?: number;
  readonly finalUrl?: string;
}
export const prefetchLine: Schema<PrefetchLine> = object<PrefetchLine>({
  schemaVersion,
  origin,
  state,
  reason: z.enum(REASONS).optional(),
  status: robots.shape.status,
  error: text.optional(),
  fetchedAt: robots.shape.fetchedAt,
  staleAt: robots.shape.staleAt,
  source: robots.shape.source,
  suspect: robots.shape.suspect,
  hops: count.optional(),
  finalUrl: text.optional(),
  retryAt: retryAt.optional(),
});

/** `canfetch profiles --json`: one profile. */
export type ProfileLine = Line & Profile & { readonly dialectTraits: DialectTraits };
export const profileLine: Schema<ProfileLine> = object<ProfileLine>({
  schemaVersion,
  name: text,
  dialect: text,
  status: some('object'),
  maxRedirects: count,
  tooManyRedirects: oneOf({ unavailable: true, unreachable: true }),
  disallowedRedirect: oneOf({ followed: true, unavailable: true }),
  challenge: oneOf({ 'as-status': true, unreachable: true }),
  whileUnreachable: z.array(some('object')),
  lifetime: some('object'),
  conditionalRequests: z.boolean(),
  robotsRetry: some('object'),
  retryAfter: some('object'),
  keepCopyOnUnavailableMs: count,
  dialectTraits: some('object'),
});

/** `canfetch cache ls` and `show`: one record of a store. `text` is the file, of `show` alone. */
export interface StoredLine extends Line, Partial<Pick<OriginRecord, 'answer' | 'failure' | 'site'>> {
  readonly origin: string;
  readonly agent: string;
  readonly addressPolicy: string;
  readonly expiresAt: number;
  /** Why a client would reject the record. */
  readonly rejected?: string;
  readonly copy?: Omit<Copy, 'body'> & { readonly bytes: number; readonly text?: string };
}
export const storedLine: Schema<StoredLine> = object<StoredLine>({
  schemaVersion,
  origin,
  agent,
  addressPolicy: text,
  expiresAt: epochMs,
  rejected: text.optional(),
  answer: some('object').optional(),
  failure: some('object').optional(),
  site: some('object').optional(),
  copy: object<NonNullable<StoredLine['copy']>>({
    bytes: count,
    text: text.optional(),
    sha256: robots.shape.sha256,
    truncated: z.boolean(),
    suspect: robots.shape.suspect,
    status: z.int(),
    finalUrl: text,
    hops: count,
    fetchedAt: epochMs,
    etag: text.optional(),
    lastModified: text.optional(),
    contentType: text.optional(),
  }).optional(),
});

/** `canfetch cache import`: the result of reading a snapshot. */
export interface ImportLine extends Line {
  readonly imported: number;
  readonly rejected: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** Records that the header announced but the snapshot lacks. */
  readonly missing: number;
}
export const importLine: Schema<ImportLine> = object<ImportLine>({
  schemaVersion,
  imported: count,
  rejected: count,
  reasons: z.record(text, count),
  missing: count,
});

/** `canfetch replay --json`: a decision that differs, or an entry that does not fit. */
export type ReplayLine = Line & { readonly file: string; readonly line: number; readonly at: number } & (
    | {
        readonly kind: 'decision';
        readonly url: string;
        readonly recorded: ReplayedRecord;
        readonly replayed?: ReplayedRecord;
      }
    | { readonly kind: 'entry'; readonly origin?: string; readonly fault: string }
  );
type ReplayedRecord = Pick<Decision, 'agent' | 'profile' | 'allowed' | 'state' | 'reason' | 'rule'> &
  Pick<RobotsSource, 'sha256'> & { readonly usage?: object };
const replayed = object<ReplayedRecord>({
  agent,
  profile: text,
  allowed,
  state,
  reason: z.enum(REASONS),
  rule: decisionFields.rule,
  sha256: robots.shape.sha256,
  usage: some('object').optional(),
});
const differs = { schemaVersion, file: text, line, at: epochMs };
export const replayLine: z.ZodType = z.union([
  object<Extract<ReplayLine, { readonly kind: 'decision' }>>({
    ...differs,
    kind: z.literal('decision'),
    url: text,
    recorded: replayed,
    replayed: replayed.optional(),
  }),
  object<Extract<ReplayLine, { readonly kind: 'entry' }>>({
    ...differs,
    kind: z.literal('entry'),
    origin: text.optional(),
    fault: text,
  }),
]);

/** The last line of `canfetch replay --json`. */
export interface ReplayReportLine extends Line {
  readonly kind: 'report';
  readonly entries: number;
  readonly runs: number;
  readonly unfinished: number;
  readonly skipped: number;
  readonly decisions: number;
  readonly flipped: number;
  readonly changed: number;
  readonly faults: number;
}
export const replayReportLine: Schema<ReplayReportLine> = object<ReplayReportLine>({
  schemaVersion,
  kind: z.literal('report'),
  entries: count,
  runs: count,
  unfinished: count,
  skipped: count,
  decisions: count,
  flipped: count,
  changed: count,
  faults: count,
});

/** `canfetch replay --url URL --json`: an entry about the page, and the entries that its decision rests on. */
export interface UrlHistoryLine extends Line {
  readonly kind: 'decision' | 'request' | 'deferred' | 'ignored';
  readonly file: string;
  readonly line: number;
  readonly entry: object;
  /** The entry with the record that decided, and the one with the bytes of the file. */
  readonly source?: object;
  readonly body?: object;
}
export const urlHistoryLine: Schema<UrlHistoryLine> = object<UrlHistoryLine>({
  schemaVersion,
  kind: z.enum(['decision', 'request', 'deferred', 'ignored']),
  file: text,
  line,
  entry: some('object'),
  source: some('object').optional(),
  body: some('object').optional(),
});

/** `canfetch replay --versions --json`: a version of an origin's robots.txt. */
export interface FileVersionLine extends Line {
  readonly kind: 'version';
  readonly origin: string;
  readonly from: number;
  readonly until: number;
  readonly sha256?: string;
  readonly status?: number;
}
export const fileVersionLine: Schema<FileVersionLine> = object<FileVersionLine>({
  schemaVersion,
  kind: z.literal('version'),
  origin: text,
  from: epochMs,
  until: epochMs,
  sha256: text.optional(),
  status: count.optional(),
});

/** `canfetch replay --conduct --json`: a request that was sent too early. */
export interface EarlyStartLine extends Line {
  readonly kind: 'early';
  readonly file: string;
  readonly line: number;
  readonly url: string;
  readonly startedAt: number;
  readonly earliestAt: number;
  readonly reason: string;
}
export const earlyStartLine: Schema<EarlyStartLine> = object<EarlyStartLine>({
  schemaVersion,
  kind: z.literal('early'),
  file: text,
  line,
  url: text,
  startedAt: epochMs,
  earliestAt: epochMs,
  reason: text,
});

/** The last line of `canfetch replay --conduct --json`. */
export interface ConductReportLine extends Line {
  readonly kind: 'conduct';
  readonly requests: number;
  readonly early: number;
}
export const conductReportLine: Schema<ConductReportLine> = object<ConductReportLine>({
  schemaVersion,
  kind: z.literal('conduct'),
  requests: count,
  early: count,
});

/** A line of `--log` of `canfetch serve`. */
export interface AccessLine extends Line {
  readonly time: string;
  readonly method?: string;
  readonly path: string;
  readonly url?: string;
  readonly origin?: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address?: string;
  readonly aborted?: true;
}
export const accessLine: Schema<AccessLine> = object<AccessLine>({
  schemaVersion,
  time: text,
  method: text.optional(),
  path: text,
  url: text.optional(),
  origin: text.optional(),
  status: z.int(),
  durationMs: z.number(),
  address: text.optional(),
  aborted: z.literal(true).optional(),
});
