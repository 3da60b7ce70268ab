import type { DialectTraits } from '../dialect.ts';
import { addRuleAt, readRules } from './read-rules.ts';
import { RuleCursor } from './rule-cursor.ts';
import {
  bestFirst,
  byteMaskOf,
  factsOf,
  lineOf,
  offsetOf,
  priorityOf,
  rankOf,
  ruleCount,
  entryFits,
  startTable,
} from './rule-table.ts';
import { ALLOW, FLAG_BITS, type FittingRule } from './ruleset.ts';
import { releaseIndex, startSearch } from './search.ts';
import { type Selection, selectRules } from './select.ts';

/*
 * Tries rules one after the other without compiling them. The first decision by a file uses this, because it is often
 * the only one; so does explaining.
 */

/** Finds the rule that decides `octets[0, end)`, a target in normal form, for `agent` (octets, lower case). */
export function matchOnce(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  octets: Uint8Array,
  end: number,
  byteMask: number,
): { readonly selection: Selection; readonly rule: FittingRule | undefined } {
  const cursor = new RuleCursor(bytes, traits, octets, end);
  let rule: FittingRule | undefined;
  const restart = (): void => {
    rule = undefined;
    cursor.bestRank = -1;
  };
  // Each rule is tried where it is read, and is not kept: a later one that is no better need not even be read.
  const tryRule = (): void => {
    startTable(bytes, traits);
    addRuleAt(cursor, traits);
    for (let entry = 0; entry < ruleCount; entry++) {
      const rank = rankOf(entry);
      if (rank > cursor.bestRank && (byteMaskOf(entry) & ~byteMask) === 0 && entryFits(entry, end)) {
        rule = ruleOf(entry);
        cursor.bestRank = rank;
      }
    }
  };
  startSearch(octets, 0, end);
  const selection = selectRules(cursor, agent, traits, tryRule, restart);
  releaseIndex();
  return { selection, rule };
}

/** All rules that fit, best first. */
export function fittingRules(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  octets: Uint8Array,
  end: number,
): FittingRule[] {
  readRules(bytes, agent, traits, octets, end);
  startSearch(octets, 0, end);
  const fitting = bestFirst(false).filter((entry) => entryFits(entry, end));
  releaseIndex();
  return fitting.map(ruleOf);
}

function ruleOf(entry: number): FittingRule {
  const facts = factsOf(entry);
  return {
    allow: (facts & ALLOW) !== 0,
    offset: offsetOf(entry),
    writtenLength: facts >>> FLAG_BITS,
    line: lineOf(entry),
    priority: priorityOf(entry),
  };
}
