/** Schemas of the lines of JSON that the command alone prints. A field that a type has and its schema has not does not compile. */
import { z } from 'zod';
import type {
  ExplainedByFile,
  ExplainedUrl,
  PageFetchResult,
} from '../../../src/apps/answers/schema/explanation.ts';
import type {
  AccessLine,
  ConductReportLine,
  AlthoughRefusedLine,
  EarlyStartLine,
  SummaryLine,
  ListedDecisionLine,
  FileVersionLine,
  LintLine,
  PolicyLine,
  PrefetchLine,
  ReplayLine,
  ReplayReportLine,
  StoredLine,
  TestLine,
} from '../../../src/apps/answers/schema/lines.ts';
import { explanation } from '../../../src/apps/answers/schema/explanation.ts';
import {
  allowed,
  type Asked,
  count,
  decision,
  decisionFields,
  epochMs,
  line,
  object,
  oneOf,
  retryAt,
  robots,
  schemaVersion,
  some,
  state,
  text,
  usage,
} from '../../../src/apps/answers/schema/decision.ts';
import { policyData } from '../../../src/apps/answers/schema/policy.ts';
import type { FileDecision, FileSource } from '../../../src/apps/answers/verdict.ts';
import { type Decision, REASONS } from '../../../src/core/decision/index.ts';
import type { ReplayedDecision } from '../../../src/extras/evidence/replay.ts';

export const fileDecision = object<Asked & FileDecision>({
  ...decision.omit({ origin: true, retryAt: true, because: true }).shape,
  robots: object<FileSource>({
    file: text,
    source: z.literal('file'),
    truncated: robots.shape.truncated,
    suspect: robots.shape.suspect,
  }),
});

const page = z.union([
  object<Extract<PageFetchResult, { readonly url: string }>>({
    url: text,
    status: z.int(),
    gatekeeper: text.optional(),
    directives: some('object'),
    usage,
  }),
  object<Extract<PageFetchResult, { readonly error: object }>>({
    error: object<Extract<PageFetchResult, { readonly error: object }>['error']>({
      code: text.optional(),
      message: text,
      requested: text.optional(),
      redirects: z.array(text).optional(),
      decision: object<Decision>(decisionFields).optional(),
    }),
  }),
]);

export const explainedUrl = object<ExplainedUrl>({
  ...explanation.shape,
  page: page.optional(),
});

export const explainedByFile = object<ExplainedByFile>({
  ...fileDecision.shape,
  ...explainedUrl.pick({ runnerUp: true, star: true, runsOn: true, nearMiss: true }).shape,
});

export const policyLine = object<PolicyLine>({ schemaVersion, ...policyData.shape });

export const lintLine = object<LintLine>({
  schemaVersion,
  file: text,
  code: z.custom<LintLine['code']>((value) => typeof value === 'string'),
  severity: oneOf({ error: true, warning: true, info: true }),
  line,
  column: line,
  text,
  message: text,
  hint: text,
  agent: text.optional(),
  meant: text.optional(),
  kind: text.optional(),
  agents: z.array(text).optional(),
  otherLine: line.optional(),
  otherLines: z.array(line).optional(),
  omitted: count.optional(),
});

export const testLine = object<TestLine>({
  schemaVersion,
  file: text,
  line,
  expected: oneOf({ allow: true, disallow: true }),
  agent: text,
  input: text,
  met: z.boolean(),
  robots: text,
  allowed,
  reason: z.enum(REASONS).optional(),
  rule: decisionFields.rule,
  group: decisionFields.group,
  because: text.optional(),
});

export const prefetchLine = object<PrefetchLine>({
  schemaVersion,
  origin: text,
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

export const storedLine = object<StoredLine>({
  schemaVersion,
  origin: text,
  agent: text,
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

const replayed = object<ReplayedDecision>({
  agent: text,
  profile: text,
  allowed,
  state,
  reason: z.enum(REASONS),
  rule: decisionFields.rule,
  sha256: robots.shape.sha256,
  usage: some('object').optional(),
});

const differs = { schemaVersion, file: text, line, at: epochMs };

export const replayLine = z.union([
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

export const replayReportLine = object<ReplayReportLine>({
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

export const listedDecisionLine = object<ListedDecisionLine>({
  schemaVersion,
  kind: z.literal('listed'),
  file: text,
  line,
  at: epochMs,
  url: text,
  requested: text.optional(),
  agent: text.optional(),
  profile: text.optional(),
  allowed: allowed.optional(),
  decision: text,
  reason: z.enum(REASONS).optional(),
  why: text,
  rule: decisionFields.rule,
  usage: some('object').optional(),
  sha256: robots.shape.sha256,
  outcome: text,
  request: some('object').optional(),
  cut: text.optional(),
});

export const summaryLine = object<SummaryLine>({
  schemaVersion,
  kind: z.literal('summary'),
  agent: text,
  origin: text,
  allowed: count,
  refused: count,
  notWanted: count,
  deferred: count,
  requested: count,
  requestedAlthoughRefused: count,
});

export const althoughRefusedLine = object<AlthoughRefusedLine>({
  schemaVersion,
  kind: z.literal('although-refused'),
  file: text,
  line,
  decisionFile: text,
  decisionLine: line,
  url: text,
  startedAt: epochMs,
  refusal: z.enum(['disallowed', 'not-wanted']),
  why: text,
});

export const fileVersionLine = object<FileVersionLine>({
  schemaVersion,
  kind: z.literal('version'),
  origin: text,
  from: epochMs,
  until: epochMs,
  sha256: text.optional(),
  outcome: z.enum(['unavailable', 'restricted']).optional(),
  status: count.optional(),
});

export const earlyStartLine = object<EarlyStartLine>({
  schemaVersion,
  kind: z.literal('early'),
  file: text,
  line,
  url: text,
  startedAt: epochMs,
  earliestAt: epochMs,
  reason: text,
});

export const conductReportLine = object<ConductReportLine>({
  schemaVersion,
  kind: z.literal('conduct'),
  requests: count,
  early: count,
  refused: count,
  unknown: count,
});

export const accessLine = object<AccessLine>({
  schemaVersion,
  time: text,
  method: text.optional(),
  path: text,
  url: text.optional(),
  origin: text.optional(),
  agent: text.optional(),
  allowed: z.boolean().optional(),
  reason: z.enum(REASONS).optional(),
  status: z.int(),
  durationMs: z.number(),
  address: text.optional(),
  aborted: z.literal(true).optional(),
});
