import { STAR } from '../octets.ts';

/*
 * An index of one target. It bounds the time of files with many wild rules, where the plain search for each piece would
 * take too long: the time to find a piece depends on the piece, and hardly on the target.
 *
 * It is the suffix automaton of the target (Blumer et al. 1985): the smallest automaton that reads all substrings. Each
 * substring leads to one state; two lead to the same state when they end at the same places. Places count from 1, the
 * end of the first octet. For each octet of the target there are at most two states and three edges, made in linear
 * time. State 0 is the empty string. No edge leads to it, so that 0 also stands for "no state".
 *
 * The link of a state leads to its longest suffix that ends at more places. So the links are a tree, and a state ends at
 * the places of all its descendants. `places` lists them in the order of the tree: those of a state lie side by side.
 */

/** Up to this number of places they are compared one by one. */
const MAX_COMPARED = 16;

/** By octet: where the column of its edges starts. Column 0 is for octets that the target lacks, and stays empty. */
const columns = new Int32Array(256);
/** A column for each octet of the target: by state, the next state. Few columns matter to a file, so they stay cached. */
let edges: Uint16Array | Int32Array = columns;
/** By state: the place where it ends first. */
let firstPlaces = columns;
/** By state: the number of its places, and the end of them in `places`. */
let counts = columns;
let placesEnds = columns;
let places = columns;
/** By state: its places as a bit set, if there are many and somebody asked. */
let bitSets: (Int32Array | undefined)[] = [];
let targetStart = 0;
let length = 0;

/** Indexes `octets[start, end)`, until the next target is indexed. */
export function indexTarget(octets: Uint8Array, start: number, end: number): void {
  targetStart = start;
  length = end - start;
  const most = 2 * length + 1;
  columns.fill(0);
  let size = most;
  for (let at = start; at < end; at++) {
    const octet = octets[at]!;
    if (columns[octet] === 0) {
      columns[octet] = size;
      size += most;
    }
  }
  const table = new (most < 65_536 ? Uint16Array : Int32Array)(size);
  const lengths = new Int32Array(most);
  const links = new Int32Array(most);
  const firsts = new Int32Array(most);
  /** By place: the state of the whole target up to there. */
  const prefixes = new Int32Array(length + 1);
  /** The edges of each state as a list: by state the first one; by edge its column, and the next one. */
  const lists = new Int32Array(most);
  const edgeColumns = new Int32Array(2 * most);
  const nextEdges = new Int32Array(2 * most);
  let edgeCount = 0;
  let stateCount = 1;
  links[0] = -1;
  for (let place = 1; place <= length; place++) {
    const column = columns[octets[start + place - 1]!]!;
    const added = stateCount++;
    lengths[added] = firsts[added] = place;
    prefixes[place] = added;
    let state = prefixes[place - 1]!;
    for (; state >= 0 && table[column + state] === 0; state = links[state]!) {
      table[column + state] = added;
      edgeColumns[++edgeCount] = column;
      nextEdges[edgeCount] = lists[state]!;
      lists[state] = edgeCount;
    }
    if (state < 0) continue;
    const next = table[column + state]!;
    links[added] = next;
    if (lengths[next] === lengths[state]! + 1) continue;
    // The suffixes of `next` that are no longer than this one now end at more places than `next` itself.
    const suffix = stateCount++;
    lengths[suffix] = lengths[state]! + 1;
    firsts[suffix] = firsts[next]!;
    for (let edge = lists[next]!; edge > 0; edge = nextEdges[edge]!) {
      const each = edgeColumns[edge]!;
      table[each + suffix] = table[each + next]!;
      edgeColumns[++edgeCount] = each;
      nextEdges[edgeCount] = lists[suffix]!;
      lists[suffix] = edgeCount;
    }
    links[suffix] = links[next]!;
    links[next] = links[added] = suffix;
    for (; state >= 0 && table[column + state] === next; state = links[state]!)
      table[column + state] = suffix;
  }
  edges = table;
  firstPlaces = firsts;
  // The tree, from the root on: a state is longer than its parent.
  const order = new Int32Array(stateCount);
  const starts = new Int32Array(length + 2);
  for (let state = 0; state < stateCount; state++) starts[lengths[state]! + 1]!++;
  for (let size = 1; size <= length; size++) starts[size]! += starts[size - 1]!;
  for (let state = 0; state < stateCount; state++) order[starts[lengths[state]!]!++] = state;
  counts = new Int32Array(stateCount);
  placesEnds = new Int32Array(stateCount);
  places = new Int32Array(length);
  bitSets = [];
  for (let at = stateCount - 1; at > 0; at--) {
    const state = order[at]!;
    if (prefixes[lengths[state]!] === state) counts[state]!++;
    counts[links[state]!]! += counts[state]!;
  }
  for (let at = 1; at < stateCount; at++) {
    const state = order[at]!;
    const parent = links[state]!;
    placesEnds[state] = placesEnds[parent]!;
    placesEnds[parent]! += counts[state]!;
    if (prefixes[lengths[state]!] === state) places[placesEnds[state]!++] = lengths[state]!;
  }
}

/** The end of the leftmost `piece[start, end)` in the indexed target from `from` on; past the target if there is none. */
export function endOfIndexed(from: number, piece: Uint8Array, start: number, end: number): number {
  let state = 0;
  let at = start;
  do state = edges[columns[piece[at]!]! + state]!;
  while (state !== 0 && ++at < end);
  return targetStart + (state === 0 ? length + 1 : placeFrom(state, from - targetStart + end - start));
}

/** Whether `pieces[at, last)` fits the indexed target from `from` on. It has no escapes that fold. */
export function piecesFitIndexed(
  from: number,
  pieces: Uint8Array,
  at: number,
  last: number,
  anchored: boolean,
): boolean {
  const table = edges;
  let place = from - targetStart;
  for (;;) {
    while (at < last && pieces[at] === STAR) at++;
    if (at === last) return true;
    const start = at;
    let state = 0;
    for (let octet: number; at < last && (octet = pieces[at]!) !== STAR; at++) {
      state = table[columns[octet]! + state]!;
      if (state === 0) return false;
    }
    place += at - start;
    if (at === last && anchored) return place <= length && placeFrom(state, length) === length;
    place = placeFrom(state, place);
    if (place > length) return false;
  }
}

/** The first place of `state` from `least` on; past the target if there is none. */
function placeFrom(state: number, least: number): number {
  const first = firstPlaces[state]!;
  if (first >= least) return first;
  if (counts[state]! > MAX_COMPARED) return nextBit(bitSetOf(state), least);
  let found = length + 1;
  const end = placesEnds[state]!;
  for (let at = end - counts[state]!; at < end; at++) {
    const place = places[at]!;
    if (place >= least && place < found) found = place;
  }
  return found;
}

function bitSetOf(state: number): Int32Array {
  let bits = bitSets[state];
  if (bits !== undefined) return bits;
  bits = bitSets[state] = new Int32Array((length >> 5) + 1);
  const end = placesEnds[state]!;
  for (let at = end - counts[state]!; at < end; at++) bits[places[at]! >> 5]! |= 1 << (places[at]! & 31);
  return bits;
}

/** The first number of a bit set from `least` on, which is in its range; past the range if there is none. */
function nextBit(bits: Int32Array, least: number): number {
  let word = least >> 5;
  let left = bits[word]! & (-1 << (least & 31));
  while (left === 0) {
    if (++word >= bits.length) return word << 5;
    left = bits[word]!;
  }
  return (word << 5) + 31 - Math.clz32(left & -left);
}
