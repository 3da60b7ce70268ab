/*
 * An index of one target. It bounds the time of files with many wild rules, where the naive search of each piece would
 * take too long. It is a suffix array, sorted by prefix doubling: O(n log² n) at worst for any target. Finding a piece
 * takes time in proportion to its length and the logarithm of the target's length.
 */

/** Ranges of up to this many suffixes are scanned. */
const MAX_LINEAR_SUFFIXES = 24;

let suffixes = new Int32Array(0);
let ranks = new Int32Array(0);
let spare = new Int32Array(0);
let counts = new Int32Array(0);
/** For each pair of octets the range of the suffixes that start with it: `first` to `behind`, exclusive. */
const first = new Int32Array(65_536);
const behind = new Int32Array(65_536);
/** For ranges longer than `FEW`: the positions of their suffixes as a bit set. */
let places = new Map<number, Int32Array>();
let text: Uint8Array = new Uint8Array(0);
let start = 0;
let length = 0;

/** Indexes `octets[from, to)`, until the next target is indexed. */
export function indexTarget(octets: Uint8Array, from: number, to: number): void {
  text = octets;
  start = from;
  length = to - from;
  places = new Map();
  suffixes = new Int32Array(length);
  ranks = new Int32Array(length);
  spare = new Int32Array(length);
  counts = new Int32Array(Math.max(length, 256));
  sortSuffixes();
  behind.fill(0);
  for (let at = 0; at < length; at++) {
    const suffix = start + suffixes[at]!;
    const pair = (text[suffix]! << 8) | (suffix + 1 < to ? text[suffix + 1]! : 0);
    if (behind[pair] === 0) first[pair] = at;
    behind[pair] = at + 1;
  }
}

function sortSuffixes(): void {
  for (let at = 0; at < length; at++) {
    spare[at] = at;
    ranks[at] = text[start + at]!;
  }
  countingSort(256);
  rankBy(0);
  for (let half = 1; half < length; half *= 2) {
    // Order by the second half. Suffixes too short to have one come first.
    let next = 0;
    for (let at = length - half; at < length; at++) spare[next++] = at;
    for (let at = 0; at < length; at++) if (suffixes[at]! >= half) spare[next++] = suffixes[at]! - half;
    const classes = ranks[suffixes[length - 1]!]! + 1;
    countingSort(classes);
    if (rankBy(half) === length) return;
  }
}

/** Sorts the suffixes in `spare` by rank into `suffixes`, with a stable sort. */
function countingSort(classes: number): void {
  counts.fill(0, 0, classes);
  for (let at = 0; at < length; at++) counts[ranks[at]!]!++;
  let sum = 0;
  for (let rank = 0; rank < classes; rank++) {
    const count = counts[rank]!;
    counts[rank] = sum;
    sum += count;
  }
  for (let at = 0; at < length; at++) suffixes[counts[ranks[spare[at]!]!]!++] = spare[at]!;
}

/** Ranks the sorted suffixes by their first `2 * half` octets. @returns the number of different ranks. */
function rankBy(half: number): number {
  let rank = 0;
  spare[suffixes[0]!] = 0;
  for (let at = 1; at < length; at++) {
    const one = suffixes[at - 1]!;
    const other = suffixes[at]!;
    // A suffix without a second half reads `undefined` there, which equals no rank.
    const same = ranks[one] === ranks[other] && (half === 0 || ranks[one + half] === ranks[other + half]);
    if (!same) rank++;
    spare[other] = rank;
  }
  [ranks, spare] = [spare, ranks];
  return rank + 1;
}

/** Whether each pair of adjacent octets of `piece[start, end)` occurs in the target. Excludes most pieces quickly. */
export function hasPairs(piece: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    if (behind[(piece[at - 1]! << 8) | piece[at]!] === 0) return false;
  }
  return true;
}

/** The leftmost index, from `from` on, of `piece[pieceStart, pieceEnd)` in the indexed target; -1 if there is none. */
export function findIndexed(from: number, piece: Uint8Array, pieceStart: number, pieceEnd: number): number {
  const size = pieceEnd - pieceStart;
  let low = 0;
  let high = length;
  if (size > 1) {
    const pair = (piece[pieceStart]! << 8) | piece[pieceStart + 1]!;
    low = first[pair]!;
    high = behind[pair]!;
  }
  low = bound(low, high, piece, pieceStart, size, false);
  high = bound(low, high, piece, pieceStart, size, true);
  if (low === high) return -1;
  const least = from - start;
  const found =
    high - low <= MAX_LINEAR_SUFFIXES ? leastOf(low, high, least) : nextBit(placesOf(low, high), least);
  return found < 0 ? -1 : start + found;
}

/**
 * The start of the suffixes that begin with the piece within `suffixes[low, high)`; their end if `past`.
 */
function bound(
  low: number,
  high: number,
  piece: Uint8Array,
  pieceStart: number,
  size: number,
  past: boolean,
): number {
  // When two suffixes share n octets with the piece, all suffixes sorted between them share at least n.
  let sharedLow = 0;
  let sharedHigh = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const suffix = suffixes[middle]!;
    const room = Math.min(size, length - suffix);
    let shared = Math.min(sharedLow, sharedHigh);
    while (shared < room && text[start + suffix + shared] === piece[pieceStart + shared]) shared++;
    const less =
      shared === size
        ? past
        : shared === room || text[start + suffix + shared]! < piece[pieceStart + shared]!;
    if (less) {
      low = middle + 1;
      sharedLow = shared;
    } else {
      high = middle;
      sharedHigh = shared;
    }
  }
  return low;
}

function leastOf(low: number, high: number, least: number): number {
  let found = -1;
  for (let at = low; at < high; at++) {
    const place = suffixes[at]!;
    if (place >= least && (found < 0 || place < found)) found = place;
  }
  return found;
}

/** The positions of `suffixes[low, high)` as a bit set. It is kept, because many rules share a piece. */
function placesOf(low: number, high: number): Int32Array {
  const key = low * (length + 1) + high;
  let bits = places.get(key);
  if (bits === undefined) {
    bits = new Int32Array((length >> 5) + 1);
    for (let at = low; at < high; at++) bits[suffixes[at]! >> 5]! |= 1 << (suffixes[at]! & 31);
    places.set(key, bits);
  }
  return bits;
}

function nextBit(bits: Int32Array, least: number): number {
  let word = least >> 5;
  let left = bits[word]! & (-1 << (least & 31));
  while (left === 0) {
    if (++word >= bits.length) return -1;
    left = bits[word]!;
  }
  return (word << 5) + 31 - Math.clz32(left & -left);
}
