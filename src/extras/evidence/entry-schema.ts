/** The one description of a line of evidence, for what is read back. */
import * as z from 'zod/mini';
import { type Check, isText, quote, RobotsEvidenceError, textOf } from '../../core/base/index.ts';
import { PURPOSES, REASONS, wholeProfile } from '../../core/decision/index.ts';
import { ORIGIN_STATES, SUSPECTS } from '../../core/lifecycle/index.ts';
import type { EvidenceLine } from '../../core/client/evidence/entry.ts';
import { bytesOf } from '../../core/store/record-codec.ts';

/** A line of a type that this version does not know. A later version has written it. */
export interface SkippedLine {
  readonly type: undefined;
  readonly at: number | undefined;
  readonly run: string | undefined;
  readonly n: number | undefined;
}

/** What an own check of the package allows. Its message names the fault. */
function checkedBy(check: Check, path: string): z.ZodMiniUnknown {
  return z.unknown().check(({ value, issues }) => {
    try {
      check(value, path);
    } catch (error) {
      issues.push({ code: 'custom', message: textOf(Object(error).message), input: value });
    }
  });
}

const text = z.string();
const time = z.number().check(z.gte(0), z.lte(8.64e15));
const number = z.int().check(z.gte(0));
const status = z.int().check(z.gte(100), z.lte(999));
const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const onlyTrue = z.optional(z.literal(true));

const ofRun = { at: time, run: text, n: number };
const ofOrigin = { ...ofRun, origin: text };
const ofFile = {
  ...ofOrigin,
  profile: text,
  sha256: z.optional(digest),
  body: z.optional(
    z.pipe(
      z.union([text, z.object({ base64: z.string().check(z.regex(/^[0-9A-Za-z+/]*={0,2}$/)) })]),
      z.transform(bytesOf),
    ),
  ),
};
const ofOutcome = {
  ...ofFile,
  outcome: z.enum(['success', 'not-modified', 'unavailable', 'restricted', 'unreachable']),
  status: z.optional(status),
  error: z.optional(text),
  reason: z.optional(z.enum(['too-many-redirects', 'redirect-loop', 'disallowed-redirect'])),
  suspect: z.optional(z.enum(SUSPECTS)),
  headers: z.optional(z.record(text, text)),
  staleAt: z.optional(time),
  since: z.optional(time),
  retryAt: z.optional(time),
  copyUntil: z.optional(time),
};

const attempt = z.looseObject({
  ...ofOutcome,
  requests: z.array(z.looseObject({ url: text, status: z.optional(status), location: z.optional(text) })),
});
const override = z.looseObject({
  ...ofFile,
  override: z.enum(['text', 'allow', 'disallow']),
  because: z.optional(text),
});
const usage = z.looseObject({
  purpose: z.enum(PURPOSES),
  preference: z.enum(['allow', 'disallow', 'unknown']),
});
const rule = z.looseObject({ directive: z.enum(['allow', 'disallow']), pattern: text, line: number });

/** By type. Members that a later version adds are kept. */
const schemas: Readonly<Record<EvidenceLine['type'], z.ZodMiniType>> = {
  run: z.looseObject({
    ...ofRun,
    version: text,
    profile: text,
    // A profile that decides must be whole.
    profiles: z.optional(z.record(text, checkedBy(wholeProfile, 'profiles'))),
    agent: z.union([text, z.array(text)]),
    from: z.optional(number),
  }),
  robots: z.union([override, attempt]),
  stored: z.looseObject({ ...ofOutcome, finalUrl: text, hops: number, fetchedAt: time }),
  signal: z.looseObject({ ...ofOrigin, reachable: z.boolean() }),
  forgotten: z.looseObject({ ...ofOrigin, reason: z.enum(['invalidated', 'evicted']) }),
  ignored: z.looseObject({ ...ofOrigin, url: text, because: text }),
  decision: z.looseObject({
    ...ofOrigin,
    url: text,
    agent: text,
    profile: text,
    allowed: z.boolean(),
    state: z.enum(ORIGIN_STATES),
    reason: z.enum(REASONS),
    rule: z.optional(rule),
    sha256: z.optional(text),
    requested: z.optional(text),
    usage: z.optional(usage),
    because: z.optional(text),
    question: onlyTrue,
    refused: onlyTrue,
    lookup: onlyTrue,
    paused: onlyTrue,
    by: z.optional(number),
    siteReachable: onlyTrue,
  }),
  request: z.looseObject({
    ...ofOrigin,
    url: text,
    startedAt: time,
    status: z.optional(status),
    error: z.optional(text),
    refused: z.optional(z.literal('ERR_ROBOTS_USAGE')),
    retryAfter: z.optional(text),
    price: z.optional(text),
    pacing: z.optional(z.looseObject({ defaultDelayMs: time, minDelayMs: time })),
  }),
  cut: z.looseObject({ ...ofOrigin, url: text, status, error: text }),
  deferred: z.looseObject({ ...ofOrigin, url: text, retryAt: time, delayFrom: text }),
  pause: z.looseObject({
    ...ofOrigin,
    from: time,
    until: time,
    delayFrom: z.enum(['retry-after', 'back-off']),
    status: z.optional(status),
  }),
  end: z.looseObject({ ...ofRun, entries: number, sha256: digest }),
};
const schemaByType: ReadonlyMap<string, z.ZodMiniType> = new Map(Object.entries(schemas));
const typed = z.looseObject({ type: text });

/** How every line begins. */
const START = '{"type":"';

/**
 * Reads a line. `undefined` for one that is empty, or was cut off: its writer was killed, still writes it, or found the
 * disk full.
 *
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) for what is no line of evidence.
 */
export function readEntry(line: string, number: number): EvidenceLine | SkippedLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    if (START.startsWith(line.slice(0, START.length))) return undefined;
    throw new RobotsEvidenceError(
      `Expected line ${number} to be a whole line of evidence in JSON, got ${quote(line)}`,
      { cause },
    );
  }
  const { data } = typed.safeParse(value);
  const schema = data === undefined ? typed : schemaByType.get(data.type);
  if (data !== undefined && schema === undefined) return skipped(data);
  const read = schema?.safeParse(value);
  if (isLine(read)) return read.data;
  const [issue] = read?.error?.issues ?? [];
  throw new RobotsEvidenceError(
    `Expected line ${number} to be an entry of evidence, got ${quote(line)}: ${faultIn(issue)}`,
  );
}

function isLine(read: { data?: unknown } | undefined): read is { data: EvidenceLine } {
  return read?.data !== undefined;
}

function skipped({ at, run, n }: Readonly<Record<string, unknown>>): SkippedLine {
  return {
    type: undefined,
    at: typeof at === 'number' ? at : undefined,
    run: isText(run) ? run : undefined,
    n: typeof n === 'number' ? n : undefined,
  };
}

/** What is wrong, in a sentence. */
function faultIn(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'it has no `type`';
  const { code, path, message } = issue;
  if (code === 'custom') return message;
  const where = `\`${path.join('.')}\``;
  return code === 'invalid_type'
    ? `expected ${where} to be of type ${issue.expected}`
    : `${where} is not valid`;
}
