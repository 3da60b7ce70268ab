/** One directive of a list. */
export interface Directive {
  /** The agent that the directive applies to, in lower case. Absent: it applies to all agents. */
  readonly agent?: string;
  /** The name of the directive, in lower case. */
  readonly name: string;
  /** The value as written. Absent: the directive has none. */
  readonly value?: string;
  /** The date of `unavailable_after` in epoch ms. Absent: another directive, or an invalid date. */
  readonly epochMs?: number;
}

/** Directives without a value: DeviantArt's `noai` and `noimageai`, Bing's `nocache`, and Google's. */
const BARE: ReadonlySet<string> = new Set([
  'all',
  'none',
  'index',
  'noindex',
  'follow',
  'nofollow',
  'archive',
  'noarchive',
  'cache',
  'nocache',
  'snippet',
  'nosnippet',
  'imageindex',
  'noimageindex',
  'translate',
  'notranslate',
  'indexifembedded',
  'noai',
  'noimageai',
]);
const VALUED: ReadonlySet<string> = new Set([
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
  'unavailable_after',
]);

const SEPARATORS = /[\s,]*/y;
const NAME = /[^\s,:]+/y;
const COLON = /\s*:/y;
const WORD_VALUE = /\s*([^\s,]*)/y;
const UNTIL_COMMA = /[^,]*/y;
const WORD = /\s*([^\s,:]*)/y;

/** Whether the directive has no value and is known. */
export function isBareDirective({ name, value }: Directive): boolean {
  return value === undefined && BARE.has(name);
}

/**
 * Reads the directives of a robots meta tag or of an X-Robots-Tag line, in order. Commas or white space separate them.
 *
 * With `namesAgents` (the header), a name followed by a colon is an agent unless it is a directive with a value. It
 * must start the line, or a known directive must follow. The agent applies to all directives up to the next agent:
 * "googlebot: nofollow, otherbot: noindex, nofollow". When lines were joined with a comma, a line without an agent
 * cannot be distinguished from a line with an agent before it, and is read as part of that line.
 */
export function* readDirectives(text: string, namesAgents: boolean): Generator<Directive> {
  let at = 0;
  let agent: string | undefined;
  let isFirst = true;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at += match[0].length;
    return match;
  };
  const named = (directive: Directive): Directive =>
    agent === undefined ? directive : { agent, ...directive };
  for (take(SEPARATORS); at < text.length; take(SEPARATORS)) {
    const begins = isFirst;
    isFirst = false;
    const name = take(NAME)?.[0].toLowerCase() ?? '';
    if (take(COLON) === null) {
      yield named({ name });
      continue;
    }
    if (name === 'unavailable_after') {
      const date = take(DATE);
      const epochMs = date === null ? undefined : epochMsOf(date);
      const value = ((date ?? take(UNTIL_COMMA))?.[0] ?? '').trim();
      yield named({ name, value, ...(epochMs !== undefined && { epochMs }) });
      continue;
    }
    if (namesAgents && name !== '' && !VALUED.has(name) && !BARE.has(name)) {
      WORD.lastIndex = at;
      const next = WORD.exec(text)?.[1]?.toLowerCase() ?? '';
      if (BARE.has(next) || VALUED.has(next) || (begins && !/^\d/.test(next))) {
        agent = name;
        continue;
      }
    }
    yield named({ name, value: take(WORD_VALUE)?.[1] ?? '' });
  }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Zones of RFC 822 §5.1: hours east of UTC. */
const ZONE_HOURS: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};

const DATE = new RegExp(
  [
    // ISO 8601 (`2010-06-25`).
    String.raw`\s*(?:(\d{4})-(\d{2})-(\d{2})(?!\d)`,
    // RFC 822 (`Fri, 25 Jun 2010`) and RFC 850 (`Friday, 25-Jun-10`).
    String.raw`|(?:[a-z]{3,9},?\s+)?(\d{1,2})(?:\s+|-)([a-z]{3})[a-z]{0,6}(?:\s+|-)(\d{4}|\d{2})(?!\d))`,
    String.raw`(?:(?:t|\s+)(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?![\d:.])`,
    String.raw`(?:\s*(?:([+-])(\d{2})(?::?(\d{2}))?|([a-z]{1,3}))(?![\w+:-]))?)?\s*(?=,|$)`,
  ].join(''),
  'iy',
);

/**
 * Reads a date, in one of the formats of `unavailable_after`: "widely adopted formats including, but not
 * limited to RFC 822, RFC 850, and ISO 8601" (Google's specification). A date without a time is the start of that day.
 * A time without a zone is UTC. A year of two digits is 1950 to 2049 (RFC 2822 §4.3).
 *
 * @returns epoch ms; `undefined` when there is no such date.
 */
function epochMsOf([, ...parts]: RegExpExecArray): number | undefined {
  const [isoYear, isoMonth, isoDay, day, month = '', year = '', hour, minute, second, ...zone] = parts;
  const century = year.length === 4 ? 0 : Number(year) < 50 ? 2_000 : 1_900;
  const midnightMs =
    isoYear === undefined
      ? midnight(Number(year) + century, MONTHS.indexOf(month.toLowerCase()), Number(day))
      : midnight(Number(isoYear), Number(isoMonth) - 1, Number(isoDay));
  const [hours, minutes, seconds] = [Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)];
  const offsetMs = zoneOffsetMs(zone);
  if (midnightMs === undefined || offsetMs === undefined || hours > 23 || minutes > 59 || seconds > 60)
    return undefined;
  return midnightMs + ((hours * 60 + minutes) * 60 + seconds) * 1_000 - offsetMs;
}

/** The start of a day in UTC, in epoch ms; `undefined` when the month has no such day. */
function midnight(year: number, month: number, day: number): number | undefined {
  // `Date.UTC` adds 1900 to a year below 100.
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : undefined;
}

function zoneOffsetMs([sign, hours = '0', minutes = '0', name]: readonly string[]): number | undefined {
  if (name !== undefined) {
    const offset = ZONE_HOURS[name.toLowerCase()];
    return offset === undefined ? undefined : offset * 3_600_000;
  }
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
