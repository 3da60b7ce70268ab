import * as z from 'zod/mini';
import { type Check, faultOf, passes, quote, RobotsEvidenceError } from '../../core/base/index.ts';
import { wholeProfile } from '../../core/decision/index.ts';
import type { AnswerHeaders, Profile, Suspect, UnavailableReason } from '../../core/lifecycle/index.ts';
import * as record from '../../core/store/record/record-schema.ts';
import type { RecordWithoutBody } from '../../core/store/record/stored-body.ts';
import type { DecisionEntry, EvidenceEntry } from '../../core/client/evidence/entry.ts';

/** A line of an evidence file. */
export interface ReadEntry {
  readonly entry: EvidenceEntry;
  /** Its number within the run; `undefined` when it was not written by `evidenceFile`. */
  readonly number: number | undefined;
}

/**
 * Reads a line.
 *
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`)
 */
export function readEntry(text: string, line: number): ReadEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RobotsEvidenceError(
      `Expected line ${line} to be a whole line of evidence in JSON, got ${quote(text)}`,
      { cause },
    );
  }
  const number = numberOf(value);
  // Nearly all lines are decisions, so these are read without the schema.
  if (isDecision(value)) return { entry: value, number };
  const read = (SCHEMAS.get(Reflect.get(Object(value), 'type')) ?? z.never()).safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new RobotsEvidenceError(
      `Expected line ${line} to be an entry of evidence, got ${quote(text)}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
      { cause: read.error },
    );
  }
  return { entry: read.data, number };
}

function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const number: unknown = Reflect.get(value, 'n');
  return typeof number === 'number' ? number : undefined;
}

/** What {@link isDecision} looks at. */
type Unread = Readonly<Partial<Record<keyof DecisionEntry, unknown>>>;

function isDecision(value: unknown): value is DecisionEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { type, at, origin, url, agent, profile, allowed, state, reason }: Unread = value;
  return (
    type === 'decision' &&
    typeof at === 'number' &&
    typeof origin === 'string' &&
    typeof url === 'string' &&
    typeof agent === 'string' &&
    typeof profile === 'string' &&
    typeof allowed === 'boolean' &&
    typeof state === 'string' &&
    typeof reason === 'string'
  );
}

type OtherEntry = Exclude<EvidenceEntry, DecisionEntry>;

/** What `check` passes; else its message. The parts of records have their only description in `store/record/`. */
const checked = <Value>(check: Check): z.ZodMiniType<Value> =>
  z.custom<Value>((value) => passes(check, value), {
    error: ({ input, path = [] }) => faultOf(check, input, path.join('.'))?.message,
  });

/** A profile that decides must be whole. */
const profile = checked<Profile>(wholeProfile);
const time = checked<number>(record.time);
const status = checked<number>(record.status);
const headers = checked<AnswerHeaders>(record.headers);
const suspect = checked<Suspect>(record.suspect);
const unavailableReason = checked<UnavailableReason>(record.unavailableReason);
const errorCode = checked<string>(record.errorCode);
const sha256 = checked<string>(record.sha256);
const recordWithoutBody = checked<RecordWithoutBody>(record.recordWithoutBody);
const body = z.pipe(checked<record.WrittenBody>(record.body), z.transform(record.bytesOf));

const text = z.string();
const optional = z.exactOptional;
const ofOrigin = { at: time, origin: text, profile: text };
const bytes = { sha256: optional(sha256), body: optional(body) };
const flag = optional(z.literal(true));
const run = z.object({
  type: z.literal('run'),
  at: time,
  id: text,
  version: text,
  profile: text,
  profiles: optional(z.record(text, profile)),
  agent: z.union([text, z.array(text)]),
});
const attempt = z.object({
  type: z.literal('robots'),
  ...ofOrigin,
  ...bytes,
  id: z.int(),
  outcome: z.enum(['success', 'not-modified', 'unavailable', 'restricted', 'unreachable']),
  hops: z.array(z.object({ url: text, status: optional(status), location: optional(text) })),
  status: optional(status),
  error: optional(errorCode),
  because: optional(unavailableReason),
  headers: optional(headers),
  retryAfterMs: optional(time),
  truncated: flag,
  suspect: optional(suspect),
  staleAt: optional(time),
  retryAt: optional(time),
  detached: flag,
  previous: optional(z.int()),
});
const override = z.object({
  type: z.literal('robots'),
  ...ofOrigin,
  ...bytes,
  override: z.enum(['text', 'allow', 'disallow']),
  because: optional(text),
});
const stored = z.object({
  type: z.literal('stored'),
  ...ofOrigin,
  ...bytes,
  record: recordWithoutBody,
  detached: flag,
});
const signal = z.object({ type: z.literal('signal'), at: time, origin: text, reachable: z.boolean() });
const forgotten = z.object({
  type: z.literal('forgotten'),
  at: time,
  origin: text,
  because: z.enum(['invalidated', 'evicted']),
});
const ignored = z.object({ type: z.literal('ignored'), at: time, origin: text, url: text, because: text });

/** The lines that are no decisions, by their type. What a later version adds to them is passed over. */
const SCHEMAS: ReadonlyMap<unknown, z.ZodMiniType<OtherEntry>> = new Map<
  OtherEntry['type'],
  z.ZodMiniType<OtherEntry>
>([
  ['run', run],
  ['robots', z.union([attempt, override])],
  ['stored', stored],
  ['signal', signal],
  ['forgotten', forgotten],
  ['ignored', ignored],
]);
