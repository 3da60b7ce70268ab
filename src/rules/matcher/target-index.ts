/*
 * An index of one target, for files whose many wild rules would cost more than the file is long if each were tried
 * octet by octet. It is a suffix array, sorted by doubling prefixes: O(n log² n) at worst, whatever the octets are.
 * A piece of a pattern is then found in steps in proportion to its own octets and the logarithm of the target's.
 */

/** Ranges up to so long are looked through one by one. */
const FEW = 24;

let suffixes = new Int32Array(0);
let ranks = new Int32Array(0);
let spare = new Int32Array(0);
let counts = new Int32Array(0);
/** Where the suffixes that start with two given octets stand, by these two. */
const first = new Int32Array(65_536);
const behind = new Int32Array(65_536);
/** The places of pieces that have many, as bits. */
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
    // By the second half: suffixes too short to have one come first.
    let next = 0;
    for (let at = length - half; at < length; at++) spare[next++] = at;
    for (let at = 0; at < length; at++) if (suffixes[at]! >= half) spare[next++] = suffixes[at]! - half;
    const classes = ranks[suffixes[length - 1]!]! + 1;
    countingSort(classes);
    if (rankBy(half) === length) return;
  }
}

/** Sorts what stands in `spare` by rank, keeping the order of equals. */
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

/** Numbers the sorted suffixes by their first `2 * half` octets; gives how many kinds there are. */
function rankBy(half: number): number {
  let rank = 0;
  spare[suffixes[0]!] = 0;
  for (let at = 1; at < length; at++) {
    const one = suffixes[at - 1]!;
    const other = suffixes[at]!;
    // A suffix without a second half has no rank there.
    const same = ranks[one] === ranks[other] && (half === 0 || ranks[one + half] === ranks[other + half]);
    if (!same) rank++;
    spare[other] = rank;
  }
  [ranks, spare] = [spare, ranks];
  return rank + 1;
}

/** Whether any two octets that follow each other in `piece[start, end)` do so in the target: most pieces fail here. */
export function hasPairs(piece: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    if (behind[(piece[at - 1]! << 8) | piece[at]!] === 0) return false;
  }
  return true;
}

/** Leftmost place of `piece[pieceStart, pieceEnd)` in the indexed target that is not before `from`; -1 if none. */
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
  const found = high - low <= FEW ? leastOf(low, high, least) : nextBit(placesOf(low, high), least);
  return found < 0 ? -1 : start + found;
}

/**
 * Where the suffixes that start with the piece begin among `suffixes[low, high)`, or end if `past`.
 */
function bound(
  low: number,
  high: number,
  piece: Uint8Array,
  pieceStart: number,
  size: number,
  past: boolean,
): number {
  // Suffixes between two that share so many octets with the piece share as many.
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

/** The places of `suffixes[low, high)` as bits; kept, because many rules ask for the same. */
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
