import type { DialectTraits } from '../dialect.ts';
import { readRules } from './read-rules.ts';
import {
  bestFirst,
  byteMaskOf,
  compareRows,
  factsOf,
  offsetOf,
  priorityOf,
  rowCount,
  rowFits,
} from './rule-table.ts';
import { ALLOW, FLAG_BITS, type FittingRule } from './ruleset.ts';
import { startSearch } from './search.ts';
import type { Selection } from './select.ts';

/*
 * Tries rules one after the other without compiling them. The first decision by a file uses this, because it is often
 * the only one; so does explaining.
 */

/** Finds the rule that decides `octets[start, end)`, a target in normal form, for `agent` (octets, lower case). */
export function firstAnswer(
  bytes: Uint8Array,
  groups: Int32Array,
  agent: Uint8Array,
  traits: DialectTraits,
  octets: Uint8Array,
  start: number,
  end: number,
  byteMask: number,
): { readonly selection: Selection; readonly rule: FittingRule | undefined } {
  const selection = readRules(bytes, groups, agent, traits, octets, start, end);
  let best = -1;
  startSearch(octets, start, end);
  for (let row = 0; row < rowCount; row++) {
    if ((byteMaskOf(row) & ~byteMask) !== 0 || (best >= 0 && compareRows(row, best) > 0)) continue;
    if (rowFits(row, octets, start, end)) best = row;
  }
  return { selection, rule: best < 0 ? undefined : ruleOf(best) };
}

/** All rules that fit, best first. */
export function fittingRules(
  bytes: Uint8Array,
  groups: Int32Array,
  agent: Uint8Array,
  traits: DialectTraits,
  octets: Uint8Array,
  end: number,
): FittingRule[] {
  readRules(bytes, groups, agent, traits);
  startSearch(octets, 0, end);
  return bestFirst(false)
    .filter((row) => rowFits(row, octets, 0, end))
    .map(ruleOf);
}

function ruleOf(row: number): FittingRule {
  const facts = factsOf(row);
  return {
    allow: (facts & ALLOW) !== 0,
    offset: offsetOf(row),
    writtenLength: facts >>> FLAG_BITS,
    priority: priorityOf(row),
  };
}
