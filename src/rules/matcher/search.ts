import { QUESTION, STAR } from '../octets.ts';
import { findIndexed, hasPairs, indexTarget } from './target-index.ts';
import { FOLDING_ESCAPE, foldedOctet, NormalForm } from './normal-form.ts';

/*
 * Finding a piece of a pattern in a target. A search starts as the plain one, which is fastest on anything real. The
 * octets looked at are counted over all searches in one target: past a small multiple of its length and those of the
 * rules, the target is indexed once, and every later search costs what its piece is long.
 */

let steps = 0;
let indexed = false;
let target: Uint8Array = new Uint8Array(0);
let targetStart = 0;
let targetEnd = 0;
let query = -1;

const MOST_STEPS = 32_768;
/** Where the index is there, octets looked at before it is asked: places that are near are found sooner so. */
const NEAR = 24;

/** What is searched until the next call is `octets[start, end)`. */
export function startSearch(octets: Uint8Array, start: number, end: number): void {
  steps = MOST_STEPS + 32 * (end - start);
  query = -1;
  indexed = false;
  target = octets;
  targetStart = start;
  targetEnd = end;
}

/** Where the first raw `?` of the target searched stands: its end if nowhere. */
function queryStart(): number {
  if (query < 0) {
    query = targetStart;
    while (query < targetEnd && target[query] !== QUESTION) query++;
  }
  return query;
}

/**
 * Whether `pieces[at, last)`, a normal form with wildcards, fits the target searched. Leftmost search, piece by
 * piece, never going back: a later piece has the most room when every earlier one stands leftmost.
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

/** Leftmost place of `piece[start, end)` in `text[from, to)`, a part of the target searched; -1 if none. */
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

/** Reads `piece[start, end)` with its folding escapes as escapes, and as the raw octets a query shows. */
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
 * {@link find} for a piece that holds escapes of `: / ? @ '`: before the target's query they match only
 * themselves, in it only the raw octets, which is how the target shows them there. So a hit lies wholly before
 * the delimiter, or spans it with its first raw `?`, or lies wholly behind. Returns where the leftmost hit
 * *ends*, -1 if there is none.
 *
 * @param query Where that `?` stands; `to` if nowhere.
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
 * Where `piece` ends when it spans the delimiter: its first raw `?` on the delimiter, escapes before it as escapes,
 * behind it raw; -1 if it does not fit so.
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
