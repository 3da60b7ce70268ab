import { QUESTION } from '../octets.ts';
import { FOLDING_ESCAPE, foldedOctet, NormalForm } from './normal-form.ts';

/*
 * Finding a piece of a pattern in a target. Every search is linear in target and piece: it starts as the plain
 * one, which is fastest on anything real, and turns into Knuth-Morris-Pratt when its steps exceed a small
 * multiple of the target.
 */

let failure = new Int32Array(256);

/** Leftmost place of `piece[start, end)` in `text[from, to)`; -1 if none. */
export function find(
  text: Uint8Array,
  from: number,
  to: number,
  piece: Uint8Array,
  start: number,
  end: number,
): number {
  const length = end - start;
  const first = piece[start];
  let budget = 64 + 4 * (to - from);
  for (let at = from; at + length <= to; at++) {
    if (text[at] !== first) continue;
    let same = 1;
    while (same < length && text[at + same] === piece[start + same]) same++;
    if (same >= length) return at;
    budget -= same;
    if (budget < 0) return knuthMorrisPratt(text, at + 1, to, piece, start, length);
  }
  return -1;
}

function knuthMorrisPratt(
  text: Uint8Array,
  from: number,
  to: number,
  piece: Uint8Array,
  start: number,
  length: number,
): number {
  if (failure.length < length) failure = new Int32Array(length * 2);
  failure[0] = 0;
  for (let at = 1, same = 0; at < length; at++) {
    while (same > 0 && piece[start + at] !== piece[start + same]) same = failure[same - 1]!;
    if (piece[start + at] === piece[start + same]) same++;
    failure[at] = same;
  }
  for (let at = from, same = 0; at < to; at++) {
    while (same > 0 && text[at] !== piece[start + same]) same = failure[same - 1]!;
    if (text[at] === piece[start + same]) same++;
    if (same === length) return at - length + 1;
  }
  return -1;
}

/** Whether `text[from, to)` ends with `piece[start, end)`. */
export function endsWith(
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
export function findFolding(
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
    if (across >= 0) return across + raw.length;
  }
  unfold(piece, start, end);
  const hit = find(text, Math.max(from, query + 1), to, raw.octets, 0, raw.length);
  return hit < 0 ? -1 : hit + raw.length;
}

/** {@link endsWith} for a piece that holds escapes of `: / ? @ '`. */
export function endsWithFolding(
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
  return from <= query && spanning(text, from, to, query, piece, start, end) + raw.length === to;
}

/**
 * Where the part behind the delimiter starts when `piece` spans it: its first raw `?` on the delimiter, escapes
 * before it as escapes, behind it raw. Leaves that part in `raw`; -1 if the piece does not fit so.
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
  const question = piece.indexOf(QUESTION, start);
  raw.length = 0;
  if (question < 0 || question >= end || query >= to) return -1;
  unfold(piece, start, question);
  if (!endsWith(text, from, query, escaped.octets, 0, escaped.length)) return -1;
  unfold(piece, question, end);
  return query + raw.length <= to && same(text, query, raw.octets, 0, raw.length) ? query : -1;
}
