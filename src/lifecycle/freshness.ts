import { cacheDirectives } from './cache-control.ts';
import { parseHttpDate } from './http-date.ts';
import type { AnswerHeaders } from './outcome.ts';
import type { Profile } from './profile.ts';

/** What an answer says of its lifetime. Where it says nothing, or nothing readable, that is told by what is absent. */
export type StatedLifetime =
  | {
      readonly source: 's-maxage' | 'max-age';
      /** Absent when the value is no whole number, which counts as 0. */
      readonly seconds?: number;
      /** Already spent in other caches, by `Age`. */
      readonly ageSeconds: number;
    }
  | {
      readonly source: 'expires';
      /** Absent when the value is no date, which counts as past. */
      readonly expiresAt?: number;
      /** The `Date` it is counted from; absent when it is counted from receipt. */
      readonly servedAt?: number;
      readonly ageSeconds: number;
    }
  | { readonly source: 'no-store' | 'no-cache' }
  /** Nothing: the profile's own lifetime applies. */
  | { readonly source: 'default' };

/** How long an answer lives, and why. */
export type Freshness = StatedLifetime & {
  /** Counted from receipt, within the profile's bounds, before jitter. */
  readonly lifetimeMs: number;
  /** The bound of the profile that took the place of what was said. */
  readonly clampedBy?: 'min' | 'max';
};

/** The lifetime of an answer that arrived at `receivedAtMs`, and why it is that long. */
export function freshness(
  headers: AnswerHeaders,
  profile: Pick<Profile, 'lifetime'>,
  receivedAtMs: number,
): Freshness {
  const { defaultMs, minMs, maxMs } = profile.lifetime;
  const said = stated(headers, receivedAtMs);
  const ms = leftAtReceipt(said, receivedAtMs) ?? defaultMs;
  if (ms > maxMs) return { ...said, lifetimeMs: maxMs, clampedBy: 'max' };
  if (ms < minMs) return { ...said, lifetimeMs: minMs, clampedBy: 'min' };
  return { ...said, lifetimeMs: ms };
}

function stated(headers: AnswerHeaders, receivedAtMs: number): StatedLifetime {
  const directives = cacheDirectives(headers.cacheControl ?? '');
  // RFC 9111 §4.2.1: "If directives conflict (e.g., both max-age and no-cache are present), the most restrictive
  // directive should be honored." A `no-cache` that lists fields counts like a bare one (§5.2.2.4 calls it usual).
  for (const source of ['no-store', 'no-cache'] as const) if (directives.has(source)) return { source };

  // RFC 9111 §4.2.1, in this order: s-maxage, max-age, "the value of the Expires response header field minus the
  // value of the Date response header field".
  for (const source of ['s-maxage', 'max-age'] as const) {
    const value = directives.get(source);
    if (value === undefined) continue;
    const seconds = deltaSeconds(value);
    const ageSeconds = age(headers);
    return seconds === undefined ? { source, ageSeconds } : { source, seconds, ageSeconds };
  }

  if (headers.expires === undefined) return { source: 'default' };
  const expiresAt = parseHttpDate(headers.expires, receivedAtMs);
  const servedAt = parseHttpDate(headers.date ?? '', receivedAtMs);
  return {
    source: 'expires',
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(servedAt === undefined ? {} : { servedAt }),
    ageSeconds: age(headers),
  };
}

/** What is left of the lifetime at receipt; not above 0 when the answer arrived stale. */
function leftAtReceipt(said: StatedLifetime, receivedAtMs: number): number | undefined {
  switch (said.source) {
    case 'no-store':
    case 'no-cache':
      return 0;
    case 's-maxage':
    case 'max-age':
      // RFC 9111 §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information (e.g.,
      // a max-age directive with a non-integer value) to be stale."
      return ((said.seconds ?? 0) - said.ageSeconds) * 1000;
    case 'expires':
      // RFC 9111 §5.3: "A cache recipient MUST interpret invalid date formats, especially the value "0", as
      // representing a time in the past (i.e., "already expired")."
      if (said.expiresAt === undefined) return 0;
      // RFC 9110 §6.6.1: "A recipient with a clock that receives a response message without a Date header field MUST
      // record the time it was received". Counted from there, no age is left to take off.
      return said.servedAt === undefined
        ? said.expiresAt - receivedAtMs
        : said.expiresAt - said.servedAt - said.ageSeconds * 1000;
    case 'default':
      return undefined;
  }
}

/**
 * RFC 9111 §5.1: "a cache encountering a message with a list-based Age field value SHOULD use the first member of
 * the field value, discarding subsequent ones"; an invalid value is ignored.
 */
function age(headers: AnswerHeaders): number {
  const [first = ''] = (headers.age ?? '').split(',', 1);
  return deltaSeconds(first) ?? 0;
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
