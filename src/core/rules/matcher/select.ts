import { agentLineNames, NAMES_AGENT, NAMES_ALL, NAMES_NONE } from '../agent.ts';
import type { DialectTraits } from '../dialect.ts';
import { GroupTracker, LINE_ALLOW, LINE_DISALLOW, LINE_OTHER, LINE_USER_AGENT } from '../parse-line.ts';
import type { Pattern } from '../normal-form/pattern.ts';
import { secondsToMs, utf8 } from '../bytes.ts';
import {
  HAS_TEXT,
  MAY_BE_BLANK,
  MAY_BE_DELAY,
  MAY_BE_RULE,
  MAY_NAME_AGENT,
  type RuleCursor,
} from './rule-cursor.ts';

const CRAWL_DELAY = utf8.encode('crawl-delay');

/** The groups that apply to an agent. */
export interface Selection {
  /** `named`: groups that name the agent apply. `all`: the groups for `*`. `none`: no group applies. */
  readonly scope: 'named' | 'all' | 'none';
  /** The longest `Crawl-delay` of the blocks that name the agent, in ms; -1 when there is none, or rules are left out. */
  readonly crawlDelayMs: number;
  /** 1-based lines of the user-agent lines that make the groups apply: the first ones. */
  readonly agentLines: readonly number[];
  /** The number of such lines beside these. */
  readonly omitted: number;
  /** The value of the first of them, as a range of the file. */
  readonly nameStart: number;
  readonly nameEnd: number;
}

/** The most lines listed in a verdict, so that it is bounded. */
const MAX_LINES = 100;

/**
 * Reads a file once, and calls `onPattern` for each pattern of a rule that applies to `agent`, when `pattern` holds it.
 *
 * RFC 9309 §2.2.1: "Crawlers MUST use case-insensitive matching to find the group that matches the product
 * token and then obey the rules of the group. If there is more than one group matching the user-agent, the
 * matching groups' rules MUST be combined into one group". "If no matching group exists, crawlers MUST obey the
 * group with a user-agent line with the "*" value, if present."
 *
 * @param onNamed Called at the first line that names the agent: the rules so far were those for `*`, and do not apply.
 */
export function selectRules(
  cursor: RuleCursor,
  agent: Uint8Array,
  traits: DialectTraits,
  pattern: Pattern,
  onPattern: () => void,
  onNamed: () => void,
): Selection {
  let wanted = NAMES_ALL;
  let agentLines: number[] = [];
  let applying = 0;
  let nameStart = 0;
  let nameEnd = 0;
  let crawlDelayMs = -1;
  const tracker = new GroupTracker(traits);
  /** What the user-agent lines of the group name, and those of the block. */
  let names = NAMES_NONE;
  let blockNames = NAMES_NONE;
  for (;;) {
    const { acceptsAgents } = tracker;
    let kinds = MAY_NAME_AGENT;
    if (acceptsAgents || (names & wanted) !== 0)
      kinds |= traits.blankLineEndsRecord ? MAY_BE_RULE | MAY_BE_BLANK : MAY_BE_RULE;
    if (cursor.target === undefined && (blockNames & wanted) !== 0)
      kinds |= tracker.blockAcceptsAgents ? HAS_TEXT : MAY_BE_DELAY;
    if (!cursor.nextOf(kinds, acceptsAgents)) break;
    const { kind, line, valueStart, valueEnd } = cursor;
    tracker.enter(kind);
    if (tracker.startsGroup || tracker.group < 0) names = NAMES_NONE;
    if (tracker.startsBlock || tracker.block < 0) blockNames = NAMES_NONE;
    if (kind === LINE_USER_AGENT) {
      const named = agentLineNames(cursor.bytes, valueStart, valueEnd, agent, traits);
      names |= named;
      blockNames |= named;
      if ((named & NAMES_AGENT) !== 0 && wanted === NAMES_ALL) {
        wanted = NAMES_AGENT;
        agentLines = [];
        applying = 0;
        crawlDelayMs = -1;
        onNamed();
      }
      if ((named & wanted) === 0) continue;
      if (applying === 0) [nameStart, nameEnd] = [valueStart, valueEnd];
      if (applying++ < MAX_LINES) agentLines.push(line);
    } else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      // "Crawlers ignore the rule without a path."
      if ((names & wanted) !== 0 && valueStart < valueEnd && (!acceptsAgents || cursor.mayDecide))
        cursor.eachPattern(pattern, onPattern);
    } else if (kind === LINE_OTHER && (blockNames & wanted) !== 0 && cursor.keyIs(CRAWL_DELAY)) {
      crawlDelayMs = Math.max(crawlDelayMs, secondsToMs(cursor.bytes, valueStart, valueEnd));
    }
  }
  const scope = applying === 0 ? 'none' : wanted === NAMES_AGENT ? 'named' : 'all';
  const omitted = applying - agentLines.length;
  return { scope, crawlDelayMs, agentLines, omitted, nameStart, nameEnd };
}
