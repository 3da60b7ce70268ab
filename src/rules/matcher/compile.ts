import type { DialectTraits } from '../dialect.ts';
import type { MatchedGroup } from '../verdict.ts';
import {
  DETAIL_WORDS,
  DETAILED,
  FLAG_BITS,
  HEAD_OCTETS,
  HIGH_LIMIT,
  LOW_BITS,
  MAX_PLAIN_OCTETS,
  REWRITTEN,
  RULE_WORDS,
  type Ruleset,
  TAIL_SHIFT,
  WILD,
} from './ruleset.ts';
import { readRules } from './read-rules.ts';
import {
  bestFirst,
  byteMaskOf,
  factsOf,
  forms,
  lineOf,
  literalLengthOf,
  octetsOf,
  offsetOf,
  priorityOf,
  ruleCount,
  textLengthOf,
  textOf,
} from './rule-table.ts';
import { addToSieve, headOf, sieveWords } from './listed-rules.ts';
import { CompiledRuleset } from './compiled-ruleset.ts';
import type { Selection } from './select.ts';
import { type SortedLiterals, sortedLiterals } from './sorted-literals.ts';

const NOTHING = new Uint8Array(0);
const NO_WORDS = new Int32Array(0);
const NONE_SORTED: SortedLiterals = { literals: [], parents: [] };

/** Up to this number of rules, trying each rule is faster than a binary search among sorted rules. */
const MAX_LISTED_RULES = 256;

/** Compiles the rules of the file that apply to `agent` (octets, lower case). `describe` describes their group. */
export function compile(
  bytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  describe: (selection: Selection) => MatchedGroup | undefined,
): Ruleset {
  const selection = readRules(bytes, agent, traits);
  const sorts = ruleCount > MAX_LISTED_RULES;
  const order = bestFirst(sorts);
  const listed = order.length;
  const { literals, parents } = sorts ? sortedLiterals(ruleCount - listed) : NONE_SORTED;
  for (const tableEntry of literals) order.push(tableEntry);
  const count = order.length;
  const sieves = count * RULE_WORDS;
  const details = sieves + sieveWords(listed);
  const detailed = order.filter(needsDetails).length;
  const words = count === 0 ? NO_WORDS : new Int32Array(details + detailed * DETAIL_WORDS + literals.length);
  let detail = details;
  for (let rule = 0; rule < count; rule++) {
    const tableEntry = order[rule]!;
    const head = headOf(octetsOf(tableEntry), textOf(tableEntry), literalLengthOf(tableEntry));
    writeRule(words, rule * RULE_WORDS, tableEntry, head, detail);
    if (needsDetails(tableEntry)) detail = writeDetails(words, detail, tableEntry);
    if (rule < listed && details > sieves) addToSieve(words, sieves, rule, head, literalLengthOf(tableEntry));
  }
  for (const [index, parent] of parents.entries()) words[detail + index] = parent < 0 ? -1 : parent + listed;
  const extra = forms.length === 0 ? NOTHING : forms.octets.slice(0, forms.length);
  return new CompiledRuleset(selection, describe(selection), bytes, traits, words, extra, count, listed);
}

/** Octets of the pattern of a literal rule after its literal part. */
function tailOf(tableEntry: number): number {
  return (factsOf(tableEntry) & WILD) === 0 ? writtenLengthOf(tableEntry) - literalLengthOf(tableEntry) : 0;
}

const writtenLengthOf = (tableEntry: number): number => factsOf(tableEntry) >>> FLAG_BITS;

/** Whether a rule does not fit three words. */
function needsDetails(tableEntry: number): boolean {
  return (
    (factsOf(tableEntry) & REWRITTEN) !== 0 ||
    writtenLengthOf(tableEntry) > MAX_PLAIN_OCTETS ||
    tailOf(tableEntry) > 1 ||
    offsetOf(tableEntry) >= HIGH_LIMIT
  );
}

function writeRule(words: Int32Array, word: number, tableEntry: number, head: number, detail: number): void {
  const flags = factsOf(tableEntry) & ((1 << FLAG_BITS) - 1);
  const heads = Math.min(literalLengthOf(tableEntry), HEAD_OCTETS) << FLAG_BITS;
  words[word] = (flags & WILD) === 0 ? head : byteMaskOf(tableEntry);
  if (needsDetails(tableEntry)) {
    words[word + 1] = detail;
    words[word + 2] = heads | flags | DETAILED;
  } else {
    words[word + 1] = (offsetOf(tableEntry) << LOW_BITS) | (writtenLengthOf(tableEntry) - tailOf(tableEntry));
    words[word + 2] = (lineOf(tableEntry) << LOW_BITS) | (tailOf(tableEntry) << TAIL_SHIFT) | heads | flags;
  }
}

/** Writes the details of `tableEntry` at `detail`. @returns their end. */
function writeDetails(words: Int32Array, detail: number, tableEntry: number): number {
  words[detail] = textOf(tableEntry);
  words[detail + 1] = textLengthOf(tableEntry);
  words[detail + 2] = priorityOf(tableEntry);
  words[detail + 3] = writtenLengthOf(tableEntry);
  words[detail + 4] = offsetOf(tableEntry);
  words[detail + 5] = lineOf(tableEntry);
  return detail + DETAIL_WORDS;
}
