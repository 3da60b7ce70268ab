import { agentLineNames, agentNameEnd, NAMES_ALL, NAMES_NOBODY } from './agent.ts';
import type { DialectTraits } from './dialect.ts';
import {
  LINE_ALLOW,
  LINE_BLANK,
  LINE_DISALLOW,
  LINE_OTHER,
  LINE_SITEMAP,
  LINE_USER_AGENT,
  LineCursor,
} from './line.ts';
import { secondsToMs } from './select.ts';
import { utf8 } from './octets.ts';

/** A rule as it stands in the file. */
export interface Rule {
  readonly directive: 'allow' | 'disallow';
  /** As written; invalid UTF-8 shows as U+FFFD. */
  readonly pattern: string;
  /** 1-based. */
  readonly line: number;
}

/** A group as it stands in the file: before the groups of one agent are merged. */
export interface Group {
  /** The user-agent lines that start it. `name` is what the dialect compares, `*` for all. */
  readonly agents: readonly { readonly name: string; readonly written: string; readonly line: number }[];
  readonly rules: readonly Rule[];
  /** The longest `Crawl-delay` in the group. */
  readonly crawlDelayMs?: number;
}

export interface Sitemap {
  /** As written; it should be an absolute URL, which nothing checks here. */
  readonly url: string;
  readonly line: number;
}

export interface Description {
  readonly groups: readonly Group[];
  readonly sitemaps: readonly Sitemap[];
}

const CRAWL_DELAY = utf8.encode('crawl-delay');
const NOBODY = new Uint8Array(0);
const text = new TextDecoder('utf-8', { ignoreBOM: true });

interface OpenGroup {
  agents: { name: string; written: string; line: number }[];
  rules: Rule[];
  crawlDelayMs?: number;
}

/** The whole file as objects, for showing it. Deciding never needs this. */
export function describe(bytes: Uint8Array, traits: DialectTraits): Description {
  const groups: OpenGroup[] = [];
  const sitemaps: Sitemap[] = [];
  let group: OpenGroup | undefined;
  let closed = true;
  const cursor = new LineCursor(bytes, traits);
  while (cursor.next()) {
    const value = (): string => text.decode(bytes.subarray(cursor.valueStart, cursor.valueEnd));
    switch (cursor.kind) {
      case LINE_USER_AGENT: {
        if (closed || group === undefined) {
          group = { agents: [], rules: [] };
          groups.push(group);
          closed = false;
        }
        for (const name of agentNames(bytes, cursor.valueStart, cursor.valueEnd, traits)) {
          group.agents.push({ name, written: value(), line: cursor.line });
        }
        break;
      }
      case LINE_ALLOW:
      case LINE_DISALLOW:
        closed = true;
        if (group !== undefined && cursor.valueStart < cursor.valueEnd) {
          group.rules.push({
            directive: cursor.kind === LINE_ALLOW ? 'allow' : 'disallow',
            pattern: value(),
            line: cursor.line,
          });
        }
        break;
      case LINE_BLANK:
        if (traits.blankLineEndsRecord) group = undefined;
        break;
      case LINE_SITEMAP:
        sitemaps.push({ url: value(), line: cursor.line });
        break;
      case LINE_OTHER:
        if (group !== undefined && cursor.keyIs(CRAWL_DELAY)) {
          const delayMs = secondsToMs(bytes, cursor.valueStart, cursor.valueEnd);
          if (delayMs >= 0) group.crawlDelayMs = Math.max(group.crawlDelayMs ?? 0, delayMs);
        }
        break;
    }
  }
  return { groups, sitemaps };
}

/** The names on a user-agent line, as the dialect compares them. */
function agentNames(bytes: Uint8Array, start: number, end: number, traits: DialectTraits): string[] {
  const names: string[] = [];
  let itemStart = start;
  for (let at = start; at <= end; at++) {
    if (at < end && !(traits.agentNames === 'token-list' && bytes[at] === 0x2c)) continue;
    while (itemStart < at && (bytes[itemStart] === 0x20 || bytes[itemStart] === 0x09)) itemStart++;
    const nameEnd = agentNameEnd(bytes, itemStart, at, traits);
    if ((agentLineNames(bytes, itemStart, at, NOBODY, traits) & NAMES_ALL) !== 0) names.push('*');
    else if (nameEnd > itemStart) names.push(text.decode(bytes.subarray(itemStart, nameEnd)));
    itemStart = at + 1;
  }
  return names;
}

/** Lines of the user-agent lines that make `agent`'s groups apply, and the name they use. */
export function linesNaming(
  bytes: Uint8Array,
  agent: Uint8Array,
  wanted: number,
  traits: DialectTraits,
): { agent: string; lines: number[] } {
  const lines: number[] = [];
  let name = '*';
  const cursor = new LineCursor(bytes, traits);
  while (cursor.next()) {
    if (cursor.kind !== LINE_USER_AGENT) continue;
    const names = agentLineNames(bytes, cursor.valueStart, cursor.valueEnd, agent, traits) & wanted;
    if (names === NAMES_NOBODY) continue;
    if (lines.length === 0 && wanted !== NAMES_ALL) {
      const all = agentNames(bytes, cursor.valueStart, cursor.valueEnd, traits);
      const caller = text.decode(agent);
      name = all.find((candidate) => candidate.toLowerCase() === caller) ?? all[0] ?? caller;
    }
    lines.push(cursor.line);
  }
  return { agent: name, lines };
}
