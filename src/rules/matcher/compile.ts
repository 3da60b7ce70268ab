import type { DialectTraits } from '../dialect.ts';
import { ENTRY_WORDS, FLAG_BITS, type Ruleset, REWRITTEN, RULE_WORDS } from './ruleset.ts';
import { readRules } from './read-rules.ts';
import {
  bestFirst,
  byteMaskOf,
  factsOf,
  forms,
  literalLengthOf,
  octetsOf,
  offsetOf,
  priorityOf,
  rewrittenCount,
  ruleCount,
  textLengthOf,
  textOf,
} from './rule-table.ts';
import { addToSieve, headMaskOf, headOf, FILTER_WORDS, sieveWords } from './listed-rules.ts';
import { CompiledRuleset } from './compiled-ruleset.ts';
import { type SortedLiterals, sortedLiterals } from './sorted-literals.ts';

const NOTHING = new Uint8Array(0);
const NONE_SORTED: SortedLiterals = { literals: [], parents: [] };

/** Up to this number of rules, trying each rule is faster than a binary search among sorted rules. */
const MAX_LISTED_RULES = 256;

/** Compiles the rules of the file that apply to `agent` (octets, lower case). */
export function compile(
  bytes: Uint8Array,
  groups: Int32Array,
  agent: Uint8Array,
  traits: DialectTraits,
): Ruleset {
  const { scope, crawlDelayMs, agentLines } = readRules(bytes, groups, agent, traits);
  const sorts = ruleCount > MAX_LISTED_RULES;
  const order = bestFirst(sorts);
  const listed = order.length;
  const { literals, parents } = sorts ? sortedLiterals() : NONE_SORTED;
  for (const tableEntry of literals) order.push(tableEntry);
  const count = order.length;
  const sieveBase = listed * FILTER_WORDS;
  const ruleBase = sieveBase + sieveWords(listed);
  const parentBase = ruleBase + count * RULE_WORDS + rewrittenCount * ENTRY_WORDS;
  const words = new Int32Array(parentBase + literals.length);
  for (let rule = 0, filter = 0; rule < listed; rule++) {
    const tableEntry = order[rule]!;
    const head = headOf(octetsOf(tableEntry), textOf(tableEntry), literalLengthOf(tableEntry));
    const mask = headMaskOf(literalLengthOf(tableEntry));
    words[filter++] = head;
    words[filter++] = mask;
    words[filter++] = byteMaskOf(tableEntry);
    addToSieve(words, sieveBase, rule, head, mask);
  }
  writeRules(words, order, ruleBase);
  for (const [index, parent] of parents.entries())
    words[parentBase + index] = parent < 0 ? -1 : parent + listed;
  const extra = forms.length === 0 ? NOTHING : forms.octets.slice(0, forms.length);
  return new CompiledRuleset(
    { scope, crawlDelayMs, agentLines, bytes, traits, words, ruleBase, extra, count },
    listed,
    parentBase - listed,
  );
}

function writeRules(words: Int32Array, order: readonly number[], ruleBase: number): void {
  const entryBase = ruleBase + order.length * RULE_WORDS;
  let entry = 0;
  for (let rule = 0; rule < order.length; rule++) {
    const tableEntry = order[rule]!;
    let facts = factsOf(tableEntry);
    if ((facts & REWRITTEN) !== 0) {
      const at = entryBase + entry * ENTRY_WORDS;
      words[at] = textOf(tableEntry);
      words[at + 1] = textLengthOf(tableEntry);
      words[at + 2] = priorityOf(tableEntry);
      words[at + 3] = facts >>> FLAG_BITS;
      facts = (entry++ << FLAG_BITS) | (facts & ((1 << FLAG_BITS) - 1));
    }
    const word = ruleBase + rule * RULE_WORDS;
    words[word] = offsetOf(tableEntry);
    words[word + 1] = facts;
    words[word + 2] = literalLengthOf(tableEntry);
  }
}
