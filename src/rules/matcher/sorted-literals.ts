import { comparePrecedence, factsOf, literalLengthOf, octetsOf, ruleCount, textOf } from './rule-table.ts';
import { ANCHORED, WILD } from './ruleset.ts';

/** Up to this number of entries a comparison sort is faster than the radix sort. */
const MAX_COMPARISON_SORT = 24;

/** Literal rules, sorted by octets. Of rules that fit the same targets only the one that decides is kept. */
export interface SortedLiterals {
  /** Their entries. */
  readonly literals: number[];
  /** For each entry the index of the longest other rule that is its prefix and not anchored; -1 if there is none. */
  readonly parents: number[];
}

export function sortedLiterals(count: number): SortedLiterals {
  entries = new Int32Array(count);
  sorted = new Int32Array(entries.length);
  let next = 0;
  for (let entry = 0; entry < ruleCount; entry++) if ((factsOf(entry) & WILD) === 0) entries[next++] = entry;
  sort(0, entries.length, 0);

  const literals: number[] = [];
  const parents: number[] = [];
  let parent = -1;
  for (const entry of entries) {
    const previous = literals.length - 1;
    if (previous >= 0 && compareFrom(literals[previous]!, entry, 0) === 0) {
      if (comparePrecedence(entry, literals[previous]!) < 0) literals[previous] = entry;
      continue;
    }
    while (parent >= 0 && !isPrefix(literals[parent]!, entry)) parent = parents[parent]!;
    parents.push(parent);
    literals.push(entry);
    if ((factsOf(entry) & ANCHORED) === 0) parent = literals.length - 1;
  }
  return { literals, parents };
}

/** Kinds of entries at a depth. 0: ends there, not anchored. 1: ends there, anchored. From 2: the next octet. */
const KINDS = 258;

let entries = new Int32Array(0);
let sorted = entries;

/**
 * Sorts `entries[low, high)`, which share their first `depth` octets, by radix sort: each octet is read a few times only,
 * however much the rules have in common.
 */
function sort(low: number, high: number, depth: number): void {
  for (;;) {
    if (high - low <= MAX_COMPARISON_SORT) {
      entries.subarray(low, high).sort((one, other) => compareFrom(one, other, depth));
      return;
    }
    const kind = kindOf(low, depth);
    let at = low + 1;
    while (at < high && kindOf(at, depth) === kind) at++;
    if (at < high) break;
    if (kind < 2) return;
    depth++;
  }
  const starts = new Int32Array(KINDS + 1);
  for (let at = low; at < high; at++) starts[kindOf(at, depth) + 1]!++;
  for (let kind = 1; kind <= KINDS; kind++) starts[kind]! += starts[kind - 1]!;
  for (let at = low; at < high; at++) sorted[low + starts[kindOf(at, depth)]!++] = entries[at]!;
  entries.set(sorted.subarray(low, high), low);
  // Each start has moved to the start of the next kind. Entries of kinds 0 and 1 are equal and need no further sorting.
  for (let kind = 2; kind < KINDS; kind++) {
    const first = starts[kind - 1]!;
    if (starts[kind]! - first > 1) sort(low + first, low + starts[kind]!, depth + 1);
  }
}

function kindOf(at: number, depth: number): number {
  const entry = entries[at]!;
  if (depth < literalLengthOf(entry)) return octetsOf(entry)[textOf(entry) + depth]! + 2;
  return (factsOf(entry) & ANCHORED) === 0 ? 0 : 1;
}

/** Compares two entries after their first `depth` octets, which they share. */
function compareFrom(one: number, other: number, depth: number): number {
  const at = shared(one, other, depth);
  if (at < literalLengthOf(one) && at < literalLengthOf(other)) {
    return octetsOf(one)[textOf(one) + at]! - octetsOf(other)[textOf(other) + at]!;
  }
  const longer = literalLengthOf(one) - literalLengthOf(other);
  return longer === 0 ? (factsOf(one) & ANCHORED) - (factsOf(other) & ANCHORED) : longer;
}

const isPrefix = (prefix: number, entry: number): boolean =>
  shared(prefix, entry, 0) === literalLengthOf(prefix);

/** The number of octets that two entries share from the start; at least `depth`. */
function shared(one: number, other: number, depth: number): number {
  const size = Math.min(literalLengthOf(one), literalLengthOf(other));
  const octets = octetsOf(one);
  const otherOctets = octetsOf(other);
  const from = textOf(one);
  const otherFrom = textOf(other);
  while (depth < size && octets[from + depth] === otherOctets[otherFrom + depth]) depth++;
  return depth;
}
