import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, ENCODED, PERCENT, QUESTION, SLASH, STAR, UNRESERVED, URI_CLASS } from '../bytes.ts';
import {
  SAME_IN_QUERY,
  QUERY_ESCAPE,
  NO_BARE_PERCENT,
  ANY_PERCENT,
  escapeAt,
  PLAIN,
  pushEscaped,
  pushRaw,
  NormalForm,
} from './normal-form.ts';

const NOTHING = new Uint8Array(0);

/** The byte is literal and its own normal form. */
const SHAPE_PLAIN = 0;
const SHAPE_STAR = 1;
/** A byte that the normal form writes differently. */
const SHAPE_OTHER = 2;
const SHAPE: Readonly<Record<DialectTraits['escapes'], Uint8Array>> = {
  rfc9309: shapes(PLAIN.rfc9309),
  google: shapes(PLAIN.google),
  decoded: shapes(PLAIN.decoded),
};

function shapes(plain: Uint8Array): Uint8Array {
  return plain.map((isPlain, byte) =>
    byte === STAR ? SHAPE_STAR : isPlain === 1 && byte !== PERCENT ? SHAPE_PLAIN : SHAPE_OTHER,
  );
}

/**
 * A pattern that was read. One instance reads many patterns, so that reading allocates nothing: its fields are valid
 * until the next one is read.
 */
export class Pattern {
  /** The bytes that hold its normal form: those it was read from, if it is its own normal form. */
  bytes: Uint8Array = NOTHING;
  /** Where the normal form starts there. */
  start = 0;
  /** Its length without the anchor; of a pattern that is not wild, without trailing wildcards. */
  length = 0;
  /** The number of bytes in normal form; `*` and `$` count one each. The larger number is more specific. */
  priority = 0;
  anchored = false;
  /**
   * Whether a `*` is followed by something other than `*` and the anchor (trailing wildcards change no match), or the
   * normal form holds an {@link ANY_PERCENT}.
   */
  wild = false;
  /** The number of bytes before the first `*` or {@link ANY_PERCENT}. */
  literalLength = 0;
  /** Whether the normal form holds a {@link QUERY_ESCAPE} or an {@link ANY_PERCENT}. */
  varies = false;
  /** Of a wild pattern: the byte mask of the bytes that every matching target has. */
  byteMask = 0;
  readonly #form = new NormalForm();

  /** Reads the pattern at `fileBytes[start, end)`. */
  read(fileBytes: Uint8Array, start: number, end: number, traits: DialectTraits): void {
    this.varies = false;
    this.priority = end - start;
    this.anchored = traits.wildcards && end > start && fileBytes[end - 1] === DOLLAR;
    const last = this.anchored ? end - 1 : end;
    const firstStar = firstStarOf(fileBytes, start, last, SHAPE[traits.escapes]);
    if (firstStar >= 0) {
      this.bytes = fileBytes;
      this.start = start;
      this.#measure(last, traits.wildcards ? firstStar : last);
      return;
    }
    const form = this.#form;
    form.length = 0;
    form.bareAt = NO_BARE_PERCENT;
    if (traits.escapes === 'google') this.#writeGoogle(fileBytes, start, last);
    else this.#write(fileBytes, start, last, traits);
    const { bytes, length } = form;
    this.bytes = bytes;
    this.start = 0;
    let star = traits.wildcards ? 0 : length;
    while (star < length && bytes[star] !== STAR && bytes[star] !== ANY_PERCENT) star++;
    this.#measure(length, star);
  }

  /** Whether it may match a target: all targets start with a slash. */
  get startsTarget(): boolean {
    return this.literalLength === 0 || this.bytes[this.start] === SLASH;
  }

  /** Sets the fields by the bytes up to `end`. `firstStar`: the first `*` or {@link ANY_PERCENT}; `end` if there is none. */
  #measure(end: number, firstStar: number): void {
    const { bytes, start, varies } = this;
    this.literalLength = this.length = firstStar - start;
    this.wild = false;
    this.byteMask = 0;
    if (firstStar === end) return;
    // `/fish*` and `/fish*$` match what `/fish` matches: only their length differs.
    let tail = end;
    while (bytes[tail - 1] === STAR && tail > start) tail--;
    if (tail < end) this.anchored = false;
    this.wild = firstStar < tail;
    if (!this.wild) return;
    this.length = end - start;
    for (let at = start; at < tail; at++) {
      const byte = bytes[at]!;
      if (byte !== STAR && !(varies && byte >= QUERY_ESCAPE)) this.byteMask |= BYTE_MASK[byte]!;
    }
  }

  /** google/robotstxt: "%aa" becomes "%AA", octets above 0x7F are encoded, nothing else changes. */
  #writeGoogle(fileBytes: Uint8Array, start: number, end: number): void {
    const form = this.#form;
    for (let at = start; at < end; at++) {
      const byte = fileBytes[at]!;
      const escaped = byte === PERCENT ? escapeAt(fileBytes, at, end) : -1;
      if (byte > 0x7f) {
        form.pushEscape(byte);
        this.priority += 2;
      } else if (escaped >= 0) {
        form.pushEscape(escaped);
        at += 2;
      } else form.push(byte);
    }
  }

  /** The normal form of the other dialects, with wildcards as `*`. */
  #write(fileBytes: Uint8Array, start: number, end: number, traits: DialectTraits): void {
    const form = this.#form;
    // No byte becomes more than an escape.
    form.reserve((end - start) * 3);
    const { bytes } = form;
    let wildcardSeen = false;
    let querySeen = false;
    for (let at = start; at < end; at++) {
      const byte = fileBytes[at]!;
      if (SHAPE.rfc9309[byte] === SHAPE_PLAIN && byte !== QUESTION) {
        if (form.length === form.bareAt + 2) form.pushPlain(byte);
        else bytes[form.length++] = byte;
      } else if (byte === PERCENT) {
        const escaped = escapeAt(fileBytes, at, end);
        const same = SAME_IN_QUERY.indexOf(escaped);
        if (escaped >= 0) at += 2;
        if (escaped >= 0 && URI_CLASS[escaped] === UNRESERVED) this.priority -= 2;
        if (wildcardSeen && same >= 0) {
          this.varies = true;
          form.push(QUERY_ESCAPE + same);
          // A raw `?` before the first `*` can only match the first `?` of the target. So the rest is in the query.
        } else pushEscaped(form, escaped, traits, querySeen);
      } else if (byte === STAR && traits.wildcards) {
        wildcardSeen = true;
        if (form.endPiece()) this.varies = true;
        form.push(STAR);
      } else {
        if (byte === QUESTION && !wildcardSeen) querySeen = true;
        if (URI_CLASS[byte] === ENCODED) this.priority += 2;
        pushRaw(form, byte, traits);
      }
    }
    // At the anchor the target ends, so its `%` can only be one that starts no escape.
    if (!this.anchored && form.endPiece()) this.varies = true;
  }
}

/** The index of the first `*` of a pattern; `end` if there is none; -1 if the pattern is not its own normal form. */
function firstStarOf(fileBytes: Uint8Array, start: number, end: number, shape: Uint8Array): number {
  let star = end;
  for (let at = start; at < end; at++) {
    const kind = shape[fileBytes[at]!]!;
    if (kind === SHAPE_PLAIN) continue;
    if (kind === SHAPE_OTHER) return -1;
    if (star === end) star = at;
  }
  return star;
}
