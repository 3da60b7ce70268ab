import type { DialectTraits } from '../dialect.ts';
import { LINE_ALLOW } from '../parse-line.ts';
import { Pattern } from '../normal-form/pattern.ts';
import type { MatchedGroup } from '../verdict.ts';
import { RuleCursor } from './rule-cursor.ts';
import { RuleTable } from './rule-table.ts';
import { Ruleset } from './ruleset.ts';
import { type Selection, selectRules } from './select.ts';
import { sortedLiterals } from './sorted-literals.ts';

/** Up to this number of rules, trying each rule is faster than a binary search among sorted rules. */
const MAX_LISTED_RULES = 256;

/** Compiles the rules of the file that apply to `agent` (bytes, lower case). `describe` describes their group. */
export function compile(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  describe: (selection: Selection) => MatchedGroup | undefined,
): Ruleset {
  const table = new RuleTable(bytes, traits);
  const cursor = new RuleCursor(bytes, traits);
  const pattern = new Pattern();
  const add = (): void => {
    const { kind, line, valueStart, valueEnd } = cursor;
    table.add(pattern, valueStart, valueEnd - valueStart, line, kind === LINE_ALLOW);
  };
  const selection = selectRules(cursor, agent, traits, pattern, add, () => table.clear());
  const sorts = table.count > MAX_LISTED_RULES;
  const listed = table.bestFirst(sorts);
  const sorted = sorts ? sortedLiterals(table, table.count - listed.length) : { literals: [], parents: [] };
  const rules = { listed, sorted: sorted.literals, parents: sorted.parents };
  return new Ruleset(selection, describe(selection), bytes, traits, table, rules);
}
