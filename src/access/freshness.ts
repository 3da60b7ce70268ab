import { cacheDirectives } from './cache-control.ts';
import { parseHttpDate } from './http-date.ts';
import type { AnswerHeaders } from './outcome.ts';
import type { Profile } from './profile.ts';

/** How long an answer lives, and which of its words said so. */
export interface Freshness {
  /** Counted from receipt, within the profile's bounds, before jitter. */
  readonly lifetimeMs: number;
  readonly source: 's-maxage' | 'max-age' | 'expires' | 'no-store' | 'no-cache' | 'default';
  /** The bound of the profile that took the place of what was said. */
  readonly clampedBy?: 'min' | 'max';
}

/** The lifetime of an answer that arrived at `receivedAtMs`, before jitter. */
export function lifetimeMs(
  headers: AnswerHeaders,
  profile: Pick<Profile, 'lifetime'>,
  receivedAtMs: number,
): number {
  return freshness(headers, profile, receivedAtMs).lifetimeMs;
}

/** The same, with the reason. */
export function freshness(
  headers: AnswerHeaders,
  profile: Pick<Profile, 'lifetime'>,
  receivedAtMs: number,
): Freshness {
  const { defaultMs, minMs, maxMs } = profile.lifetime;
  const { source, ms } = stated(headers, receivedAtMs) ?? { source: 'default', ms: defaultMs };
  if (ms > maxMs) return { lifetimeMs: maxMs, source, clampedBy: 'max' };
  if (ms < minMs) return { lifetimeMs: minMs, source, clampedBy: 'min' };
  return { lifetimeMs: ms, source };
}

interface Stated {
  readonly source: Freshness['source'];
  /** What is left of the lifetime at receipt; not above 0 when the answer arrived stale. */
  readonly ms: number;
}

function stated(headers: AnswerHeaders, receivedAtMs: number): Stated | undefined {
  const directives = cacheDirectives(headers.cacheControl ?? '');
  // RFC 9111 §4.2.1: "If directives conflict (e.g., both max-age and no-cache are present), the most restrictive
  // directive should be honored." A `no-cache` that lists fields counts like a bare one (§5.2.2.4 calls it usual).
  for (const source of ['no-store', 'no-cache'] as const)
    if (directives.has(source)) return { source, ms: 0 };

  // RFC 9111 §4.2.1, in this order: s-maxage, max-age, "the value of the Expires response header field minus the
  // value of the Date response header field".
  for (const source of ['s-maxage', 'max-age'] as const) {
    const value = directives.get(source);
    if (value === undefined) continue;
    // RFC 9111 §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information (e.g.,
    // a max-age directive with a non-integer value) to be stale."
    return { source, ms: (deltaSeconds(value) ?? 0) * 1000 - ageMs(headers) };
  }

  if (headers.expires === undefined) return undefined;
  // RFC 9111 §5.3: "A cache recipient MUST interpret invalid date formats, especially the value "0", as representing
  // a time in the past (i.e., "already expired")."
  const expiresMs = parseHttpDate(headers.expires, receivedAtMs);
  if (expiresMs === undefined) return { source: 'expires', ms: 0 };
  // RFC 9110 §6.6.1: "A recipient with a clock that receives a response message without a Date header field MUST
  // record the time it was received". Counted from there, no age is left to take off.
  const dateMs = parseHttpDate(headers.date ?? '', receivedAtMs);
  const ms = dateMs === undefined ? expiresMs - receivedAtMs : expiresMs - dateMs - ageMs(headers);
  return { source: 'expires', ms };
}

/**
 * RFC 9111 §5.1: "a cache encountering a message with a list-based Age field value SHOULD use the first member of
 * the field value, discarding subsequent ones"; an invalid value is ignored.
 */
function ageMs(headers: AnswerHeaders): number {
  const [first = ''] = (headers.age ?? '').split(',', 1);
  return (deltaSeconds(first) ?? 0) * 1000;
}

/**
 * A whole, non-negative number of seconds. RFC 9111 §1.2.2: a value too great to hold counts as "2147483648 (2^31)
 * or the greatest positive integer it can conveniently represent".
 */
function deltaSeconds(text: string): number | undefined {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) ? Math.min(Number(trimmed), 2 ** 31) : undefined;
}

/**
 * The pause a `Retry-After` field asks for, within bounds; undefined when the field says nothing readable.
 *
 * RFC 9110 §10.2.3: "The Retry-After field value can be either an HTTP-date or a number of seconds to delay after
 * receiving the response." A date in the past, like 0, asks for the shortest pause.
 */
export function retryAfterMs(
  header: string | undefined,
  nowMs: number,
  bounds: { readonly minMs: number; readonly maxMs: number },
): number | undefined {
  if (header === undefined) return undefined;
  const seconds = deltaSeconds(header);
  const atMs = seconds === undefined ? parseHttpDate(header, nowMs) : nowMs + seconds * 1000;
  return atMs === undefined ? undefined : Math.min(Math.max(atMs - nowMs, bounds.minMs), bounds.maxMs);
}
