import type { DialectTraits } from './dialect.ts';
import { type Symbols, PatternFacts, readPattern, Symbols as SymbolBuffer } from './path.ts';
import {
  ALLOW,
  ANCHORED,
  FLAG_BITS,
  FOLDS,
  HASH_FACTOR,
  HASH_SEED,
  Program,
  REWRITTEN,
  slotOf,
} from './program.ts';
import { type RuleList, selectRules } from './select.ts';

const NOTHING = new Uint8Array(0);

/** One rule while it is being compiled. Columns of a table instead of objects: a file can have 60,000. */
const COLUMNS = 7;
const OFFSET = 0;
const FACTS = 1;
const LITERAL_LENGTH = 2;
const PRIORITY = 3;
const OCCURRENCE = 4;
/** Where the literal text stands: in the file, or in the symbols if REWRITTEN. */
const TEXT = 5;
const SYMBOLS = 6;

let table = new Int32Array(64 * COLUMNS);
const symbols: Symbols = new SymbolBuffer();
const facts = new PatternFacts();

/** Compiles what the file says to `agent` (octets, lower case). */
export function compile(bytes: Uint8Array, agent: Uint8Array, traits: DialectTraits): Program {
  const selection = selectRules(bytes, agent, traits);
  const compiler = new Compiler(bytes, traits);
  return compiler.compile(selection.rules, selection.scope, selection.crawlDelayMs);
}

class Compiler {
  private readonly bytes: Uint8Array;
  private readonly traits: DialectTraits;
  private readonly literals: number[] = [];
  private readonly wilds: number[] = [];
  private rows = 0;
  private rewritten = 0;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.bytes = bytes;
    this.traits = traits;
    symbols.length = 0;
  }

  compile(rules: RuleList, scope: 'named' | 'all' | 'none', crawlDelayMs: number): Program {
    for (let index = 0; index < rules.count; index++) {
      const start = rules.startOf(index);
      const end = rules.endOf(index);
      this.add(this.bytes, start, end, start, end - start, rules.isAllow(index));
      if (this.traits.indexHtmlAllowsDirectory && rules.isAllow(index)) this.addDirectory(start, end);
    }
    return this.link(scope, crawlDelayMs);
  }

  /** google/robotstxt: "'index.htm' and 'index.html' are normalized to '/'", for allow rules. */
  private addDirectory(start: number, end: number): void {
    const slash = this.bytes.lastIndexOf(0x2f, end - 1);
    if (slash < start || end - slash < INDEX_HTM.length) return;
    for (let at = 0; at < INDEX_HTM.length; at++) if (this.bytes[slash + at] !== INDEX_HTM[at]) return;
    const pattern = new Uint8Array(slash + 2 - start);
    pattern.set(this.bytes.subarray(start, slash + 1));
    pattern[pattern.length - 1] = 0x24;
    this.add(pattern, 0, pattern.length, start, end - start, true);
  }

  /** Puts a pattern into the table. `offset` and `written` say where it stands in the file. */
  private add(
    source: Uint8Array,
    start: number,
    end: number,
    offset: number,
    written: number,
    allow: boolean,
  ): void {
    const from = symbols.length;
    readPattern(source, start, end, this.traits, facts, symbols);
    const rewritten = !facts.inPlace || source !== this.bytes;
    if (facts.inPlace && rewritten) {
      const last = facts.anchored || source[end - 1] === 0x24 ? end - 1 : end;
      for (let at = start; at < last; at++) symbols.push(source[at]!);
    }
    const row = this.rows++;
    if (table.length < this.rows * COLUMNS) {
      const grown = new Int32Array(table.length * 2);
      grown.set(table);
      table = grown;
    }
    const at = row * COLUMNS;
    table[at + OFFSET] = offset;
    table[at + FACTS] =
      (written << FLAG_BITS) |
      (allow ? ALLOW : 0) |
      (facts.anchored ? ANCHORED : 0) |
      (rewritten ? REWRITTEN : 0) |
      (facts.folds ? FOLDS : 0);
    table[at + LITERAL_LENGTH] = facts.literalLength;
    table[at + PRIORITY] = facts.priority;
    table[at + OCCURRENCE] = facts.occurrence;
    table[at + TEXT] = rewritten ? from : offset;
    table[at + SYMBOLS] = facts.wild ? (rewritten ? symbols.length - from : end - start) : facts.literalLength;
    (facts.wild ? this.wilds : this.literals).push(row);
  }

  private link(scope: 'named' | 'all' | 'none', crawlDelayMs: number): Program {
    const literals = this.distinctLiterals();
    const nodes = this.wildNodes();
    const wilds = nodes.flat();
    const literalLengths = this.distinctLengths(literals);
    const heads = nodes.map((node) => node[0]!);
    const wildLengths = this.distinctLengths(heads);

    const rewrittenRows = [...literals, ...wilds].filter((row) => (this.column(row, FACTS) & REWRITTEN) !== 0);
    this.rewritten = rewrittenRows.length;
    const wide = this.rows > 0xfffe;
    const literalSlots = literals.length === 0 ? 0 : slotsFor(literals.length);
    const wildSlots = nodes.length === 0 ? 0 : slotsFor(nodes.length);

    const wildBase = literals.length * 2;
    const rewrittenBase = wildBase + wilds.length * 3;
    const nodeBase = rewrittenBase + this.rewritten * 4;
    const literalLengthBase = nodeBase + nodes.length * 3;
    const wildLengthBase = literalLengthBase + literalLengths.length;
    const literalSlotBase = wildLengthBase + wildLengths.length;
    const wildSlotBase = literalSlotBase + slotWords(literalSlots, wide);
    const words = new Int32Array(wildSlotBase + slotWords(wildSlots, wide));

    let slack = 0;
    let entry = 0;
    const writeRule = (row: number, word: number): void => {
      let ruleFacts = this.column(row, FACTS);
      if ((ruleFacts & REWRITTEN) !== 0) {
        const at = rewrittenBase + entry * 4;
        words[at] = this.column(row, TEXT);
        words[at + 1] = this.column(row, SYMBOLS);
        words[at + 2] = this.column(row, PRIORITY);
        words[at + 3] = ruleFacts >>> FLAG_BITS;
        ruleFacts = (entry++ << FLAG_BITS) | (ruleFacts & ((1 << FLAG_BITS) - 1));
      }
      words[word] = this.column(row, OFFSET);
      words[word + 1] = ruleFacts;
    };
    literals.forEach((row, rule) => {
      writeRule(row, rule * 2);
      slack = Math.max(slack, this.column(row, PRIORITY) - this.column(row, LITERAL_LENGTH));
      insert(words, literalSlotBase, literalSlots, wide, this.literalHash(row), rule + 1);
    });
    wilds.forEach((row, index) => {
      const word = wildBase + index * 3;
      writeRule(row, word);
      words[word + 2] = this.column(row, OCCURRENCE);
    });
    let first = literals.length;
    nodes.forEach((node, index) => {
      const at = nodeBase + index * 3;
      words[at] = first;
      words[at + 1] = first += node.length;
      words[at + 2] = this.column(node[0]!, LITERAL_LENGTH);
      insert(words, wildSlotBase, wildSlots, wide, this.literalHash(node[0]!), index + 1);
    });
    words.set(literalLengths, literalLengthBase);
    words.set(wildLengths, wildLengthBase);

    const extra = symbols.length === 0 ? NOTHING : symbols.octets.slice(0, symbols.length);
    return new Program(scope, crawlDelayMs, this.bytes, this.traits, words, extra, {
      literals: literals.length,
      wilds: wilds.length,
      wildBase,
      rewrittenBase,
      nodeBase,
      literalLengthBase,
      literalLengths: literalLengths.length,
      wildLengthBase,
      wildLengths: wildLengths.length,
      literalSlotBase,
      literalSlotMask: literalSlots - 1,
      wildSlotBase,
      wildSlotMask: wildSlots - 1,
      wide,
      slack,
    });
  }

  private column(row: number, column: number): number {
    return table[row * COLUMNS + column]!;
  }

  /** Of rules that match the same targets only the winner is kept. */
  private distinctLiterals(): number[] {
    return this.distinct(this.literals, (row) => this.literalHash(row), ANCHORED);
  }

  /** Wild rules by literal prefix, each list best first. */
  private wildNodes(): number[][] {
    if (this.wilds.length === 0) return [];
    const distinct = this.distinct(this.wilds, (row) => this.textHash(row, this.column(row, SYMBOLS)), ANCHORED);
    const nodes: number[][] = [];
    const heads = new Int32Array(slotsFor(distinct.length));
    const mask = heads.length - 1;
    for (const row of distinct) {
      let slot = slotOf(this.literalHash(row), mask);
      let node: number[] | undefined;
      while (heads[slot] !== 0) {
        const other = nodes[heads[slot]! - 1]!;
        if (this.sameText(row, other[0]!, LITERAL_LENGTH)) {
          node = other;
          break;
        }
        slot = (slot + 1) & mask;
      }
      if (node === undefined) {
        heads[slot] = nodes.push([row]);
      } else node.push(row);
    }
    for (const node of nodes) node.sort((a, b) => this.compare(a, b));
    return nodes;
  }

  private distinct(rows: readonly number[], hashOf: (row: number) => number, flags: number): number[] {
    const winners: number[] = [];
    if (rows.length === 0) return winners;
    const slots = new Int32Array(slotsFor(rows.length));
    const mask = slots.length - 1;
    for (const row of rows) {
      let slot = slotOf(hashOf(row), mask);
      for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const other = winners[slots[slot]! - 1]!;
        const alike = ((this.column(row, FACTS) ^ this.column(other, FACTS)) & flags) === 0;
        if (!alike || !this.sameText(row, other, SYMBOLS)) continue;
        if (this.compare(row, other) < 0) winners[slots[slot]! - 1] = row;
        break;
      }
      if (slots[slot] === 0) slots[slot] = winners.push(row);
    }
    return winners;
  }

  /** Negative when `a` wins over `b`. The same order as {@link Program}'s. */
  private compare(a: number, b: number): number {
    if (this.traits.decides === 'longest') {
      const more = this.column(b, PRIORITY) - this.column(a, PRIORITY);
      if (more !== 0) return more;
      const allow = (this.column(b, FACTS) & ALLOW) - (this.column(a, FACTS) & ALLOW);
      if (allow !== 0) return allow;
    }
    return this.column(a, OFFSET) - this.column(b, OFFSET);
  }

  private textOf(row: number): Uint8Array {
    return (this.column(row, FACTS) & REWRITTEN) === 0 ? this.bytes : symbols.octets;
  }

  private literalHash(row: number): number {
    return this.textHash(row, this.column(row, LITERAL_LENGTH));
  }

  private textHash(row: number, length: number): number {
    const text = this.textOf(row);
    const start = this.column(row, TEXT);
    let hash = HASH_SEED;
    for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ text[at]!, HASH_FACTOR);
    return hash;
  }

  private sameText(a: number, b: number, lengthColumn: number): boolean {
    const length = this.column(a, lengthColumn);
    if (length !== this.column(b, lengthColumn)) return false;
    const textA = this.textOf(a);
    const textB = this.textOf(b);
    const startA = this.column(a, TEXT);
    const startB = this.column(b, TEXT);
    for (let at = 0; at < length; at++) if (textA[startA + at] !== textB[startB + at]) return false;
    return true;
  }

  private distinctLengths(rows: readonly number[]): number[] {
    const lengths = new Set<number>();
    for (const row of rows) lengths.add(this.column(row, LITERAL_LENGTH));
    return [...lengths].sort((a, b) => b - a);
  }
}

const INDEX_HTM = new TextEncoder().encode('/index.htm');

/** A power of two that leaves a fifth of the slots free, so that a probe ends. */
function slotsFor(count: number): number {
  let slots = 2;
  while (slots * 4 < count * 5) slots *= 2;
  return slots;
}

const slotWords = (slots: number, wide: boolean): number => (wide ? slots : (slots + 1) >> 1);

function insert(words: Int32Array, base: number, slots: number, wide: boolean, hash: number, entry: number): void {
  const mask = slots - 1;
  let slot = slotOf(hash, mask);
  if (wide) {
    while (words[base + slot] !== 0) slot = (slot + 1) & mask;
    words[base + slot] = entry;
    return;
  }
  while (((words[base + (slot >> 1)]! >>> ((slot & 1) << 4)) & 0xffff) !== 0) slot = (slot + 1) & mask;
  words[base + (slot >> 1)]! |= entry << ((slot & 1) << 4);
}
