import * as z from 'zod/mini';
import { quote, RobotsEvidenceError } from '../base/index.ts';
import { wholeProfile } from '../decision/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import {
  body,
  errorCode,
  headers,
  recordWithoutBody,
  sha256,
  status,
  suspect,
  time,
  unavailableReason,
} from '../store/record/record-schema.ts';
import type { DecisionEntry, EvidenceEntry } from './entry.ts';

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
  const read = ENTRY.safeParse(value);
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

/** A profile that decides must be whole. */
const profile = z.custom<Profile>((value) => {
  try {
    wholeProfile(value, 'profile');
    return true;
  } catch {
    return false;
  }
}, 'Expected a whole profile');

const ENTRY: z.ZodMiniType<OtherEntry> = makeSchema();

/** The lines that are no decisions. What a later version adds to them is passed over. */
function makeSchema(): z.ZodMiniType<OtherEntry> {
  const text = z.string();
  const optional = z.exactOptional;
  const ofOrigin = { at: time, origin: text, profile: text };
  const octets = { sha256: optional(sha256), body: optional(body) };
  const number = optional(z.int());
  const flag = optional(z.literal(true));
  return z.union([
    z.object({
      type: z.literal('run'),
      at: time,
      id: text,
      version: text,
      profile: text,
      profiles: optional(z.record(text, profile)),
      agent: z.union([text, z.array(text)]),
    }),
    z.object({
      type: z.literal('robots'),
      ...ofOrigin,
      ...octets,
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
      previous: number,
    }),
    z.object({
      type: z.literal('robots'),
      ...ofOrigin,
      ...octets,
      override: z.enum(['text', 'allow', 'disallow']),
      because: optional(text),
    }),
    z.object({
      type: z.literal('stored'),
      ...ofOrigin,
      ...octets,
      record: recordWithoutBody,
      detached: flag,
    }),
    z.object({ type: z.literal('signal'), at: time, origin: text, reachable: z.boolean() }),
    z.object({
      type: z.literal('forgotten'),
      at: time,
      origin: text,
      because: z.enum(['invalidated', 'evicted']),
    }),
    z.object({ type: z.literal('ignored'), at: time, origin: text, url: text, because: text }),
  ]);
}
