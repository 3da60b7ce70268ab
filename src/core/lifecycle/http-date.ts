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
    const parts: Parts = {
      month: MONTHS.indexOf(month.toLowerCase()),
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second),
    };
    const fullYear = year.length === 2 ? yearOfTwoDigits(Number(year), parts, nowMs) : Number(year);
    return isReal(fullYear, parts) ? instant(fullYear, parts) : undefined;
  }
  return undefined;
}

interface Parts {
  /** 0 to 11. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

function isReal(year: number, { month, day, hour, minute, second }: Parts): boolean {
  const daysInMonth = new Date(
    instant(year, { month: month + 1, day: 0, hour: 0, minute: 0, second: 0 }),
  ).getUTCDate();
  if (!(day >= 1 && day <= daysInMonth)) return false;
  // RFC 9110 §5.6.7: time-of-day runs "00:00:00 - 23:59:60 (leap second)".
  const isLeapSecond = hour === 23 && minute === 59 && second === 60;
  return hour <= 23 && minute <= 59 && (second <= 59 || isLeapSecond);
}

/**
 * RFC 9110 §5.6.7: "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST
 * interpret a timestamp that appears to be more than 50 years in the future as representing the most recent year in
 * the past that had the same last two digits." So it is the latest such year that is at most 50 years ahead.
 */
function yearOfTwoDigits(twoDigits: number, parts: Parts, nowMs: number): number {
  const horizon = new Date(nowMs);
  horizon.setUTCFullYear(horizon.getUTCFullYear() + 50);
  const year = Math.floor(horizon.getUTCFullYear() / 100) * 100 + twoDigits;
  return instant(year, parts) > horizon.getTime() ? year - 100 : year;
}

/** The Gregorian calendar repeats after this many years. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * 24 * 60 * 60 * 1000;

/** `Date.UTC` reads the years 0 to 99 as 1900 to 1999, so the date is computed one cycle later. */
function instant(year: number, { month, day, hour, minute, second }: Parts): number {
  return Date.UTC(year + CYCLE_YEARS, month, day, hour, minute, second) - CYCLE_MS;
}
