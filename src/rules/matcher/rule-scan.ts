import type { DialectTraits } from '../dialect.ts';
import { readRules } from './read-rules.ts';
import {
  bestFirst,
  byteMaskOf,
  comparePrecedence,
  factsOf,
  lineOf,
  offsetOf,
  priorityOf,
  ruleCount,
  entryFits,
} from './rule-table.ts';
import { ALLOW, FLAG_BITS, type FittingRule } from './ruleset.ts';
import { startSearch } from './search.ts';
import type { Selection } from './select.ts';

/*
 * Tries rules one after the other without compiling them. The first decision by a file uses this, because it is often
 * the only one; so does explaining.
 */

/** Finds the rule that decides `octets[start, end)`, a target in normal form, for `agent` (octets, lower case). */
export function matchOnce(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  octets: Uint8Array,
  start: number,
  end: number,
  byteMask: number,
): { readonly selection: Selection; readonly rule: FittingRule | undefined } {
  const selection = readRules(bytes, agent, traits, octets, start, end);
  let best = -1;
  startSearch(octets, start, end);
  for (let entry = 0; entry < ruleCount; entry++) {
    if ((byteMaskOf(entry) & ~byteMask) !== 0 || (best >= 0 && comparePrecedence(entry, best) > 0)) continue;
    if (entryFits(entry, octets, start, end)) best = entry;
  }
  return { selection, rule: best < 0 ? undefined : ruleOf(best) };
}

/** All rules that fit, best first. */
export function fittingRules(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  octets: Uint8Array,
  end: number,
): FittingRule[] {
  readRules(bytes, agent, traits, octets, 0, end);
  startSearch(octets, 0, end);
  return bestFirst(false)
    .filter((entry) => entryFits(entry, octets, 0, end))
    .map(ruleOf);
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
