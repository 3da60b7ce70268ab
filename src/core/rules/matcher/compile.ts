import type { DialectTraits } from '../dialect.ts';
import { Pattern } from '../normal-form/pattern.ts';
import type { MatchedGroup } from '../describe.ts';
import { RuleCursor } from './rule-cursor.ts';
import { type RuleEntry, RuleTable } from './rule-table.ts';
import { type OrderedRules, Ruleset } from './ruleset.ts';
import { type Selection, selectRules } from './select.ts';

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
  const add = (): void => table.add(pattern, cursor.rule);
  const selection = selectRules(cursor, agent, traits, pattern, add, () => table.clear());
  const { entries } = table;
  const sorts = entries.length > MAX_LISTED_RULES;
  const listed = sorts ? entries.filter(({ wild }) => wild) : entries;
  listed.sort((one, other) => other.rank - one.rank);
  const literals = sorts ? sortedLiterals(table) : { sorted: [], parents: [] };
  return new Ruleset(selection, describe(selection), bytes, traits, table, { listed, ...literals });
}

/** Sorts literal rules by bytes. Of rules that match the same targets only the one that decides is kept. */
function sortedLiterals(table: RuleTable): Pick<OrderedRules, 'sorted' | 'parents'> {
  const entries = table.entries.filter(({ wild }) => !wild);
  const sorted: RuleEntry[] = [];
  const parents: number[] = [];
  let parent = -1;
  for (const entry of entries.sort((one, other) => compare(table, one, other))) {
    const previous = sorted.at(-1);
    if (previous !== undefined && compare(table, previous, entry) === 0) {
      // They stay in the order of the file.
      if (entry.rank > previous.rank) sorted[sorted.length - 1] = entry;
      continue;
    }
    while (parent >= 0 && sharedBytes(table, sorted[parent]!, entry) < sorted[parent]!.length)
      parent = parents[parent]!;
    parents.push(parent);
    sorted.push(entry);
    if (!entry.anchored) parent = sorted.length - 1;
  }
  return { sorted, parents };
}

/** Compares two entries by bytes; of equal ones the anchored one comes second. */
function compare(table: RuleTable, one: RuleEntry, other: RuleEntry): number {
  const at = sharedBytes(table, one, other);
  return at < one.length && at < other.length
    ? table.bytesOf(one)[one.start + at]! - table.bytesOf(other)[other.start + at]!
    : one.length - other.length || Number(one.anchored) - Number(other.anchored);
}

/** The number of bytes that two entries share from the start. */
function sharedBytes(table: RuleTable, one: RuleEntry, other: RuleEntry): number {
  const size = Math.min(one.length, other.length);
  const bytes = table.bytesOf(one);
  const otherBytes = table.bytesOf(other);
  let shared = 0;
  while (shared < size && bytes[one.start + shared] === otherBytes[other.start + shared]) shared++;
  return shared;
}
