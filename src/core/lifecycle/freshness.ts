import { omitUndefined } from '../base/index.ts';
import type { Suspect } from './challenge-pages.ts';
import type { RobotsResponseHeaders } from './outcome.ts';
import type { Profile } from './profile.ts';

/**
 * The freshness information of a response. Optional members are absent when the response has no such field, or an
 * unreadable one.
 */
export type StatedLifetime =
  | {
      readonly source: 's-maxage' | 'max-age';
      /** Absent when the value is not a whole number. It then counts as 0. */
      readonly seconds?: number;
      /** Seconds already spent in other caches, from `Age`. */
      readonly ageSeconds: number;
    }
  | {
      readonly source: 'expires';
      /** Absent when the value is not a date. It then counts as past. */
      readonly expiresAt?: number;
      /** The `Date` field that the lifetime counts from. Absent when it counts from receipt. */
      readonly servedAt?: number;
      readonly ageSeconds: number;
    }
  | { readonly source: 'no-store' | 'no-cache' }
  /** No freshness information: the profile's default lifetime applies. */
  | { readonly source: 'default' };

/** The lifetime of a response, and where it comes from. */
export type Freshness = StatedLifetime & {
  /** The lifetime from receipt, within the profile's bounds, before jitter. */
  readonly lifetimeMs: number;
  /** The bound that replaced the stated lifetime: of the profile, or of a page that came instead of the file. */
  readonly clampedBy?: 'min' | 'max' | 'suspect';
};

/** A page instead of a robots.txt, as of a captive portal, has no rules: the file may be back soon. */
const MAX_SUSPECT_MS = 10 * 60 * 1000;

/** Computes the lifetime of a response that arrived at `receivedAtMs`. */
export function freshness(
  headers: RobotsResponseHeaders,
  profile: Pick<Profile, 'lifetime'>,
  receivedAtMs: number,
  suspect?: Suspect,
): Freshness {
  const { defaultMs, minMs, maxMs } = profile.lifetime;
  const said = readStatedLifetime(headers, receivedAtMs);
  const ms = leftAtReceipt(said, receivedAtMs) ?? defaultMs;
  if (suspect !== undefined && ms > MAX_SUSPECT_MS)
    return { ...said, lifetimeMs: MAX_SUSPECT_MS, clampedBy: 'suspect' };
  if (ms > maxMs) return { ...said, lifetimeMs: maxMs, clampedBy: 'max' };
  if (ms < minMs) return { ...said, lifetimeMs: minMs, clampedBy: 'min' };
  return { ...said, lifetimeMs: ms };
}

function readStatedLifetime(headers: RobotsResponseHeaders, receivedAtMs: number): StatedLifetime {
  const directives = cacheDirectives(headers.cacheControl ?? '');
  // RFC 9111 §4.2.1: "If directives conflict (e.g., both max-age and no-cache are present), the most restrictive
  // directive should be honored." A `no-cache` with a list of fields counts as a bare one (§5.2.2.4 says that many
  // caches do so).
  for (const source of ['no-store', 'no-cache'] as const) if (directives.has(source)) return { source };

  // RFC 9111 §4.2.1, in this order: s-maxage, max-age, "the value of the Expires response header field minus the
  // value of the Date response header field".
  for (const source of ['s-maxage', 'max-age'] as const) {
    const value = directives.get(source);
    if (value === undefined) continue;
    const seconds = deltaSeconds(value);
    const ageSeconds = age(headers);
    return { source, ...omitUndefined({ seconds }), ageSeconds };
  }

  if (headers.expires === undefined) return { source: 'default' };
  const expiresAt = parseHttpDate(headers.expires, receivedAtMs);
  const servedAt = parseHttpDate(headers.date ?? '', receivedAtMs);
  return { source: 'expires', ...omitUndefined({ expiresAt, servedAt }), ageSeconds: age(headers) };
}

/** The lifetime left at receipt; 0 or less when the response arrived stale. */
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
      // record the time it was received". The lifetime then counts from receipt, so `Age` is not subtracted.
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
function age(headers: RobotsResponseHeaders): number {
  const [first = ''] = (headers.age ?? '').split(',', 1);
  return deltaSeconds(first) ?? 0;
}

/**
 * Parses a whole, non-negative number of seconds. RFC 9111 §1.2.2: a value too great to hold counts as "2147483648
 * (2^31) or the greatest positive integer it can conveniently represent".
 */
function deltaSeconds(text: string): number | undefined {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) ? Math.min(Number(trimmed), 2 ** 31) : undefined;
}

/**
 * The pause from a `Retry-After` field, within `bounds`; `undefined` when the field names no time to come: it is missing,
 * unreadable, negative, 0 or in the past. The back-off then holds.
 *
 * RFC 9110 §10.2.3: "The Retry-After field value can be either an HTTP-date or a number of seconds to delay after
 * receiving the response." A response has one such field; of several, which fetch joins by commas, the longest pause counts.
 */
export function retryAfterMs(
  header: string | undefined,
  nowMs: number,
  bounds: { readonly minMs: number; readonly maxMs: number },
): number | undefined {
  let longestMs = 0;
  const items = header?.split(',') ?? [];
  for (const [index, item] of items.entries()) {
    const seconds = deltaSeconds(item);
    // A date has a comma of its own.
    const atMs =
      seconds === undefined
        ? (parseHttpDate(`${item},${items[index + 1] ?? ''}`.trim(), nowMs) ??
          parseHttpDate(item.trim(), nowMs))
        : nowMs + seconds * 1000;
    if (atMs !== undefined) longestMs = Math.max(longestMs, atMs - nowMs);
  }
  return longestMs === 0 ? undefined : Math.min(Math.max(longestMs, bounds.minMs), bounds.maxMs);
}

/**
 * The directives of a `Cache-Control` field by lower-cased name. A directive without a value maps to the empty text.
 * Takes linear time.
 *
 * RFC 9111 §4.2.1: "When there is more than one value present for a given directive […], either the first occurrence
 * should be used or the response should be considered stale." The first is used.
 */
export function cacheDirectives(field: string): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const [member] of field.matchAll(MEMBER)) {
    const [name = '', ...value] = member.split('=');
    const key = name.trim().toLowerCase();
    if (key !== '' && !directives.has(key)) directives.set(key, unquoted(value.join('=').trim()));
  }
  return directives;
}

/** What is between commas outside quotes. An unclosed quote runs to the end of the field. */
const MEMBER = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/gs;

/** RFC 9111 §5.2: "Recipients ought to accept both forms", that is `max-age=5` and `max-age="5"`. */
function unquoted(value: string): string {
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : value;
}

/**
 * Parses dates of HTTP header fields. `Date.parse` is not used: it accepts forms that no standard defines, and reads
 * some of them in the local time zone.
 */

const MONTHS: readonly string[] = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY_NAME = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;

/*
 * RFC 9110 §5.6.7: "A recipient that parses a timestamp value in an HTTP field MUST accept all three HTTP-date
 * formats." RFC 9111 §4.2: "Although all date formats are specified to be case-sensitive, a cache recipient SHOULD
 * match the field value case-insensitively" and "SHOULD consider a date with a zone abbreviation other than "GMT" to
 * be invalid for calculating expiration." The name must be that of a weekday, but need not fit the date.
 */
const FORMS: readonly RegExp[] = [
  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(String.raw`^${DAY_NAME}, (?<day>\d{2}) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`, 'i'),
  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(String.raw`^${LONG_DAY_NAME}, (?<day>\d{2})-${MONTH}-(?<year>\d{2}) ${TIME} GMT$`, 'i'),
  // asctime: Sun Nov  6 08:49:37 1994
  new RegExp(String.raw`^${DAY_NAME} ${MONTH} (?<day>\d{2}| \d) ${TIME} (?<year>\d{4})$`, 'i'),
];

const LONGEST_FORM = 'Wednesday, 06-Nov-94 08:49:37 GMT'.length;

/**
 * Parses an HTTP-date into epoch ms; `undefined` when the text is no date. `nowMs` decides the century of two-digit
 * years.
 */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > LONGEST_FORM) return undefined;
  for (const form of FORMS) {
    const groups = form.exec(trimmed)?.groups;
    if (groups === undefined) continue;
    const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = groups;
    const instant = (fullYear: number): number | undefined => {
      const date = new Date(0);
      // Not `Date.UTC`, which reads the years 0 to 99 as 1900 to 1999.
      date.setUTCFullYear(fullYear, MONTHS.indexOf(month.toLowerCase()), Number(day));
      return date.getUTCDate() === Number(day)
        ? date.setUTCHours(Number(hour), Number(minute), Number(second))
        : undefined;
    };
    // RFC 9110 §5.6.7: time-of-day runs "00:00:00 - 23:59:60 (leap second)".
    const isTime =
      Number(hour) <= 23 &&
      Number(minute) <= 59 &&
      (Number(second) <= 59 || `${hour}${minute}${second}` === '235960');
    if (!isTime) return undefined;
    return year.length === 2 ? latestInstant(Number(year), instant, nowMs) : instant(Number(year));
  }
  return undefined;
}

/**
 * RFC 9110 §5.6.7: "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST
 * interpret a timestamp that appears to be more than 50 years in the future as representing the most recent year in
 * the past that had the same last two digits." So it is the latest such year that is at most 50 years ahead.
 */
function latestInstant(
  twoDigits: number,
  instant: (year: number) => number | undefined,
  nowMs: number,
): number | undefined {
  const horizon = new Date(nowMs);
  horizon.setUTCFullYear(horizon.getUTCFullYear() + 50);
  const year = Math.floor(horizon.getUTCFullYear() / 100) * 100 + twoDigits;
  const latest = instant(year);
  return latest !== undefined && latest > horizon.getTime() ? instant(year - 100) : latest;
}
