import type { DialectTraits } from '../dialect.ts';
import { LINE_ALLOW } from '../parse-line.ts';
import { Pattern } from '../normal-form/pattern.ts';
import type { MatchedGroup } from '../describe.ts';
import { RuleCursor } from './rule-cursor.ts';
import { RuleTable } from './rule-table.ts';
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
  const add = (): void => {
    const { kind, line, valueStart, valueEnd } = cursor;
    table.add(pattern, valueStart, valueEnd - valueStart, line, kind === LINE_ALLOW);
  };
  const selection = selectRules(cursor, agent, traits, pattern, add, () => table.clear());
  const sorts = table.count > MAX_LISTED_RULES;
  const listed = table.bestFirst(sorts);
  const literals = sorts ? sortedLiterals(table, table.count - listed.length) : { sorted: [], parents: [] };
  return new Ruleset(selection, describe(selection), bytes, traits, table, { listed, ...literals });
}

/** Up to this number of entries a comparison sort is faster than the radix sort. */
const MAX_COMPARISON_SORT = 24;

/**
 * Sorts the literal rules of `table`, `count` of them, by bytes. Of rules that match the same targets only the one that
 * decides is kept.
 */
function sortedLiterals(table: RuleTable, count: number): Pick<OrderedRules, 'sorted' | 'parents'> {
  const sort = new LiteralSort(table, count);
  const sorted: number[] = [];
  const parents: number[] = [];
  let parent = -1;
  for (const entry of sort.sorted()) {
    const previous = sorted.length - 1;
    if (previous >= 0 && sort.compare(sorted[previous]!, entry, 0) === 0) {
      if (table.beats(entry, sorted[previous]!)) sorted[previous] = entry;
      continue;
    }
    while (parent >= 0 && !sort.isPrefix(sorted[parent]!, entry)) parent = parents[parent]!;
    parents.push(parent);
    sorted.push(entry);
    if (!table.isAnchored(entry)) parent = sorted.length - 1;
  }
  return { sorted, parents };
}

/** Kinds of entries at a depth. 0: ends there, not anchored. 1: ends there, anchored. 2 and more: the next byte. */
const KINDS = 258;

/**
 * A radix sort of entries by their bytes: each byte is read only a few times, even if the rules share long prefixes.
 */
class LiteralSort {
  readonly #table: RuleTable;
  readonly #entries: Int32Array;
  readonly #scratch: Int32Array;

  constructor(table: RuleTable, count: number) {
    this.#table = table;
    this.#entries = new Int32Array(count);
    this.#scratch = new Int32Array(count);
    let next = 0;
    for (let entry = 0; entry < table.count; entry++) if (!table.isWild(entry)) this.#entries[next++] = entry;
  }

  sorted(): Int32Array {
    this.#sort(0, this.#entries.length, 0);
    return this.#entries;
  }

  /** Sorts `entries[low, high)`, which share their first `depth` bytes. */
  #sort(low: number, high: number, depth: number): void {
    const entries = this.#entries;
    const scratch = this.#scratch;
    for (;;) {
      if (high - low <= MAX_COMPARISON_SORT) {
        entries.subarray(low, high).sort((one, other) => this.compare(one, other, depth));
        return;
      }
      const kind = this.#kindOf(low, depth);
      let at = low + 1;
      while (at < high && this.#kindOf(at, depth) === kind) at++;
      if (at < high) break;
      if (kind < 2) return;
      depth++;
    }
    const starts = new Int32Array(KINDS + 1);
    for (let at = low; at < high; at++) starts[this.#kindOf(at, depth) + 1]!++;
    for (let kind = 1; kind <= KINDS; kind++) starts[kind]! += starts[kind - 1]!;
    for (let at = low; at < high; at++) scratch[low + starts[this.#kindOf(at, depth)]!++] = entries[at]!;
    entries.set(scratch.subarray(low, high), low);
    // Each start has moved to the start of the next kind. Entries of kinds 0 and 1 are equal and need no further sorting.
    for (let kind = 2; kind < KINDS; kind++) {
      const first = starts[kind - 1]!;
      if (starts[kind]! - first > 1) this.#sort(low + first, low + starts[kind]!, depth + 1);
    }
  }

  #kindOf(at: number, depth: number): number {
    const table = this.#table;
    const entry = this.#entries[at]!;
    if (depth < table.lengthOf(entry)) return table.bytesOf(entry)[table.startOf(entry) + depth]! + 2;
    return table.isAnchored(entry) ? 1 : 0;
  }

  /** Compares two entries after their first `depth` bytes, which they share. */
  compare(one: number, other: number, depth: number): number {
    const table = this.#table;
    const at = this.#shared(one, other, depth);
    const length = table.lengthOf(one);
    const otherLength = table.lengthOf(other);
    if (at < length && at < otherLength) {
      return table.bytesOf(one)[table.startOf(one) + at]! - table.bytesOf(other)[table.startOf(other) + at]!;
    }
    return length - otherLength || Number(table.isAnchored(one)) - Number(table.isAnchored(other));
  }

  isPrefix(prefix: number, entry: number): boolean {
    return this.#shared(prefix, entry, 0) === this.#table.lengthOf(prefix);
  }

  /** The number of bytes that two entries share from the start; at least `depth`. */
  #shared(one: number, other: number, depth: number): number {
    const table = this.#table;
    const size = Math.min(table.lengthOf(one), table.lengthOf(other));
    const bytes = table.bytesOf(one);
    const otherBytes = table.bytesOf(other);
    const from = table.startOf(one);
    const otherFrom = table.startOf(other);
    while (depth < size && bytes[from + depth] === otherBytes[otherFrom + depth]) depth++;
    return depth;
  }
}
