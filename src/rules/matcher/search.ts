import { DOLLAR, PERCENT, QUESTION, STAR } from '../octets.ts';
import { endOfIndexed, indexTarget, piecesFitIndexed } from './target-index.ts';
import { ANCHORED, FOLDS, REWRITTEN } from './ruleset.ts';
import { FOLDING_ESCAPE, foldedOctet, LITERAL_PERCENT, NormalForm, OPEN_PERCENT } from './normal-form.ts';

/*
 * Searches for the pieces of wild rules in a target. The plain search comes first, because it is fastest on real targets.
 * The comparisons of all searches in one target are counted. When they exceed `MAX_STEPS` plus 32 per octet of the
 * target, the target is indexed once. Each later search then costs time in proportion to the length of its piece.
 */

let steps = 0;
let indexed = false;
let target: Uint8Array = new Uint8Array(0);
let targetStart = 0;
let targetEnd = 0;
let query = -1;

const MAX_STEPS = 32_768;

/** Sets the target of all searches until the next call: `octets[start, end)`. */
export function startSearch(octets: Uint8Array, start: number, end: number): void {
  steps = MAX_STEPS + 32 * (end - start);
  query = -1;
  indexed = false;
  target = octets;
  targetStart = start;
  targetEnd = end;
}

/** Ends the searches in the target: frees its index, which is large for a long one. */
export function releaseIndex(): void {
  if (indexed) indexTarget(target, 0, 0);
  indexed = false;
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
 * Whether a wild rule fits the target. Its normal form has `size` octets from `at` on, and flags of `ruleset.ts`. Each
 * piece takes its leftmost hit, which leaves the most room for the later pieces. So no backtracking is needed.
 */
export function wildFits(pieces: Uint8Array, at: number, size: number, facts: number): boolean {
  const anchored = (facts & ANCHORED) !== 0;
  const folds = (facts & FOLDS) !== 0;
  let last = at + size;
  // A final `$` is always the anchor, also after a `*`, where it has no effect. Rewritten rules are without it.
  if ((facts & REWRITTEN) === 0 && pieces[last - 1] === DOLLAR) last--;
  let position = targetStart;
  for (let octet: number; at < last && (octet = pieces[at]!) !== STAR; at++, position++) {
    if (position >= targetEnd) return false;
    const other = target[position]!;
    if (other !== octet && !(octet === OPEN_PERCENT && isPercent(other))) return false;
  }
  for (;;) {
    if (indexed && !folds) return piecesFitIndexed(position, pieces, at, last, anchored);
    while (at < last && pieces[at] === STAR) at++;
    if (at === last) return true;
    let pieceEnd = at + 1;
    while (pieceEnd < last && pieces[pieceEnd] !== STAR) pieceEnd++;
    if (pieceEnd === last && anchored) {
      return folds
        ? endsWithFolding(position, pieces, at, last)
        : endsWith(position, targetEnd, pieces, at, last);
    }
    position = folds
      ? findFolding(position, pieces, at, pieceEnd)
      : find(position, targetEnd, pieces, at, pieceEnd);
    if (position < 0) return false;
    at = pieceEnd;
  }
}

/** The end of the leftmost `piece[start, end)` in `target[from, to)`; -1 if there is none. */
function find(from: number, to: number, piece: Uint8Array, start: number, end: number): number {
  if (!indexed) {
    const text = target;
    const length = end - start;
    const last = to - length;
    const first = piece[start];
    let budget = steps;
    let at = from;
    for (; at <= last && budget >= 0; at++, budget--) {
      if (text[at] !== first) continue;
      let same = 1;
      while (same < length && text[at + same] === piece[start + same]) same++;
      budget -= same;
      if (same === length) {
        steps = budget;
        return at + length;
      }
    }
    steps = budget;
    if (at > last) return -1;
    indexed = true;
    indexTarget(text, targetStart, targetEnd);
  }
  const found = endOfIndexed(from, piece, start, end);
  return found > to ? -1 : found;
}

/** Whether `target[from, to)` ends with `piece[start, end)`. */
function endsWith(from: number, to: number, piece: Uint8Array, start: number, end: number): boolean {
  const begin = to - (end - start);
  return begin >= from && isAt(begin, piece, start, end);
}

/** Whether the target has `piece[start, end)` at `from`. */
export function isAt(from: number, piece: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (target[from + at - start] !== piece[at]) return false;
  return true;
}

const form = new NormalForm();

const isPercent = (octet: number): boolean => octet === PERCENT || octet === LITERAL_PERCENT;

/** The octet that {@link unfold} writes for an {@link OPEN_PERCENT}. */
let percent: number = PERCENT;

/** Writes `piece[start, end)` to `form`, with folding escapes as raw octets or as escapes. */
function unfold(piece: Uint8Array, start: number, end: number, raw: boolean): void {
  form.length = 0;
  for (let at = start; at < end; at++) {
    const octet = piece[at]!;
    if (octet < FOLDING_ESCAPE) form.push(octet);
    else if (octet === OPEN_PERCENT) form.push(percent);
    else if (raw) form.push(foldedOctet(octet));
    else form.pushEscape(foldedOctet(octet));
  }
}

/**
 * {@link find} for a piece that holds escapes of `: / ? @ '`. Before the query of the target they match only escapes;
 * in the query they match only raw octets, because the normal form of a target has raw octets there. So a hit lies
 * wholly before the `?` that starts the query, or spans it with its own first raw `?`, or lies wholly after it.
 */
function findFolding(from: number, piece: Uint8Array, start: number, end: number): number {
  percent = PERCENT;
  const found = findUnfolded(from, piece, start, end);
  if (piece[end - 1] !== OPEN_PERCENT && piece[end - 2] !== OPEN_PERCENT) return found;
  percent = LITERAL_PERCENT;
  const other = findUnfolded(from, piece, start, end);
  return found < 0 || (other >= 0 && other < found) ? other : found;
}

function findUnfolded(from: number, piece: Uint8Array, start: number, end: number): number {
  const query = queryStart();
  if (from <= query) {
    unfold(piece, start, end, false);
    const found = find(from, query, form.octets, 0, form.length);
    if (found >= 0) return found;
    const across = spanning(from, piece, start, end);
    if (across >= 0) return across;
  }
  unfold(piece, start, end, true);
  return find(Math.max(from, query + 1), targetEnd, form.octets, 0, form.length);
}

/** {@link endsWith} for a piece that holds escapes of `: / ? @ '`. */
function endsWithFolding(from: number, piece: Uint8Array, start: number, end: number): boolean {
  const query = queryStart();
  const isPath = query === targetEnd;
  unfold(piece, start, end, !isPath);
  if (endsWith(isPath ? from : Math.max(from, query + 1), targetEnd, form.octets, 0, form.length))
    return true;
  return from <= query && spanning(from, piece, start, end) === targetEnd;
}

/**
 * The end of `piece` when its first raw `?` is placed on the `?` that starts the query, with escapes before it and raw
 * octets after it; -1 if it does not fit there.
 */
function spanning(from: number, piece: Uint8Array, start: number, end: number): number {
  const query = queryStart();
  let question = start;
  while (question < end && piece[question] !== QUESTION) question++;
  if (question === end || query >= targetEnd) return -1;
  unfold(piece, start, question, false);
  if (!endsWith(from, query, form.octets, 0, form.length)) return -1;
  unfold(piece, question, end, true);
  const behind = query + form.length;
  return behind <= targetEnd && isAt(query, form.octets, 0, form.length) ? behind : -1;
}
