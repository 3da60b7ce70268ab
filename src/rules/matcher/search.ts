import { QUESTION, STAR } from '../octets.ts';
import { findIndexed, hasPairs, indexTarget } from './target-index.ts';
import { FOLDING_ESCAPE, foldedOctet, NormalForm } from './normal-form.ts';

/*
 * Searches for a piece of a pattern in a target. The naive search comes first, because it is fastest on real targets.
 * The comparisons of all searches in one target are counted. When they exceed `MOST_STEPS` plus 32 per octet of the
 * target, the target is indexed once. Each later search then costs time in proportion to the length of its piece.
 */

let steps = 0;
let indexed = false;
let target: Uint8Array = new Uint8Array(0);
let targetStart = 0;
let targetEnd = 0;
let query = -1;

const MAX_STEPS = 32_768;
/** Once the target is indexed, comparisons of the naive search before the index is used: it finds near hits sooner. */
const NEAR = 24;

/** Sets the target of all searches until the next call: `octets[start, end)`. */
export function startSearch(octets: Uint8Array, start: number, end: number): void {
  steps = MAX_STEPS + 32 * (end - start);
  query = -1;
  indexed = false;
  target = octets;
  targetStart = start;
  targetEnd = end;
}

/** The index of the first raw `?` of the target; the end of the target if there is none. */
function queryStart(): number {
  if (query < 0) {
    query = targetStart;
    while (query < targetEnd && target[query] !== QUESTION) query++;
  }
  return query;
}

/**
 * Whether `pieces[at, last)`, a normal form with wildcards, fits the target. Each piece takes its leftmost hit, which
 * leaves the most room for the later pieces. So no backtracking is needed.
 */
export function wildFits(
  pieces: Uint8Array,
  at: number,
  last: number,
  anchored: boolean,
  folds: boolean,
): boolean {
  const octets = target;
  const end = targetEnd;
  let position = targetStart;
  for (let octet: number; (octet = pieces[at]!) !== STAR; at++, position++) {
    if (position >= end || octets[position] !== octet) return false;
  }
  for (;;) {
    while (at < last && pieces[at] === STAR) at++;
    if (at === last) return true;
    let pieceEnd = at + 1;
    while (pieceEnd < last && pieces[pieceEnd] !== STAR) pieceEnd++;
    if (pieceEnd === last && anchored) {
      return folds
        ? endsWithFolding(octets, position, end, queryStart(), pieces, at, last)
        : endsWith(octets, position, end, pieces, at, last);
    }
    if (folds) {
      position = findFolding(octets, position, end, queryStart(), pieces, at, pieceEnd);
      if (position < 0) return false;
    } else {
      const hit = find(octets, position, end, pieces, at, pieceEnd);
      if (hit < 0) return false;
      position = hit + pieceEnd - at;
    }
    at = pieceEnd;
  }
}

/** The leftmost index of `piece[start, end)` in `text[from, to)`, a part of the target; -1 if there is none. */
function find(
  text: Uint8Array,
  from: number,
  to: number,
  piece: Uint8Array,
  start: number,
  end: number,
): number {
  const length = end - start;
  const first = piece[start];
  const last = to - length;
  if (indexed && !hasPairs(piece, start, end)) return -1;
  let budget = indexed ? NEAR : steps;
  let at = from;
  for (; at <= last && budget >= 0; at++, budget--) {
    if (text[at] !== first) continue;
    let same = 1;
    while (same < length && text[at + same] === piece[start + same]) same++;
    if (same === length) {
      if (!indexed) steps = budget - length;
      return at;
    }
    budget -= same;
  }
  if (!indexed) {
    steps = budget;
    if (at > last) return -1;
    indexed = true;
    indexTarget(target, targetStart, targetEnd);
  } else if (at > last) return -1;
  const found = findIndexed(at, piece, start, end);
  return found > last ? -1 : found;
}

/** Whether `text[from, to)` ends with `piece[start, end)`. */
function endsWith(
  text: Uint8Array,
  from: number,
  to: number,
  piece: Uint8Array,
  start: number,
  end: number,
): boolean {
  const begin = to - (end - start);
  return begin >= from && same(text, begin, piece, start, end);
}

function same(text: Uint8Array, from: number, piece: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text[from + at - start] !== piece[at]) return false;
  return true;
}

const escaped = new NormalForm();
const raw = new NormalForm();

/** Writes `piece[start, end)` to `escaped`, with folding escapes as escapes, and to `raw`, with them as raw octets. */
function unfold(piece: Uint8Array, start: number, end: number): void {
  escaped.length = raw.length = 0;
  for (let at = start; at < end; at++) {
    const octet = piece[at]!;
    if (octet < FOLDING_ESCAPE) {
      escaped.push(octet);
      raw.push(octet);
    } else {
      escaped.pushEscape(foldedOctet(octet));
      raw.push(foldedOctet(octet));
    }
  }
}

/**
 * {@link find} for a piece that holds escapes of `: / ? @ '`. Before the query of the target they match only escapes;
 * in the query they match only raw octets, because the normal form of a target has raw octets there. So a hit lies
 * wholly before the `?` that starts the query, or spans it with its own first raw `?`, or lies wholly after it.
 *
 * @param query The index of that `?`; `to` if there is none.
 * @returns the index of the *end* of the leftmost hit; -1 if there is none.
 */
function findFolding(
  text: Uint8Array,
  from: number,
  to: number,
  query: number,
  piece: Uint8Array,
  start: number,
  end: number,
): number {
  if (from <= query) {
    unfold(piece, start, end);
    const hit = find(text, from, query, escaped.octets, 0, escaped.length);
    if (hit >= 0) return hit + escaped.length;
    const across = spanning(text, from, to, query, piece, start, end);
    if (across >= 0) return across;
  }
  unfold(piece, start, end);
  const hit = find(text, Math.max(from, query + 1), to, raw.octets, 0, raw.length);
  return hit < 0 ? -1 : hit + raw.length;
}

/** {@link endsWith} for a piece that holds escapes of `: / ? @ '`. */
function endsWithFolding(
  text: Uint8Array,
  from: number,
  to: number,
  query: number,
  piece: Uint8Array,
  start: number,
  end: number,
): boolean {
  unfold(piece, start, end);
  if (endsWith(text, Math.max(from, query + 1), to, raw.octets, 0, raw.length)) return true;
  if (query === to) return endsWith(text, from, to, escaped.octets, 0, escaped.length);
  return from <= query && spanning(text, from, to, query, piece, start, end) === to;
}

/**
 * The end of `piece` when its first raw `?` is placed on the `?` that starts the query, with escapes before it and raw
 * octets after it; -1 if it does not fit there.
 */
function spanning(
  text: Uint8Array,
  from: number,
  to: number,
  query: number,
  piece: Uint8Array,
  start: number,
  end: number,
): number {
  let question = start;
  while (question < end && piece[question] !== QUESTION) question++;
  if (question === end || query >= to) return -1;
  unfold(piece, start, question);
  if (!endsWith(text, from, query, escaped.octets, 0, escaped.length)) return -1;
  unfold(piece, question, end);
  const behind = query + raw.length;
  return behind <= to && same(text, query, raw.octets, 0, raw.length) ? behind : -1;
}
