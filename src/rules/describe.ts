import { agentLineNames, NAMES_ALL, NAMES_NOBODY } from './agent.ts';
import type { DialectTraits } from './dialect.ts';
import { GroupWalk } from './group-walk.ts';
import { LINE_ALLOW, LINE_OTHER, LINE_SITEMAP, LINE_USER_AGENT, LineCursor } from './line-cursor.ts';
import { fromUtf8 } from './octets.ts';
import { secondsToMs } from './matcher/select.ts';

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

/**
 * A line that neither allows nor disallows: "Crawlers MAY interpret other records that are not part of the
 * robots.txt protocol" (RFC 9309 §2.2.4). `Crawl-delay`, `Host`, `Clean-param`, `Visit-time`, and whatever there is.
 */
export interface OtherRecord {
  /** In lower case. */
  readonly key: string;
  /** As written. */
  readonly value: string;
  readonly line: number;
  /** Index of its group among the file's; absent outside any group. */
  readonly group?: number;
}

export interface Description {
  readonly groups: readonly Group[];
  readonly sitemaps: readonly Sitemap[];
  readonly otherRecords: readonly OtherRecord[];
}

interface OpenGroup {
  agents: { name: string; written: string; line: number }[];
  rules: Rule[];
  crawlDelayMs?: number;
}

/** The whole file as objects, for showing it. Deciding never needs this. */
export function describe(bytes: Uint8Array, traits: DialectTraits): Description {
  const groups: OpenGroup[] = [];
  const sitemaps: Sitemap[] = [];
  const otherRecords: OtherRecord[] = [];
  const walk = new GroupWalk(bytes, traits);
  const { cursor } = walk;
  while (walk.next()) {
    const { kind, line, keyStart, keyEnd, valueStart, valueEnd } = cursor;
    if (walk.starts) groups.push({ agents: [], rules: [] });
    if (kind < LINE_USER_AGENT) continue;
    const group = groups[walk.group];
    const value = fromUtf8.decode(bytes.subarray(valueStart, valueEnd));
    if (kind === LINE_USER_AGENT) {
      for (const name of agentNames(value, traits)) group?.agents.push({ name, written: value, line });
    } else if (kind === LINE_SITEMAP) sitemaps.push({ url: value, line });
    else if (kind === LINE_OTHER) {
      const key = fromUtf8.decode(bytes.subarray(keyStart, keyEnd)).toLowerCase();
      otherRecords.push({ key, value, line, ...(group && { group: walk.group }) });
      const delayMs = key === 'crawl-delay' ? secondsToMs(bytes, valueStart, valueEnd) : -1;
      if (group !== undefined && delayMs >= 0)
        group.crawlDelayMs = Math.max(group.crawlDelayMs ?? 0, delayMs);
    } else if (value !== '') {
      group?.rules.push({ directive: kind === LINE_ALLOW ? 'allow' : 'disallow', pattern: value, line });
    }
  }
  return { groups, sitemaps, otherRecords };
}

/** A star alone or before white space, or a name's leading run of token characters. */
const NAME = /^[ \t\v\f]*(?:\*(?=[ \t\v\f]|$)|[\w.-]+)/;
const GOOGLE_NAME = /^[ \t\v\f]*(?:\*(?=[ \t\v\f]|$)|[A-Za-z_-]+)/;

/** The names on a user-agent line, as the dialect compares them: what `agentLineNames` reads, as text. */
export function agentNames(value: string, traits: DialectTraits): string[] {
  const items = traits.agentNames === 'token-list' ? value.split(',') : [value];
  const names: string[] = [];
  for (const item of items) {
    const name = (traits.agentNames === 'google' ? GOOGLE_NAME : NAME).exec(item)?.[0];
    if (name !== undefined) names.push(name.trim());
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
      const all = agentNames(fromUtf8.decode(bytes.subarray(cursor.valueStart, cursor.valueEnd)), traits);
      const caller = fromUtf8.decode(agent);
      name = all.find((candidate) => candidate.toLowerCase() === caller) ?? all[0] ?? caller;
    }
    lines.push(cursor.line);
  }
  return { agent: name, lines };
}
