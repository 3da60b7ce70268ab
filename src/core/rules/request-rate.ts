/* A file of its own: only pacing and the description of policies load it. */
import { assertKnownOptions, invalid } from '../base/index.ts';
import { assertRobotsFile, type RobotsFile } from './file.ts';
import { recordsFor } from './other-records.ts';
import { fromUtf8 } from './bytes.ts';

/** `documents/time`, and hours. */
export const RATE: RegExp = /^(\d{1,9})\s*\/\s*(\d{1,9})\s*([smh]?)(?:\s+(\d\d)(\d\d)\s*-\s*(\d\d)(\d\d))?$/i;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const DAY_MINUTES = 24 * 60;
const YEAR_MS = 31_536_000_000;

/**
 * `Request-rate` for `agent`, as **milliseconds** from one request to the next: the longest if there are several. It
 * applies to the user-agent lines directly above it, as `Crawl-delay` does.
 *
 * `1/10` asks for 10,000 (a document in ten seconds), `10/1m` for 6,000; the units are `s`, `m` and `h`. Not part of
 * RFC 9309: reported, never enforced here. If there is a `Crawl-delay` too, keep the longer of both.
 *
 * @param options `atMs`: a time as epoch milliseconds; rates for other hours of the day (`1/10s 1800-1900`, UTC)
 *   are then left out. Without it they apply at all hours.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for anything but a file of `parseRobots`, for an agent
 *   that is neither a string nor a list, and for an unknown option.
 *
 * @example
 * ```ts
 * requestRate(parseRobots('User-agent: *\nRequest-rate: 1/5s'), 'ExampleBot'); // 5000
 * ```
 */
export function requestRate(
  file: RobotsFile,
  agent: string | readonly string[] = '*',
  options: { readonly atMs?: number } = {},
): number | undefined {
  assertRobotsFile(file, 'requestRate');
  assertKnownOptions(options, ['atMs']);
  const { atMs } = options;
  if (atMs !== undefined && typeof atMs !== 'number') throw invalid('`atMs`', 'a time in epoch ms', atMs);
  let longest: number | undefined;
  for (const { start, end } of recordsFor(file, file.chooseAgent(agent), ['request-rate']).applying) {
    const match = RATE.exec(fromUtf8.decode(file.bytes.subarray(start, end)));
    if (match === null) continue;
    const [, documents, time, unit, fromHour, fromMinute, toHour, toMinute] = match;
    const delayMs = (Number(time) * (UNIT_MS[(unit ?? '').toLowerCase()] ?? 1_000)) / Number(documents);
    const from = Number(fromHour) * 60 + Number(fromMinute);
    const to = Number(toHour) * 60 + Number(toMinute);
    if (!Number.isFinite(delayMs) || (atMs !== undefined && !isWithin(atMs, from, to))) continue;
    longest = Math.max(longest ?? 0, Math.min(Math.round(delayMs), YEAR_MS));
  }
  return longest;
}

/**
 * Whether a time is between two minutes of the day; the interval may span midnight. Always true without an interval.
 */
function isWithin(atMs: number, from: number, to: number): boolean {
  if (Number.isNaN(from)) return true;
  const minute = Math.floor(atMs / 60_000) % DAY_MINUTES;
  return from <= to ? minute >= from && minute <= to : minute >= from || minute <= to;
}
