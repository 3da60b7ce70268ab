import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, PERCENT, SLASH, utf8 } from '../octets.ts';
import {
  ANCHORED,
  ENTRY_WORDS,
  FLAG_BITS,
  type Ruleset,
  type RulesetParts,
  REWRITTEN,
  RULE_WORDS,
} from './ruleset.ts';
import { LITERAL_PERCENT } from './normal-form.ts';
import { RuleTable } from './rule-table.ts';
import { type Selection, selectRules } from './select.ts';
import { addToSieve, headMaskOf, SHORT_TELL_WORDS, SmallRuleset, sieveWords } from './small-ruleset.ts';
import { NODE_WORDS, slotOf, LargeRuleset } from './large-ruleset.ts';

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
  const sieveBase = order.length * SHORT_TELL_WORDS;
  const ruleBase = sieveBase + sieveWords(order.length);
  const words = new Int32Array(ruleBase + order.length * RULE_WORDS + countRewritten(order) * ENTRY_WORDS);
  let tell = 0;
  for (let rule = 0; rule < order.length; rule++) {
    const row = order[rule]!;
    const head = table.head(row);
    const mask = headMaskOf(table.literalLength(row));
    words[tell++] = head;
    words[tell++] = mask;
    words[tell++] = table.byteMask(row);
    if (ruleBase > sieveBase) addToSieve(words, sieveBase, rule, head, mask);
  }
  writeRules(words, order, ruleBase);
  return new SmallRuleset(partsOf(selection, bytes, traits, words, order.length, ruleBase));
}

function largeRuleset(selection: Selection, bytes: Uint8Array, traits: DialectTraits): Ruleset {
  // Of rules that fit the same targets only the winner is kept.
  const literals = new DistinctRows(table.count - table.wildCount);
  const wilds = new DistinctRows(table.wildCount);
  for (let row = 0; row < table.count; row++) if (!table.isWild(row)) literals.add(row);
  // Added best first, each node's rules stand so.
  for (const row of table.bestFirst(true)) wilds.add(row);
  const nodes = nodesOf(wilds.winners);
  const order = literals.winners.concat(...nodes);
  const literalLengths = distinctLengths(literals.winners);
  const nodeLengths = distinctLengths(nodes.map((node) => node[0]!));
  const nodeSlots = new Int32Array(slotsFor(nodes.length));
  const wide = order.length > 0xfffe;

  const ruleBase = order.length;
  const nodeBase = ruleBase + order.length * RULE_WORDS + countRewritten(order) * ENTRY_WORDS;
  const literalLengthBase = nodeBase + nodes.length * NODE_WORDS;
  const nodeLengthBase = literalLengthBase + literalLengths.length;
  const literalSlotBase = nodeLengthBase + nodeLengths.length;
  const nodeSlotBase = literalSlotBase + slotWords(literals.slots, wide);
  const words = new Int32Array(nodeSlotBase + slotWords(nodeSlots, wide));

  for (const [rule, row] of order.entries()) {
    words[rule] = table.isWild(row) ? table.byteMask(row) : table.hash(row, table.literalLength(row));
  }
  writeRules(words, order, ruleBase);
  words.set(literalLengths, literalLengthBase);
  words.set(nodeLengths, nodeLengthBase);
  writeSlots(words, literalSlotBase, literals.slots, wide);
  let first = literals.winners.length;
  for (const [index, node] of nodes.entries()) {
    const length = table.literalLength(node[0]!);
    words.set([first, first + node.length, length], nodeBase + index * NODE_WORDS);
    first += node.length;
    const mask = nodeSlots.length - 1;
    let slot = slotOf(table.hash(node[0]!, length), mask);
    while (nodeSlots[slot] !== 0) slot = (slot + 1) & mask;
    nodeSlots[slot] = index + 1;
  }
  writeSlots(words, nodeSlotBase, nodeSlots, wide);
  let slack = 0;
  for (const row of literals.winners) slack = Math.max(slack, table.priority(row) - table.literalLength(row));
  return new LargeRuleset(partsOf(selection, bytes, traits, words, order.length, ruleBase), {
    nodeBase,
    literalLengthBase,
    nodeLengthBase,
    literalSlotBase,
    literalSlotMask: literals.slots.length - 1,
    nodeSlotBase,
    nodeSlotMask: nodeSlots.length - 1,
    wide,
    slack,
  });
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

/** Of table with the same normal form the one that wins, in a table from that form to its number + 1. */
class DistinctRows {
  readonly winners: number[] = [];
  readonly slots: Int32Array;

  constructor(most: number) {
    this.slots = new Int32Array(slotsFor(most));
  }

  add(row: number): void {
    const { slots, winners } = this;
    const mask = slots.length - 1;
    const length = table.textLength(row);
    let slot = slotOf(table.hash(row, length), mask);
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const other = winners[slots[slot]! - 1]!;
      if (
        table.textLength(other) !== length ||
        ((table.factsOf(row) ^ table.factsOf(other)) & ANCHORED) !== 0
      )
        continue;
      if (!table.sameText(row, other, length)) continue;
      if (table.compare(row, other) < 0) winners[slots[slot]! - 1] = row;
      return;
    }
    slots[slot] = winners.push(row);
  }
}

/** Wild rules by literal prefix, each list best first. */
function nodesOf(wilds: readonly number[]): number[][] {
  const nodes: number[][] = [];
  const slots = new Int32Array(slotsFor(wilds.length));
  const mask = slots.length - 1;
  for (const row of wilds) {
    const length = table.literalLength(row);
    let slot = slotOf(table.hash(row, length), mask);
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const node = nodes[slots[slot]! - 1]!;
      if (table.literalLength(node[0]!) !== length || !table.sameText(row, node[0]!, length)) continue;
      node.push(row);
      break;
    }
    if (slots[slot] === 0) slots[slot] = nodes.push([row]);
  }
  return nodes;
}

function distinctLengths(candidates: readonly number[]): number[] {
  let longest = 0;
  for (const row of candidates) longest = Math.max(longest, table.literalLength(row));
  const seen = new Uint8Array(longest + 1);
  for (const row of candidates) seen[table.literalLength(row)] = 1;
  const lengths: number[] = [];
  for (let length = longest; length >= 0; length--) if (seen[length] === 1) lengths.push(length);
  return lengths;
}

/** A power of two that leaves a fifth of the slots free, so that a probe ends. */
function slotsFor(count: number): number {
  let slots = 2;
  while (slots * 4 < count * 5) slots *= 2;
  return slots;
}

const slotWords = (slots: Int32Array, wide: boolean): number =>
  wide ? slots.length : (slots.length + 1) >> 1;

function writeSlots(words: Int32Array, base: number, slots: Int32Array, wide: boolean): void {
  if (wide) words.set(slots, base);
  else
    for (let slot = 0; slot < slots.length; slot++)
      words[base + (slot >> 1)]! |= slots[slot]! << ((slot & 1) << 4);
}
