import { PURPOSES, REASONS } from '../decision/index.ts';

/** Schemas in JSON Schema 2020-12, which OpenAPI 3.1 uses. */

type SchemaName =
  | 'Problem'
  | 'Decision'
  | 'LineError'
  | 'Verdict'
  | 'Usage'
  | 'Diagnostic'
  | 'Policy'
  | 'Explanation'
  | 'Question'
  | 'PastedFile'
  | 'PastedVerdicts';

/** Makes a reference to one of {@link schemas}. */
export const reference = (name: SchemaName): object => ({ $ref: `#/components/schemas/${name}` });

export const text: object = { type: 'string' };
const flag = { type: 'boolean' };
const line = { type: 'integer', minimum: 1 };
const epochMs = { type: 'number', description: 'Epoch milliseconds' };
export const purpose: object = { enum: PURPOSES };
const anything = { type: 'object' };
const schemaVersion = { const: 1 };
const list = (items: object): object => ({ type: 'array', items });

/** Makes the schema of an object from its required and its optional properties. */
export function object(required: object, optional: object = {}): object {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) };
}

const reason = { enum: REASONS };
const preference = { enum: ['allow', 'disallow', 'unknown'] };
const usageSource = object(
  { directive: text, specification: text, value: text, preferences: anything },
  { line, path: text, use: text, malformed: flag },
);
const suspect = { enum: ['challenge', 'blocked', 'login', 'html'] };
const state = { enum: ['rules', 'last-good', 'allow-all', 'disallow-all', 'unknown'] };
const rule = object({ directive: { enum: ['allow', 'disallow'] }, pattern: text, line });
const group = object({ agent: text, lines: list(line) }, { omitted: line });
const runnerUp = object({ rule, lost: { enum: ['shorter', 'tie', 'later'] } });
const timeline = list(object({ at: epochMs, event: text }, { detail: text }));
const error = object({ code: text, message: text });

const groupRanges = {
  ...list(object({ agent: text, ranges: list(list(line)) }, { omitted: line })),
  description:
    'The lines of the groups that apply: runs of first and last line, by `group.agent` of the verdicts',
};

const robots = {
  ...object(
    { url: text, source: { enum: ['memory', 'store', 'network', 'override'] } },
    {
      finalUrl: text,
      hops: { type: 'integer', minimum: 0 },
      status: { type: 'integer' },
      error: text,
      fetchedAt: epochMs,
      staleAt: epochMs,
      truncated: flag,
      suspect,
    },
  ),
  description:
    'The response that the answer is based on, and how long it is used. `truncated`: rules may follow the part that was ' +
    'read. `suspect`: what the response looks like, if not like a robots.txt.',
};
/** The state of an origin; its parts are those of `OriginPolicy` in the package. */
const policyParts = {
  origin: text,
  profile: text,
  state,
  agent: text,
  robots,
  addressChecks: { enum: ['connections', 'literals'] },
};
const morePolicyParts = {
  reason: text,
  because: text,
  dialect: text,
  group,
  attempt: anything,
  lifetime: anything,
  nextAttempt: anything,
  failure: anything,
  site: anything,
  file: anything,
  retryAt: epochMs,
  suspect,
  crawlDelayMs: { type: 'number' },
  requestRateMs: { type: 'number' },
  underProfiles: list(anything),
  otherRecords: list(anything),
};

/** The parts of a file that do not depend on an agent. */
const fileParts = {
  groups: list(anything),
  sitemaps: list(object({ url: text, line })),
  diagnostics: list(reference('Diagnostic')),
};
const verdicts = list(reference('Verdict'));

/** Schemas of all requests and responses of the service, by name. */
export const schemas: Readonly<Record<SchemaName, object>> = {
  Problem: object({ type: text, title: text, status: { type: 'integer' }, detail: text, code: text }),
  Decision: object(
    {
      schemaVersion,
      input: text,
      url: text,
      origin: text,
      agent: text,
      profile: text,
      state,
      allowed: flag,
      reason,
      robots,
    },
    {
      rule,
      group,
      crawlDelayMs: { type: 'number' },
      retryAt: epochMs,
      because: text,
      usage: reference('Usage'),
    },
  ),
  LineError: object({ schemaVersion, error }, { input: text, line }),
  Verdict: object(
    { agent: text, allowed: flag, reason },
    { rule, group, crawlDelayMs: { type: 'number' }, runnerUp, usage: reference('Usage') },
  ),
  Usage: {
    ...object(
      {
        ...Object.fromEntries(PURPOSES.map((name) => [name, preference])),
        licenses: list(text),
        sources: list(usageSource),
      },
      { purpose, preference, source: usageSource, use: text, omitted: line },
    ),
    description:
      'What robots.txt states about the use of the page. Given a purpose, `preference` is what it says of that one, and `source` where',
  },
  Diagnostic: object({
    code: text,
    severity: { enum: ['error', 'warning', 'info'] },
    line,
    column: line,
    text,
    message: text,
    hint: text,
    explanation: text,
  }),
  Policy: object(
    { schemaVersion, ...policyParts, ...fileParts, timeline },
    { ...morePolicyParts, usage: reference('Usage') },
  ),
  Explanation: {
    allOf: [
      reference('Decision'),
      object(
        { now: epochMs, verdicts, timeline, underProfiles: list(anything), policy: anything },
        {
          lines: list(text),
          otherRecords: list(anything),
          ...fileParts,
          runnerUp,
          groupRanges,
          cause: { ...text, description: 'What the last request for robots.txt came to, when it failed' },
          lifetimeReason: text,
          usage: reference('Usage'),
        },
      ),
    ],
  },
  Question: { oneOf: [text, object({ url: text }, { agent: { oneOf: [text, list(text)] }, purpose })] },
  PastedFile: object(
    {
      robots: { type: 'string', description: 'The text of a robots.txt' },
      urls: { ...list(text), description: 'URLs, or paths that start with "/"' },
    },
    { agents: list(text), profile: text, purpose },
  ),
  PastedVerdicts: object(
    {
      schemaVersion,
      profile: text,
      dialect: text,
      truncated: flag,
      results: list(object({ input: text }, { verdicts, error })),
      lines: list(text),
      groupRanges,
      ...fileParts,
    },
    { suspect, otherRecords: list(anything) },
  ),
};
