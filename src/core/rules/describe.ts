import { WHOLE_TOKEN } from './agent.ts';
import type { DialectTraits } from './dialect.ts';
import { GroupWalk, LINE_ALLOW, LINE_OTHER, LINE_SITEMAP, LINE_USER_AGENT } from './parse-line.ts';
import { asCharacters, fromUtf8 } from './bytes.ts';

/** A rule as written in the file: the one that decided, or one of a group. */
export interface MatchedRule {
  readonly directive: 'allow' | 'disallow';
  /**
   * The pattern as written. That of a verdict has at most its first 2,000 bytes, so that a verdict is bounded. Invalid
   * UTF-8 shows as U+FFFD.
   */
  readonly pattern: string;
  /** 1-based. */
  readonly line: number;
}

/** The group that applied, merged from all groups of one agent. */
export interface MatchedGroup {
  /** The agent as the file names it, or `*`. */
  readonly agent: string;
  /** 1-based line numbers of the user-agent lines of the group: the first 100. */
  readonly lines: readonly number[];
  /** The number of further lines. */
  readonly omitted?: number;
}

/**
 * The verdict of a file on one target for one agent. Every verdict has `rule` and `group`, possibly `undefined`, so
 * that `verdict.rule?.line` needs no narrowing.
 */
export type Verdict =
  | {
      /** The target is `/robots.txt` itself. RFC 9309 §2.2.2: "The /robots.txt URI is implicitly allowed." */
      readonly allowed: true;
      readonly reason: 'robots-txt';
      readonly rule?: never;
      readonly group?: never;
    }
  | RuleVerdict;

/** A verdict from the groups and rules of a file. */
export type RuleVerdict =
  | {
      readonly allowed: boolean;
      readonly reason: 'rule';
      readonly rule: MatchedRule;
      readonly group: MatchedGroup;
    }
  | {
      /** No rule of the group matches. */
      readonly allowed: true;
      readonly reason: 'no-rule';
      readonly rule?: never;
      readonly group: MatchedGroup;
    }
  | {
      /** No group names the agent, and there is no group for `*`. */
      readonly allowed: true;
      readonly reason: 'no-group';
      readonly rule?: never;
      readonly group?: never;
    };

/** A user-agent line. */
export interface AgentLine {
  /** The names on it, as the dialect compares them; `*` for all agents. Empty when it names no agent. */
  readonly names: readonly string[];
  /** Its value, as written. */
  readonly written: string;
  /** 1-based. */
  readonly line: number;
  /** Number of its block, in file order from 0. See {@link OtherRecord} on blocks. */
  readonly block: number;
}

/** A group as written in the file, before the groups of one agent are merged. */
export interface Group {
  /** The user-agent lines at its start. */
  readonly agentLines: readonly AgentLine[];
  readonly rules: readonly MatchedRule[];
}

export interface Sitemap {
  /** As written. It should be an absolute URL; that is not checked here. */
  readonly url: string;
  readonly line: number;
}

/**
 * A line that neither allows nor disallows: "Crawlers MAY interpret other records that are not part of the robots.txt
 * protocol" (RFC 9309 §2.2.4). Examples: `Crawl-delay`, `Host`, `Clean-param`, `Visit-time`.
 *
 * Such lines belong to blocks, not to groups. A line applies to the user-agent lines directly above it; comments,
 * blank lines and `Sitemap` in between do not matter. A user-agent line after such a line starts a new block.
 */
export interface OtherRecord {
  /** In lower case. */
  readonly key: string;
  /** As written. */
  readonly value: string;
  /** 1-based. */
  readonly line: number;
  /** Number of the block it belongs to; absent before the first block. */
  readonly block?: number;
}

export interface Description {
  readonly groups: readonly Group[];
  readonly sitemaps: readonly Sitemap[];
  readonly otherRecords: readonly OtherRecord[];
}

/** Describes the whole file as objects, for display. Decisions do not use it. */
export function describe(bytes: Uint8Array, traits: DialectTraits): Description {
  let agentLines: AgentLine[] = [];
  let rules: MatchedRule[] = [];
  const groups: Group[] = [];
  let writtenKey = '';
  let key = '';
  const sitemaps: Sitemap[] = [];
  const otherRecords: OtherRecord[] = [];
  const walk = new GroupWalk(bytes, traits);
  const { cursor } = walk;
  const text = shortTexts(bytes);
  while (walk.next()) {
    const { kind, line, keyStart, keyEnd, valueStart, valueEnd } = cursor;
    const { block } = walk;
    if (kind < LINE_USER_AGENT) continue;
    const value = text(valueStart, valueEnd);
    if (kind === LINE_USER_AGENT) {
      const agentLine = { names: agentNames(value, traits), written: value, line, block };
      // V8 reserves 17 places when it first adds to an empty list.
      if (walk.startsGroup) groups.push({ agentLines: (agentLines = [agentLine]), rules: (rules = []) });
      else agentLines.push(agentLine);
    } else if (kind === LINE_SITEMAP) sitemaps.push({ url: value, line });
    else if (kind === LINE_OTHER) {
      const written = text(keyStart, keyEnd);
      // Files with very many lines often repeat a key.
      if (written !== writtenKey) key = (writtenKey = written).toLowerCase();
      otherRecords.push(block < 0 ? { key, value, line } : { key, value, line, block });
    } else if (value !== '' && walk.group >= 0) {
      rules.push({ directive: kind === LINE_ALLOW ? 'allow' : 'disallow', pattern: value, line });
    }
  }
  return { groups, sitemaps, otherRecords };
}

/** Shorter parts of strings are copies in V8. Longer ones are views, and keep the whole string in memory. */
const COPIED = 13;

/** Reads texts of a file. Short ones are sliced from its characters, which is faster than a call of the decoder. */
function shortTexts(bytes: Uint8Array): (start: number, end: number) => string {
  const characters = asCharacters(bytes);
  return (start, end) => {
    let at = end - start < COPIED ? start : end + 1;
    while (at < end && bytes[at]! < 0x80) at++;
    return at === end ? characters.slice(start, end) : fromUtf8.decode(bytes.subarray(start, end));
  };
}

/** A star alone or before white space, or a name's leading run of token characters. */
const NAME = /^[ \t\v\f]*(?:\*(?=[ \t\v\f]|$)|[\w.-]+)/;
const GOOGLE_NAME = /^[ \t\v\f]*(?:\*(?=[ \t\v\f]|$)|[A-Za-z_-]+)/;

/** The names on a user-agent line, as the dialect compares them. The text version of `agentLineNames`. */
export function agentNames(value: string, traits: DialectTraits): string[] {
  // Most values are one name, so check for that first.
  if (traits.agentNames !== 'google' && WHOLE_TOKEN.test(value)) return [value];
  const items = traits.agentNames === 'token-list' ? value.split(',') : [value];
  const names: string[] = [];
  for (const item of items) {
    const name = (traits.agentNames === 'google' ? GOOGLE_NAME : NAME).exec(item)?.[0];
    if (name !== undefined) names.push(name.trim());
  }
  return names;
}

/** The name for `agent` (bytes, lower case) in `value`, the value of a user-agent line that names it. */
export function nameIn(value: Uint8Array, agent: Uint8Array, traits: DialectTraits): string {
  const names = agentNames(fromUtf8.decode(value), traits);
  const caller = fromUtf8.decode(agent);
  return names.find((name) => name.toLowerCase() === caller) ?? names[0] ?? caller;
}
