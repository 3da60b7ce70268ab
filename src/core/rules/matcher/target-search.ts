import {
  QUERY_ESCAPE,
  queryByteOf,
  LITERAL_PERCENT,
  NormalForm,
  ANY_PERCENT,
} from '../normal-form/normal-form.ts';
import type { Pattern } from '../normal-form/pattern.ts';
import { PERCENT, QUESTION, STAR } from '../bytes.ts';
import { TargetIndex } from './target-index.ts';

const NO_BYTES = new Uint8Array(0);

/** Bytes compared before a target is indexed: for any target, and in addition for each of its bytes. */
const MIN_STEPS = 32_768;
const STEPS_PER_BYTE = 32;

/**
 * Searches one target for the pieces of wild patterns. The plain search comes first, because it is fastest on real
 * targets. It counts the bytes that it compares. When they are too many the target is indexed, and each later search
 * takes time in proportion to the length of its piece.
 *
 * One instance serves many targets: between `begin` and `end` it searches one.
 */
export class TargetSearch {
  #target: Uint8Array = NO_BYTES;
  #start = 0;
  #targetEnd = 0;
  /** The first raw `?` of the target, or its end if there is none; -1 until it is needed. */
  #query = -1;
  #steps = 0;
  #index: TargetIndex | undefined;
  /** A piece with its query escapes written out. */
  readonly #form = new NormalForm();

  /** Makes `bytes[start, end)` the target of all searches until {@link end}. */
  begin(bytes: Uint8Array, start: number, end: number): void {
    this.#target = bytes;
    this.#start = start;
    this.#targetEnd = end;
    this.#query = -1;
    this.#steps = MIN_STEPS + STEPS_PER_BYTE * (end - start);
  }

  /** Releases the target and its index, which is large for a long target. */
  end(): void {
    this.#target = NO_BYTES;
    this.#index = undefined;
  }

  /** Whether `pattern` matches the target. */
  matches(pattern: Pattern): boolean {
    const { bytes, start, length, anchored, varies } = pattern;
    if (pattern.wild) return this.wildMatches(bytes, start, length, anchored, varies);
    const room = this.#targetEnd - this.#start;
    return (
      length <= room &&
      (!anchored || length === room) &&
      this.#isAt(this.#start, bytes, start, start + length)
    );
  }

  /**
   * Whether the wild pattern `pieces[at, at + length)` matches the target. Each piece takes its leftmost hit, which leaves
   * the most space for later pieces. So no backtracking is needed.
   */
  wildMatches(pieces: Uint8Array, at: number, length: number, anchored: boolean, varies: boolean): boolean {
    const target = this.#target;
    const targetEnd = this.#targetEnd;
    const last = at + length;
    let position = this.#start;
    for (let byte: number; at < last && (byte = pieces[at]!) !== STAR; at++, position++) {
      if (position >= targetEnd) return false;
      const other = target[position]!;
      if (other !== byte && !(byte === ANY_PERCENT && isPercent(other))) return false;
    }
    for (;;) {
      while (at < last && pieces[at] === STAR) at++;
      if (at === last) return true;
      const pieceEnd = indexOrEnd(pieces, STAR, at + 1, last);
      if (pieceEnd === last && anchored) {
        return varies
          ? this.#endsWithVariant(position, pieces, at, last)
          : this.#endsWith(position, targetEnd, pieces, at, last);
      }
      position = varies
        ? this.#findVariants(position, pieces, at, pieceEnd)
        : this.#find(position, targetEnd, pieces, at, pieceEnd);
      if (position < 0) return false;
      at = pieceEnd;
    }
  }

  /** The end of the leftmost `piece[start, end)` in `target[from, to)`; -1 if there is none. */
  #find(from: number, to: number, piece: Uint8Array, start: number, end: number): number {
    if (this.#index === undefined) {
      const target = this.#target;
      const length = end - start;
      const last = to - length;
      const first = piece[start];
      let steps = this.#steps;
      let at = from;
      for (; at <= last && steps >= 0; at++, steps--) {
        if (target[at] !== first) continue;
        let same = 1;
        while (same < length && target[at + same] === piece[start + same]) same++;
        steps -= same;
        if (same === length) {
          this.#steps = steps;
          return at + length;
        }
      }
      this.#steps = steps;
      if (at > last) return -1;
      this.#index = new TargetIndex(target, this.#start, this.#targetEnd);
    }
    const found = this.#index.endOf(from, piece, start, end);
    return found > to ? -1 : found;
  }

  /** Whether `target[from, to)` ends with `piece[start, end)`. */
  #endsWith(from: number, to: number, piece: Uint8Array, start: number, end: number): boolean {
    const begin = to - (end - start);
    return begin >= from && this.#isAt(begin, piece, start, end);
  }

  /** Whether the target has `piece[start, end)` at `from`. */
  #isAt(from: number, piece: Uint8Array, start: number, end: number): boolean {
    const target = this.#target;
    for (let at = start; at < end; at++) if (target[from + at - start] !== piece[at]) return false;
    return true;
  }

  /**
   * {@link #find} for a piece with bytes of two forms. Escapes of `: / ? @ '` match only escapes before the query of the
   * target, and only raw bytes in it, because a normal form has raw bytes there. A piece has at most one `%` of any kind.
   */
  #findVariants(from: number, piece: Uint8Array, start: number, end: number): number {
    const open = indexOrEnd(piece, ANY_PERCENT, start, end);
    let varies = false;
    for (let at = start; at < end; at++) if (piece[at]! >= QUERY_ESCAPE && at !== open) varies = true;
    if (!varies && open > start) {
      // What is before the `%` has one form. It is searched first, because most pieces do not occur.
      const found = this.#find(from, this.#targetEnd, piece, start, open);
      if (found < 0 || open === end) return found;
      from = found - open + start;
    }
    const query = varies ? this.#queryStart() : this.#targetEnd;
    const found = this.#findVariant(from, piece, start, end, PERCENT, query);
    if (open === end) return found;
    const other = this.#findVariant(from, piece, start, end, LITERAL_PERCENT, query);
    return found < 0 || (other >= 0 && other < found) ? other : found;
  }

  /**
   * If the piece varies, a hit lies wholly before the `?` that starts the query, or spans it with its own first raw `?`,
   * or lies wholly after it.
   */
  #findVariant(
    from: number,
    piece: Uint8Array,
    start: number,
    end: number,
    percent: number,
    query: number,
  ): number {
    const form = this.#form;
    const targetEnd = this.#targetEnd;
    if (from <= query) {
      // No variant is shorter than the piece.
      if (end - start <= query - from) {
        this.#writeVariant(piece, start, end, false, percent);
        const found = this.#find(from, query, form.bytes, 0, form.length);
        if (found >= 0) return found;
      }
      if (query === targetEnd) return -1;
      const across = this.#spanning(from, piece, start, end, percent);
      if (across >= 0) return across;
    }
    this.#writeVariant(piece, start, end, true, percent);
    return this.#find(Math.max(from, query + 1), targetEnd, form.bytes, 0, form.length);
  }

  /** {@link #endsWith} for a piece with escapes of `: / ? @ '`. Before an anchor there is no `%` of any kind. */
  #endsWithVariant(from: number, piece: Uint8Array, start: number, end: number): boolean {
    const form = this.#form;
    const targetEnd = this.#targetEnd;
    const query = this.#queryStart();
    const isPath = query === targetEnd;
    this.#writeVariant(piece, start, end, !isPath, PERCENT);
    const least = isPath ? from : Math.max(from, query + 1);
    return (
      this.#endsWith(least, targetEnd, form.bytes, 0, form.length) ||
      (from <= query && this.#spanning(from, piece, start, end, PERCENT) === targetEnd)
    );
  }

  /**
   * The end of `piece` when its first raw `?` is placed on the `?` that starts the query, with escapes before it and raw
   * bytes after it; -1 if it does not match there.
   */
  #spanning(from: number, piece: Uint8Array, start: number, end: number, percent: number): number {
    const form = this.#form;
    const targetEnd = this.#targetEnd;
    const query = this.#queryStart();
    const question = indexOrEnd(piece, QUESTION, start, end);
    if (question === end || query >= targetEnd) return -1;
    this.#writeVariant(piece, start, question, false, percent);
    if (!this.#endsWith(from, query, form.bytes, 0, form.length)) return -1;
    this.#writeVariant(piece, question, end, true, percent);
    const after = query + form.length;
    return after <= targetEnd && this.#isAt(query, form.bytes, 0, form.length) ? after : -1;
  }

  /** Writes `piece[start, end)` to `form`: query escapes as raw bytes or as escapes, a `%` of any kind as `percent`. */
  #writeVariant(piece: Uint8Array, start: number, end: number, raw: boolean, percent: number): void {
    const form = this.#form;
    form.length = 0;
    for (let at = start; at < end; at++) {
      const byte = piece[at]!;
      if (byte < QUERY_ESCAPE) form.push(byte);
      else if (byte === ANY_PERCENT) form.push(percent);
      else if (raw) form.push(queryByteOf(byte));
      else form.pushEscape(queryByteOf(byte));
    }
  }

  #queryStart(): number {
    if (this.#query < 0) this.#query = indexOrEnd(this.#target, QUESTION, this.#start, this.#targetEnd);
    return this.#query;
  }
}

/** The index of the first such byte in `bytes[start, end)`; `end` if there is none. */
function indexOrEnd(bytes: Uint8Array, byte: number, start: number, end: number): number {
  while (start < end && bytes[start] !== byte) start++;
  return start;
}

const isPercent = (byte: number): boolean => byte === PERCENT || byte === LITERAL_PERCENT;
