import { agentLineNames, NAMES_AGENT, NAMES_ALL, NAMES_NOBODY } from '../agent.ts';
import type { DialectTraits } from '../dialect.ts';
import {
  LINE_ALLOW,
  LINE_BLANK,
  LINE_DISALLOW,
  LINE_OTHER,
  LINE_USER_AGENT,
  LineCursor,
} from '../line-cursor.ts';
import { utf8 } from '../octets.ts';

const CRAWL_DELAY = utf8.encode('crawl-delay');

/** Called for each rule that applies, in file order, with the range of its pattern in the file. */
export type OnRule = (start: number, end: number, allow: boolean) => void;

export interface Selection {
  /** `named`: groups that name the agent apply. `all`: the groups for `*`. `none`: no group applies. */
  readonly scope: 'named' | 'all' | 'none';
  /** The longest `Crawl-delay` of the blocks that name the agent, in ms; -1 when there is none. */
  readonly crawlDelayMs: number;
  /** The user-agent lines that made the groups apply. */
  readonly agentLines: AgentLines;
}

/** The most lines listed in an answer about one URL, so that the answer is bounded. */
const MAX_LINES = 100;

/** Offsets of user-agent lines: the first ones, and the number of all. */
export class AgentLines {
  readonly offsets: number[] = [];
  count = 0;

  add(offset: number): void {
    if (this.count++ < MAX_LINES) this.offsets.push(offset);
  }
}

/**
 * Calls `onRule` for each rule that applies to `agent`. Reads the rules of no other groups.
 *
 * RFC 9309 §2.2.1: "Crawlers MUST use case-insensitive matching to find the group that matches the product
 * token and then obey the rules of the group. If there is more than one group matching the user-agent, the
 * matching groups' rules MUST be combined into one group". "If no matching group exists, crawlers MUST obey the
 * group with a user-agent line with the "*" value, if present."
 */
export function selectRules(
  bytes: Uint8Array,
  groups: readonly number[],
  agent: Uint8Array,
  traits: DialectTraits,
  onRule: OnRule,
): Selection {
  const cursor = new LineCursor(bytes, traits);
  const named: number[] = [];
  const all: number[] = [];
  const namedLines = new AgentLines();
  const allLines = new AgentLines();
  for (let group = 0; group < groups.length; group++) {
    const names = namesOf(cursor, groups, group, agent, traits, namedLines, allLines);
    if ((names & NAMES_AGENT) !== 0) named.push(group);
    if ((names & NAMES_ALL) !== 0) all.push(group);
  }
  const wanted = named.length > 0 ? NAMES_AGENT : NAMES_ALL;
  let crawlDelayMs = -1;
  for (const group of named.length > 0 ? named : all)
    crawlDelayMs = Math.max(crawlDelayMs, readGroup(cursor, groups, group, agent, wanted, traits, onRule));
  return named.length > 0
    ? { scope: 'named', crawlDelayMs, agentLines: namedLines }
    : { scope: all.length > 0 ? 'all' : 'none', crawlDelayMs, agentLines: allLines };
}

/** The names in a group's user-agent lines, as flags. Adds the offsets of lines that name the agent, or `*`. */
function namesOf(
  cursor: LineCursor,
  groups: readonly number[],
  group: number,
  agent: Uint8Array,
  traits: DialectTraits,
  namedLines: AgentLines,
  allLines: AgentLines,
): number {
  const end = endOf(cursor, groups, group);
  let names = NAMES_NOBODY;
  cursor.moveTo(groups[group]!);
  while (cursor.nextLine < end && cursor.next()) {
    if (cursor.kind === LINE_USER_AGENT) {
      const line = agentLineNames(cursor.bytes, cursor.valueStart, cursor.valueEnd, agent, traits);
      if ((line & NAMES_AGENT) !== 0) namedLines.add(cursor.keyStart);
      if ((line & NAMES_ALL) !== 0) allLines.add(cursor.keyStart);
      names |= line;
    } else if (closesAgents(cursor.kind, traits)) break;
  }
  return names;
}

/**
 * Calls `onRule` for each rule of a group.
 *
 * @returns the longest `Crawl-delay` of the blocks with a name in `wanted`, in ms; -1 if there is none.
 */
function readGroup(
  cursor: LineCursor,
  groups: readonly number[],
  group: number,
  agent: Uint8Array,
  wanted: number,
  traits: DialectTraits,
  onRule: OnRule,
): number {
  const end = endOf(cursor, groups, group);
  let crawlDelayMs = -1;
  // The names in the user-agent lines directly above, which start a block: see `GroupWalk`.
  let names = NAMES_NOBODY;
  let open = false;
  cursor.moveTo(groups[group]!);
  while (cursor.nextLine < end && cursor.next()) {
    const { bytes, kind, valueStart, valueEnd } = cursor;
    if (kind === LINE_USER_AGENT) {
      if (!open) names = NAMES_NOBODY;
      open = true;
      names |= agentLineNames(bytes, valueStart, valueEnd, agent, traits);
    } else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      open = false;
      // "Crawlers ignore the rule without a path."
      if (valueStart < valueEnd) onRule(valueStart, valueEnd, kind === LINE_ALLOW);
    } else if (kind === LINE_OTHER) {
      open = false;
      // RFC 9309 §2.2.4: parsing of other records "MUST NOT interfere": they close no group.
      if ((names & wanted) !== 0 && cursor.keyIs(CRAWL_DELAY)) {
        crawlDelayMs = Math.max(crawlDelayMs, secondsToMs(bytes, valueStart, valueEnd));
      }
    } else if (kind === LINE_BLANK && traits.blankLineEndsRecord) break;
  }
  return crawlDelayMs;
}

function endOf(cursor: LineCursor, groups: readonly number[], group: number): number {
  return groups[group + 1] ?? cursor.bytes.length + 1;
}

/** Whether a line ends a run of user-agent lines, so that the next user-agent line starts another group. */
function closesAgents(kind: number, traits: DialectTraits): boolean {
  // robotstxt.org: "you may not have blank lines in a record, as they are used to delimit multiple records".
  return kind === LINE_ALLOW || kind === LINE_DISALLOW || (kind === LINE_BLANK && traits.blankLineEndsRecord);
}

/**
 * The offsets of the groups of a file, in octets. A parsed file keeps only these, until a verdict for an agent is asked
 * for. Rules before the first user-agent line belong to no group.
 */
export function findGroups(bytes: Uint8Array, traits: DialectTraits): readonly number[] {
  const starts: number[] = [];
  const cursor = new LineCursor(bytes, traits);
  while (cursor.nextUserAgent()) {
    starts.push(cursor.keyStart);
    while (cursor.next() && !closesAgents(cursor.kind, traits));
  }
  // An array that grew has room for more.
  return starts.slice();
}

/** Converts decimal seconds to ms, at most one year; -1 for any other text. */
export function secondsToMs(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > 32) return -1;
  const text = String.fromCharCode(...bytes.subarray(start, end));
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(text)) return -1;
  return Math.min(Math.round(Number(text) * 1000), 31_536_000_000);
}
