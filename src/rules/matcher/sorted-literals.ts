import type { RuleTable } from './rule-table.ts';
import { ANCHORED } from './ruleset.ts';

/** Fewer rows are compared with each other. */
const FEW = 24;

/** Literal rules, sorted by octets. Of rules that fit the same targets only the winner is kept. */
export interface SortedLiterals {
  /** Their rows. */
  readonly literals: number[];
  /** Of each the index of the longest other rule that is its prefix and not anchored; -1 if there is none. */
  readonly parents: number[];
}

export function sortedLiterals(table: RuleTable): SortedLiterals {
  const rows = new Int32Array(table.count - table.wildCount);
  let next = 0;
  for (let row = 0; row < table.count; row++) if (!table.isWild(row)) rows[next++] = row;
  new LiteralSort(table, rows).sort(0, rows.length, 0);

  const literals: number[] = [];
  const parents: number[] = [];
  let parent = -1;
  for (const row of rows) {
    const previous = literals.length - 1;
    if (previous >= 0 && compareFrom(table, literals[previous]!, row, 0) === 0) {
      if (table.compare(row, literals[previous]!) < 0) literals[previous] = row;
      continue;
    }
    while (parent >= 0 && !isPrefix(table, literals[parent]!, row)) parent = parents[parent]!;
    parents.push(parent);
    literals.push(row);
    if ((table.factsOf(row) & ANCHORED) === 0) parent = literals.length - 1;
  }
  return { literals, parents };
}

/** Kinds of rows at a depth: those that end there, not anchored and anchored, then those of each octet. */
const KINDS = 258;

/**
 * Sorts by one octet after the other: each is looked at a few times, whatever the rules are. What `depth` octets are
 * shared is not looked at again.
 */
class LiteralSort {
  private readonly table: RuleTable;
  private readonly rows: Int32Array;
  private readonly sorted: Int32Array;

  constructor(table: RuleTable, rows: Int32Array) {
    this.table = table;
    this.rows = rows;
    this.sorted = new Int32Array(rows.length);
  }

  /** Sorts `rows[low, high)`, which share their first `depth` octets. */
  sort(low: number, high: number, depth: number): void {
    for (;;) {
      if (high - low <= FEW) return this.insert(low, high, depth);
      const kind = this.kind(low, depth);
      let at = low + 1;
      while (at < high && this.kind(at, depth) === kind) at++;
      if (at < high) break;
      if (kind < 2) return;
      depth++;
    }
    const { rows, sorted } = this;
    const starts = new Int32Array(KINDS + 1);
    for (let at = low; at < high; at++) starts[this.kind(at, depth) + 1]!++;
    for (let kind = 1; kind <= KINDS; kind++) starts[kind]! += starts[kind - 1]!;
    for (let at = low; at < high; at++) sorted[low + starts[this.kind(at, depth)]!++] = rows[at]!;
    rows.set(sorted.subarray(low, high), low);
    // Each start has moved to the next: of the first two kinds all are equal.
    for (let kind = 2; kind < KINDS; kind++) {
      const first = starts[kind - 1]!;
      if (starts[kind]! - first > 1) this.sort(low + first, low + starts[kind]!, depth + 1);
    }
  }

  private insert(low: number, high: number, depth: number): void {
    const { rows, table } = this;
    for (let at = low + 1; at < high; at++) {
      const row = rows[at]!;
      let to = at;
      for (; to > low && compareFrom(table, rows[to - 1]!, row, depth) > 0; to--) rows[to] = rows[to - 1]!;
      rows[to] = row;
    }
  }

  private kind(at: number, depth: number): number {
    const { table } = this;
    const row = this.rows[at]!;
    if (depth < table.literalLength(row)) return table.octets(row)[table.text(row) + depth]! + 2;
    return (table.factsOf(row) & ANCHORED) === 0 ? 0 : 1;
  }
}

/** Compares two rows behind the first `depth` octets, which they share. */
function compareFrom(table: RuleTable, one: number, other: number, depth: number): number {
  const size = Math.min(table.literalLength(one), table.literalLength(other));
  const octets = table.octets(one);
  const otherOctets = table.octets(other);
  const from = table.text(one);
  const otherFrom = table.text(other);
  let at = depth;
  while (at < size && octets[from + at] === otherOctets[otherFrom + at]) at++;
  if (at < size) return octets[from + at]! - otherOctets[otherFrom + at]!;
  const longer = table.literalLength(one) - table.literalLength(other);
  return longer === 0 ? (table.factsOf(one) & ANCHORED) - (table.factsOf(other) & ANCHORED) : longer;
}

function isPrefix(table: RuleTable, prefix: number, row: number): boolean {
  const size = table.literalLength(prefix);
  if (size > table.literalLength(row)) return false;
  const octets = table.octets(prefix);
  const others = table.octets(row);
  const from = table.text(prefix);
  const otherFrom = table.text(row);
  for (let at = 0; at < size; at++) if (octets[from + at] !== others[otherFrom + at]) return false;
  return true;
}
