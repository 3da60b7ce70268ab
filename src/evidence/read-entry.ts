import * as z from 'zod/mini';
import { quote, RobotsEvidenceError } from '../base/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import { octetsOfBase64 } from '../store/record/stored-body.ts';
import type { DecisionEntry, EvidenceEntry } from './entry.ts';

/** A line of an evidence file. */
interface ReadEntry {
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

const utf8 = new TextEncoder();

const ENTRY: z.ZodMiniType<OtherEntry> = makeSchema();

/** The lines that are no decisions. What a later version adds to them is passed over. */
function makeSchema(): z.ZodMiniType<OtherEntry> {
  const text = z.string();
  const at = z.number();
  const optionalText = z.exactOptional(text);
  const ofOrigin = { at, origin: text };
  const sha256 = z.exactOptional(text.check(z.regex(/^[0-9a-f]{64}$/)));
  const status = z.int().check(z.minimum(100), z.maximum(999));
  const suspect = z.exactOptional(z.enum(['challenge', 'blocked', 'login', 'html']));
  const reason = z.exactOptional(z.enum(['too-many-redirects', 'redirect-loop', 'disallowed-redirect']));
  const headers = z.exactOptional(z.record(text, text));
  const body = z.exactOptional(
    z.union([
      z.pipe(
        text,
        z.transform((written): Uint8Array => utf8.encode(written)),
      ),
      z.pipe(
        z.object({ base64: z.base64() }),
        z.transform(({ base64 }): Uint8Array => octetsOfBase64(base64)),
      ),
    ]),
  );
  const route = { finalUrl: text, hops: z.int(), suspect };
  const answer = { ...route, headers, status, fetchedAt: at, staleAt: at };
  const record = z.object({
    origin: text,
    answer: z.exactOptional(
      z.discriminatedUnion('kind', [
        z.object({ ...answer, kind: z.literal('rules'), notModified: z.exactOptional(z.literal(true)) }),
        z.object({ ...answer, kind: z.literal('unavailable'), reason, since: at }),
        z.object({ ...answer, kind: z.literal('restricted') }),
      ]),
    ),
    copy: z.exactOptional(
      z.object({
        ...route,
        sha256,
        truncated: z.boolean(),
        status,
        fetchedAt: at,
        etag: optionalText,
        lastModified: optionalText,
        contentType: optionalText,
      }),
    ),
    failure: z.exactOptional(
      z.object({
        ...route,
        headers,
        since: at,
        at,
        attempts: z.int(),
        retryAt: at,
        retryAfterMs: z.exactOptional(at),
        status: z.exactOptional(status),
        error: text,
      }),
    ),
    site: z.exactOptional(z.object({ reachable: z.boolean(), at })),
  });
  const profileData = z.custom<Profile>(
    (value) => typeof value === 'object' && value !== null && 'dialect' in value,
  );
  return z.union([
    z.object({
      type: z.literal('run'),
      at,
      id: text,
      version: text,
      profile: text,
      profiles: z.exactOptional(z.record(text, profileData)),
      agent: z.union([text, z.array(text)]),
    }),
    z.object({
      type: z.literal('robots'),
      ...ofOrigin,
      id: z.int(),
      outcome: z.enum(['success', 'not-modified', 'unavailable', 'restricted', 'unreachable']),
      hops: z.array(
        z.object({ url: text, status: z.exactOptional(status), location: z.exactOptional(text) }),
      ),
      status: z.exactOptional(status),
      error: z.exactOptional(text),
      because: reason,
      headers,
      retryAfterMs: z.exactOptional(at),
      sha256,
      body,
      truncated: z.exactOptional(z.literal(true)),
      suspect,
      profile: text,
      staleAt: z.exactOptional(at),
      retryAt: z.exactOptional(at),
      detached: z.exactOptional(z.literal(true)),
      resumed: z.exactOptional(z.literal(true)),
    }),
    z.object({
      type: z.literal('robots'),
      ...ofOrigin,
      override: z.enum(['text', 'allow', 'disallow']),
      because: z.exactOptional(text),
      sha256,
      body,
      profile: text,
    }),
    z.object({ type: z.literal('stored'), ...ofOrigin, record, sha256, body, profile: text }),
    z.object({ type: z.literal('signal'), ...ofOrigin, reachable: z.boolean() }),
    z.object({ type: z.literal('forgotten'), ...ofOrigin, because: z.enum(['invalidated', 'evicted']) }),
    z.object({ type: z.literal('ignored'), ...ofOrigin, url: text, because: text }),
  ]);
}
