import { agentLineNames, callerAgent, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import { dialects } from './dialect.ts';
import { assertRobotsFile, type RobotsFile } from './file.ts';
import {
  GroupWalk,
  LINE_ALLOW,
  LINE_BLANK,
  LINE_DISALLOW,
  LINE_OTHER,
  LINE_USER_AGENT,
} from './parse-line.ts';
import { fromUtf8, utf8 } from './bytes.ts';
import { assertKnownOptions, invalid } from '../base/index.ts';

/** A line that neither allows nor disallows, as bytes of its file. */
export interface RecordLine {
  /** One of the requested keys. */
  readonly key: string;
  /** 1-based. */
  readonly line: number;
  /** Offset of the value. */
  readonly start: number;
  readonly end: number;
}

export interface RecordLines {
  /** Lines of the blocks that name the agent, or of those for all agents if none names it. */
  readonly applying: readonly RecordLine[];
  /** Lines outside any block. */
  readonly outside: readonly RecordLine[];
  /**
   * Lines outside any block, and lines in a paragraph without user-agent line or rule. They stand
   * apart from all groups, so their author probably meant all agents.
   */
  readonly apart: readonly RecordLine[];
}

/**
 * The lines with one of `keys` (lower case) for `agent`. Blocks (see `GroupWalk`) apply as groups do: those that name
 * the agent, else those for all (RFC 9309 §2.2.1).
 */
export function recordsFor(file: RobotsFile, agent: string, keys: readonly string[]): RecordLines {
  const { bytes } = file;
  const traits = dialects[file.dialect];
  const caller = callerAgent(agent, traits);
  const wanted = keys.map((key) => ({ key, bytes: utf8.encode(key) }));
  /** By block: the agents it names. */
  const names: number[] = [];
  const found: (RecordLine & { readonly block: number; isApart: boolean })[] = [];
  /** Whether a user-agent line or rule came in this paragraph, and the first line found that a rule would tie to it. */
  let isGrouped = false;
  let before = 0;
  const walk = new GroupWalk(bytes, traits);
  const { cursor } = walk;
  while (walk.next()) {
    const { block } = walk;
    const { kind, line, valueStart: start, valueEnd: end } = cursor;
    if (kind === LINE_BLANK) {
      isGrouped = false;
      before = found.length;
    }
    if (kind === LINE_USER_AGENT) {
      isGrouped = true;
      before = found.length;
      names[block] = (names[block] ?? 0) | agentLineNames(bytes, start, end, caller, traits);
    } else if (kind === LINE_OTHER) {
      for (const { key, bytes } of wanted)
        if (cursor.keyIs(bytes)) found.push({ key, line, start, end, block, isApart: !isGrouped });
    }
    if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      for (; before < found.length; before++) found[before]!.isApart = false;
      isGrouped = true;
    }
  }
  const scope = names.some((mask) => (mask & NAMES_AGENT) !== 0) ? NAMES_AGENT : NAMES_ALL;
  return {
    applying: found.filter(({ block }) => ((names[block] ?? 0) & scope) !== 0),
    outside: found.filter(({ block }) => block < 0),
    apart: found.filter(({ block, isApart }) => block < 0 || isApart),
  };
}

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
