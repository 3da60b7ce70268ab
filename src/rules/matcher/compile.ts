import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, PERCENT, SLASH, utf8 } from '../octets.ts';
import { ENTRY_WORDS, FLAG_BITS, type Ruleset, type RulesetParts, REWRITTEN, RULE_WORDS } from './ruleset.ts';
import { LITERAL_PERCENT } from './normal-form.ts';
import { RuleTable } from './rule-table.ts';
import { type Selection, selectRules } from './select.ts';
import { addToSieve, headMaskOf, SHORT_TELL_WORDS, SmallRuleset, sieveWords } from './small-ruleset.ts';
import { LargeRuleset } from './large-ruleset.ts';
import { sortedLiterals } from './sorted-literals.ts';

const INDEX_HTM = utf8.encode('/index.htm');
const NOTHING = new Uint8Array(0);

/** Up to here, trying rule after rule is quicker than hashing the target. */
const SHORT = 256;

const table = new RuleTable();

/** Compiles what the file says to `agent` (octets, lower case). */
export function compile(
  bytes: Uint8Array,
  groups: Int32Array,
  agent: Uint8Array,
  traits: DialectTraits,
): Ruleset {
  const selection = readTable(bytes, groups, agent, traits);
  return table.count <= SHORT
    ? smallRuleset(selection, bytes, traits)
    : largeRuleset(selection, bytes, traits);
}

/** The same, keeping the rules that can never win: slower, for explaining. */
export function compileAll(
  bytes: Uint8Array,
  groups: Int32Array,
  agent: Uint8Array,
  traits: DialectTraits,
): SmallRuleset {
  return smallRuleset(readTable(bytes, groups, agent, traits), bytes, traits);
}

function readTable(
  bytes: Uint8Array,
  groups: Int32Array,
  agent: Uint8Array,
  traits: DialectTraits,
): Selection {
  const selection = selectRules(bytes, groups, agent, traits);
  const { rules } = selection;
  table.start(bytes, traits);
  for (let index = 0; index < rules.count; index++) {
    const start = rules.startOf(index);
    const end = rules.endOf(index);
    const allow = rules.isAllow(index);
    table.add(bytes, start, end, start, end - start, allow, traits);
    if (table.forms.stray >= 0) {
      // A stray `%` of a pattern matches any `%` of a target; its normal form has two octets for them.
      table.forms.strayOctet = LITERAL_PERCENT;
      table.add(bytes, start, end, start, end - start, allow, traits);
      table.forms.strayOctet = PERCENT;
    }
    if (traits.indexHtmlAllowsDirectory && allow) addDirectory(bytes, start, end, traits);
  }
  return selection;
}

/** google/robotstxt: "'index.htm' and 'index.html' are normalized to '/'", for allow rules. */
function addDirectory(bytes: Uint8Array, start: number, end: number, traits: DialectTraits): void {
  const slash = bytes.lastIndexOf(SLASH, end - 1);
  if (slash < start || end - slash < INDEX_HTM.length) return;
  for (let at = 0; at < INDEX_HTM.length; at++) if (bytes[slash + at] !== INDEX_HTM[at]) return;
  const pattern = new Uint8Array(slash + 2 - start);
  pattern.set(bytes.subarray(start, slash + 1));
  pattern[pattern.length - 1] = DOLLAR;
  table.add(pattern, 0, pattern.length, start, end - start, true, traits);
}

function smallRuleset(selection: Selection, bytes: Uint8Array, traits: DialectTraits): SmallRuleset {
  const order = table.bestFirst(false);
  const { words, ruleBase } = wordsFor(order, order.length, 0);
  return new SmallRuleset(partsOf(selection, bytes, traits, words, order.length, ruleBase));
}

function largeRuleset(selection: Selection, bytes: Uint8Array, traits: DialectTraits): Ruleset {
  const wild = table.bestFirst(true);
  const { literals, parents } = sortedLiterals(table);
  const order = wild.concat(literals);
  const { words, ruleBase, end } = wordsFor(order, wild.length, literals.length);
  for (const [index, parent] of parents.entries())
    words[end + index] = parent < 0 ? -1 : parent + wild.length;
  return new LargeRuleset(
    partsOf(selection, bytes, traits, words, order.length, ruleBase),
    wild.length,
    end - wild.length,
  );
}

/** The words of a ruleset whose first `listed` rules are tried one after the other, with room for `more` at the `end`. */
function wordsFor(
  order: readonly number[],
  listed: number,
  more: number,
): { words: Int32Array; ruleBase: number; end: number } {
  const sieveBase = listed * SHORT_TELL_WORDS;
  const ruleBase = sieveBase + sieveWords(listed);
  const end = ruleBase + order.length * RULE_WORDS + countRewritten(order) * ENTRY_WORDS;
  const words = new Int32Array(end + more);
  let tell = 0;
  for (let rule = 0; rule < listed; rule++) {
    const row = order[rule]!;
    const head = table.head(row);
    const mask = headMaskOf(table.literalLength(row));
    words[tell++] = head;
    words[tell++] = mask;
    words[tell++] = table.byteMask(row);
    if (ruleBase > sieveBase) addToSieve(words, sieveBase, rule, head, mask);
  }
  writeRules(words, order, ruleBase);
  return { words, ruleBase, end };
}

function partsOf(
  { scope, crawlDelayMs }: Selection,
  bytes: Uint8Array,
  traits: DialectTraits,
  words: Int32Array,
  count: number,
  ruleBase: number,
): RulesetParts {
  const { forms } = table;
  const extra = forms.length === 0 ? NOTHING : forms.octets.slice(0, forms.length);
  return { scope, crawlDelayMs, bytes, traits, words, ruleBase, extra, count, hasWild: table.wildCount > 0 };
}

function countRewritten(order: readonly number[]): number {
  let count = 0;
  for (const row of order) if (table.isRewritten(row)) count++;
  return count;
}

function writeRules(words: Int32Array, order: readonly number[], ruleBase: number): void {
  const entryBase = ruleBase + order.length * RULE_WORDS;
  let entry = 0;
  for (let rule = 0; rule < order.length; rule++) {
    const row = order[rule]!;
    let facts = table.factsOf(row);
    if ((facts & REWRITTEN) !== 0) {
      const at = entryBase + entry * ENTRY_WORDS;
      words[at] = table.text(row);
      words[at + 1] = table.textLength(row);
      words[at + 2] = table.priority(row);
      words[at + 3] = facts >>> FLAG_BITS;
      facts = (entry++ << FLAG_BITS) | (facts & ((1 << FLAG_BITS) - 1));
    }
    const word = ruleBase + rule * RULE_WORDS;
    words[word] = table.offset(row);
    words[word + 1] = facts;
    words[word + 2] = table.literalLength(row);
  }
}
