import { agentLineNames, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import type { DialectTraits } from './dialect.ts';
import { LINE_ALLOW, LINE_BLANK, LINE_DISALLOW, LINE_OTHER, LINE_USER_AGENT, LineCursor } from './line.ts';
import { utf8 } from './octets.ts';

const CRAWL_DELAY = utf8.encode('crawl-delay');

/** The rules of one agent, in file order: three numbers each. */
export class RuleList {
  private values = new Int32Array(192);
  count = 0;

  push(start: number, end: number, allow: boolean): void {
    const at = this.count * 3;
    if (at + 3 > this.values.length) {
      const grown = new Int32Array(this.values.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[at] = start;
    this.values[at + 1] = end;
    this.values[at + 2] = allow ? 1 : 0;
    this.count++;
  }

  startOf(index: number): number {
    return this.values[index * 3]!;
  }

  endOf(index: number): number {
    return this.values[index * 3 + 1]!;
  }

  isAllow(index: number): boolean {
    return this.values[index * 3 + 2] === 1;
  }
}

export interface Selection {
  /** Whom the groups that apply were written for. */
  readonly scope: 'named' | 'all' | 'none';
  readonly rules: RuleList;
  /** The longest of the groups' crawl delays; -1 when they name none. */
  readonly crawlDelayMs: number;
}

// Reused, so that a file costs no garbage; a selection is read before the next one is made.
const namedRules = new RuleList();
const allRules = new RuleList();

/**
 * The rules that apply to `agent`, in one pass over the file.
 *
 * RFC 9309 §2.2.1: "Crawlers MUST use case-insensitive matching to find the group that matches the product
 * token and then obey the rules of the group. If there is more than one group matching the user-agent, the
 * matching groups' rules MUST be combined into one group". "If no matching group exists, crawlers MUST obey the
 * group with a user-agent line with the "*" value, if present."
 */
export function selectRules(bytes: Uint8Array, agent: Uint8Array, traits: DialectTraits): Selection {
  namedRules.count = allRules.count = 0;
  let namedDelayMs = -1;
  let allDelayMs = -1;
  let everNamed = false;
  let everAll = false;
  let inNamed = false;
  let inAll = false;
  let ruleSeen = false;
  const cursor = new LineCursor(bytes, traits);
  // Inside groups of others nothing but the next user-agent line matters.
  while (inNamed || inAll ? cursor.next() : cursor.nextUserAgent()) {
    switch (cursor.kind) {
      case LINE_USER_AGENT: {
        if (ruleSeen) inNamed = inAll = ruleSeen = false;
        const names = agentLineNames(bytes, cursor.valueStart, cursor.valueEnd, agent, traits);
        if ((names & NAMES_AGENT) !== 0) inNamed = everNamed = true;
        // Once the agent is named, what is said to all does not count.
        if ((names & NAMES_ALL) !== 0) {
          everAll = true;
          inAll = !everNamed;
        }
        break;
      }
      case LINE_ALLOW:
      case LINE_DISALLOW:
        ruleSeen = true;
        // "Crawlers ignore the rule without a path."
        if (cursor.valueStart === cursor.valueEnd) break;
        if (inNamed) namedRules.push(cursor.valueStart, cursor.valueEnd, cursor.kind === LINE_ALLOW);
        else if (inAll && !everNamed)
          allRules.push(cursor.valueStart, cursor.valueEnd, cursor.kind === LINE_ALLOW);
        break;
      case LINE_BLANK:
        // robotstxt.org: "you may not have blank lines in a record, as they are used to delimit multiple records".
        if (traits.blankLineEndsRecord) inNamed = inAll = ruleSeen = false;
        break;
      case LINE_OTHER:
        // RFC 9309 §2.2.4: parsing of other records "MUST NOT interfere": they close no group.
        if ((inNamed || inAll) && cursor.keyIs(CRAWL_DELAY)) {
          const delayMs = secondsToMs(bytes, cursor.valueStart, cursor.valueEnd);
          if (inNamed) namedDelayMs = Math.max(namedDelayMs, delayMs);
          if (inAll) allDelayMs = Math.max(allDelayMs, delayMs);
        }
        break;
    }
  }
  if (everNamed) return { scope: 'named', rules: namedRules, crawlDelayMs: namedDelayMs };
  return { scope: everAll ? 'all' : 'none', rules: allRules, crawlDelayMs: allDelayMs };
}

/** Decimal seconds → ms; -1 for anything else. Bounded: a year is as long as any delay gets. */
export function secondsToMs(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > 32) return -1;
  const text = String.fromCharCode(...bytes.subarray(start, end));
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(text)) return -1;
  return Math.min(Math.round(Number(text) * 1000), 31_536_000_000);
}
