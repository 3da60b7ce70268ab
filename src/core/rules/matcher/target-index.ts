/*
 * The index is the suffix automaton of the target (Blumer et al. 1985): the smallest automaton that reads all substrings.
 * Each substring leads to one state; two lead to the same state when they end at the same places. Places count from 1,
 * the end of the first byte. For each byte of the target there are at most two states and three edges, made in linear
 * time. State 0 is the empty string. No edge leads to it, so that 0 also stands for "no state".
 *
 * The link of a state leads to its longest suffix that ends at more places. So the links are a tree, and a state ends at
 * the places of all its descendants. `places` lists them in the order of the tree: those of a state lie side by side.
 */

/** Up to this number, places are compared one by one. */
const MAX_COMPARED = 16;
/** The most words of all bit sets: 8 MiB. Beyond it all are dropped, and rebuilt on demand. */
const MAX_BIT_SET_WORDS = 2 ** 21;
/** The most cells of the table of edges: 4 MiB. A longer target, or one with more distinct bytes, has only lists. */
const MAX_TABLE_CELLS = 2 ** 21;
const NO_TABLE = new Uint16Array(0);

/**
 * An index of one target. It bounds the time of files with many wild rules, where the plain search for each piece would
 * take too long: the time to find a piece depends on the piece, and hardly on the target. It takes at most 95 bytes of
 * memory for each byte of the target, and 12 MiB.
 */
export class TargetIndex {
  readonly #targetStart: number;
  readonly #length: number;
  /** By byte: where the column of its edges starts. Column 0 is for bytes that the target lacks, and stays empty. */
  readonly #columns = new Int32Array(256);
  /** A column for each byte of the target: by state, the next state. Few columns matter to a file, so they stay cached. */
  #table: Uint16Array = NO_TABLE;
  /** The edges of each state as a list: by state the first one; by edge its byte, the state it leads to, the next one. */
  readonly #lists: Int32Array;
  readonly #edgeBytes: Uint8Array;
  readonly #edgeStates: Int32Array;
  readonly #nextEdges: Int32Array;
  #edgeCount = 0;
  /** By state: the place where it ends first. */
  readonly #firstPlaces: Int32Array;
  /** By state: the number of its places, and the end of them in `places`. */
  readonly #counts: Int32Array;
  readonly #placesEnds: Int32Array;
  readonly #places: Int32Array;
  /** Places as bit sets, of states with many places, made on first use. */
  readonly #bitSets = new Map<number, Int32Array>();

  /** Indexes `bytes[start, end)`. */
  constructor(bytes: Uint8Array, start: number, end: number) {
    const length = end - start;
    const most = 2 * length + 1;
    this.#targetStart = start;
    this.#length = length;
    this.#lists = new Int32Array(most);
    this.#edgeBytes = new Uint8Array(3 * length + 1);
    this.#edgeStates = new Int32Array(3 * length + 1);
    this.#nextEdges = new Int32Array(3 * length + 1);
    this.#firstPlaces = new Int32Array(most);
    this.#places = new Int32Array(length);
    this.#counts = new Int32Array(most);
    this.#placesEnds = new Int32Array(most);
    this.#makeTable(bytes, start, end, most);
    this.#listPlaces(this.#makeStates(bytes));
  }

  /** Makes the table, if it is not too large. */
  #makeTable(bytes: Uint8Array, start: number, end: number, most: number): void {
    const columns = this.#columns;
    let size = most;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (columns[byte] !== 0) continue;
      columns[byte] = size;
      size += most;
    }
    if (size <= MAX_TABLE_CELLS && most < 65_536) this.#table = new Uint16Array(size);
  }

  /** Makes the states and their edges. */
  #makeStates(bytes: Uint8Array): StateTree {
    const edgeBytes = this.#edgeBytes;
    const edgeStates = this.#edgeStates;
    const firstPlaces = this.#firstPlaces;
    const length = this.#length;
    const lists = this.#lists;
    const nextEdges = this.#nextEdges;
    const table = this.#table;
    const targetStart = this.#targetStart;
    const lengths = new Int32Array(lists.length);
    const links = new Int32Array(lists.length);
    /** By place: the state of the whole target up to there. */
    const prefixes = new Int32Array(length + 1);
    let stateCount = 1;
    links[0] = -1;
    for (let place = 1; place <= length; place++) {
      const byte = bytes[targetStart + place - 1]!;
      const added = stateCount++;
      lengths[added] = firstPlaces[added] = place;
      prefixes[place] = added;
      let state = prefixes[place - 1]!;
      let next = 0;
      for (; state >= 0 && (next = this.#next(state, byte)) === 0; state = links[state]!) {
        this.#connect(state, byte, added);
      }
      if (state < 0) continue;
      links[added] = next;
      if (lengths[next] === lengths[state]! + 1) continue;
      // The suffixes of `next` that are no longer than this one now end at more places than `next` itself.
      const suffix = stateCount++;
      lengths[suffix] = lengths[state]! + 1;
      firstPlaces[suffix] = firstPlaces[next]!;
      for (let edge = lists[next]!; edge > 0; edge = nextEdges[edge]!) {
        const each = edgeBytes[edge]!;
        this.#connect(suffix, each, table.length > 0 ? this.#next(next, each) : edgeStates[edge]!);
      }
      links[suffix] = links[next]!;
      links[next] = links[added] = suffix;
      for (; state >= 0 && this.#next(state, byte) === next; state = links[state]!) {
        this.#redirect(state, byte, suffix);
      }
    }
    return { lengths, links, prefixes, stateCount };
  }

  /** The state that the edge of `byte` leads to; 0 if there is none. */
  #next(state: number, byte: number): number {
    const table = this.#table;
    return table.length > 0
      ? table[this.#columns[byte]! + state]!
      : this.#edgeStates[this.#edgeOf(state, byte)]!;
  }

  /** The edge of a list; 0 if there is none. Edge 0 leads to no state. */
  #edgeOf(state: number, byte: number): number {
    const edgeBytes = this.#edgeBytes;
    const nextEdges = this.#nextEdges;
    let edge = this.#lists[state]!;
    while (edge > 0 && edgeBytes[edge] !== byte) edge = nextEdges[edge]!;
    return edge;
  }

  #connect(state: number, byte: number, to: number): void {
    const edge = ++this.#edgeCount;
    this.#edgeBytes[edge] = byte;
    this.#edgeStates[edge] = to;
    this.#nextEdges[edge] = this.#lists[state]!;
    this.#lists[state] = edge;
    if (this.#table.length > 0) this.#table[this.#columns[byte]! + state] = to;
  }

  /** Redirects an edge to another state. With a table the state in the list is not used. */
  #redirect(state: number, byte: number, to: number): void {
    if (this.#table.length > 0) this.#table[this.#columns[byte]! + state] = to;
    else this.#edgeStates[this.#edgeOf(state, byte)] = to;
  }

  /** Lists the places of the states, from the root of the tree on: a state is longer than its parent. */
  #listPlaces({ lengths, links, prefixes, stateCount }: StateTree): void {
    const counts = this.#counts;
    const length = this.#length;
    const places = this.#places;
    const placesEnds = this.#placesEnds;
    const order = new Int32Array(stateCount);
    const starts = new Int32Array(length + 2);
    for (let state = 0; state < stateCount; state++) starts[lengths[state]! + 1]!++;
    for (let size = 1; size <= length; size++) starts[size]! += starts[size - 1]!;
    for (let state = 0; state < stateCount; state++) order[starts[lengths[state]!]!++] = state;
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

  /** The end of the leftmost `piece[start, end)` in the target from `from` on; past the target if there is none. */
  endOf(from: number, piece: Uint8Array, start: number, end: number): number {
    const targetStart = this.#targetStart;
    let state = 0;
    for (let at = start; at < end; at++) {
      state = this.#next(state, piece[at]!);
      if (state === 0) return targetStart + this.#length + 1;
    }
    return targetStart + this.#placeFrom(state, from - targetStart + end - start);
  }

  /** The first place of `state` from `least` on; past the target if there is none. */
  #placeFrom(state: number, least: number): number {
    const first = this.#firstPlaces[state]!;
    if (first >= least) return first;
    const count = this.#counts[state]!;
    if (count > MAX_COMPARED) return nextBit(this.#bitSets.get(state) ?? this.#addBitSet(state), least);
    const places = this.#places;
    let found = this.#length + 1;
    const end = this.#placesEnds[state]!;
    for (let at = end - count; at < end; at++) {
      const place = places[at]!;
      if (place >= least && place < found) found = place;
    }
    return found;
  }

  #addBitSet(state: number): Int32Array {
    const bits = new Int32Array((this.#length >> 5) + 1);
    if ((this.#bitSets.size + 1) * bits.length > MAX_BIT_SET_WORDS) this.#bitSets.clear();
    this.#bitSets.set(state, bits);
    const end = this.#placesEnds[state]!;
    for (const place of this.#places.subarray(end - this.#counts[state]!, end))
      bits[place >> 5]! |= 1 << (place & 31);
    return bits;
  }
}

/** The tree of states, while places are listed. */
interface StateTree {
  /** By state: the length of the longest substring that leads to it. */
  readonly lengths: Int32Array;
  readonly links: Int32Array;
  /** By place: the state of the whole target up to there. */
  readonly prefixes: Int32Array;
  readonly stateCount: number;
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
