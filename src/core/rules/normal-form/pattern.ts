import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, ENCODED, PERCENT, QUESTION, SLASH, STAR, UNRESERVED, URI_CLASS } from '../octets.ts';
import {
  FOLDABLE,
  FOLDING_ESCAPE,
  NO_STRAY,
  OPEN_PERCENT,
  escapeAt,
  PLAIN,
  pushEscaped,
  pushRaw,
  NormalForm,
} from './normal-form.ts';

const NOTHING = new Uint8Array(0);

/** The octet is literal and its own normal form. */
const SHAPE_PLAIN = 0;
const SHAPE_STAR = 1;
/** An octet that the normal form writes differently. */
const SHAPE_OTHER = 2;
const SHAPE: Readonly<Record<DialectTraits['escapes'], Uint8Array>> = {
  rfc9309: shapes((octet) => octet < 0x80 && PLAIN.rfc9309[octet] === 1 && octet !== PERCENT),
  google: shapes((octet) => octet < 0x80 && octet !== PERCENT),
  decoded: shapes((octet) => octet !== PERCENT),
};

function shapes(isPlain: (octet: number) => boolean): Uint8Array {
  return new Uint8Array(256).map((_, octet) =>
    octet === STAR ? SHAPE_STAR : isPlain(octet) ? SHAPE_PLAIN : SHAPE_OTHER,
  );
}

/**
 * A pattern that was read. One instance reads many patterns, so that reading allocates nothing: what its fields say holds
 * until the next one is read.
 */
export class Pattern {
  /** The octets that hold its normal form: those it was read from, if it is its own normal form. */
  octets: Uint8Array = NOTHING;
  /** Where the normal form starts there. */
  start = 0;
  /** Its length without the anchor; of a pattern that is not wild, without trailing wildcards. */
  length = 0;
  /** The number of octets in normal form; `*` and `$` count one each. The larger number is more specific. */
  priority = 0;
  anchored = false;
  /**
   * Whether a `*` is followed by something other than `*` and the anchor (trailing wildcards change no match), or the
   * normal form holds an {@link OPEN_PERCENT}.
   */
  wild = false;
  /** The number of octets before the first `*` or {@link OPEN_PERCENT}. */
  literalLength = 0;
  /** Whether the normal form holds a {@link FOLDING_ESCAPE} or an {@link OPEN_PERCENT}. */
  folds = false;
  /** Of a wild pattern: the byte mask of octets that every target has that it fits. */
  byteMask = 0;
  readonly #form = new NormalForm();

  /** Reads the pattern at `bytes[start, end)`. */
  read(bytes: Uint8Array, start: number, end: number, traits: DialectTraits): void {
    this.folds = false;
    this.priority = end - start;
    this.anchored = traits.wildcards && end > start && bytes[end - 1] === DOLLAR;
    const last = this.anchored ? end - 1 : end;
    const firstStar = firstStarOf(bytes, start, last, SHAPE[traits.escapes]);
    if (firstStar >= 0) {
      this.octets = bytes;
      this.start = start;
      this.#measure(last, traits.wildcards ? firstStar : last);
      return;
    }
    const form = this.#form;
    form.length = 0;
    form.stray = NO_STRAY;
    if (traits.escapes === 'google') this.#writeGoogle(bytes, start, last);
    else this.#write(bytes, start, last, traits);
    const { octets, length } = form;
    this.octets = octets;
    this.start = 0;
    let star = traits.wildcards ? 0 : length;
    while (star < length && octets[star] !== STAR && octets[star] !== OPEN_PERCENT) star++;
    this.#measure(length, star);
  }

  /** Whether it may fit a target: all of them start with a slash. */
  get startsTarget(): boolean {
    return this.literalLength === 0 || this.octets[this.start] === SLASH;
  }

  /** Sets what the octets up to `end` say. `firstStar`: the first `*` or {@link OPEN_PERCENT}; `end` if there is none. */
  #measure(end: number, firstStar: number): void {
    const { octets, start, folds } = this;
    this.literalLength = this.length = firstStar - start;
    this.wild = false;
    this.byteMask = 0;
    if (firstStar === end) return;
    // `/fish*` and `/fish*$` match what `/fish` matches: only their length differs.
    let tail = end;
    while (octets[tail - 1] === STAR && tail > start) tail--;
    if (tail < end) this.anchored = false;
    this.wild = firstStar < tail;
    if (!this.wild) return;
    this.length = end - start;
    for (let at = start; at < tail; at++) {
      const octet = octets[at]!;
      if (octet !== STAR && !(folds && octet >= FOLDING_ESCAPE)) this.byteMask |= BYTE_MASK[octet]!;
    }
  }

  /** google/robotstxt: "%aa" becomes "%AA", octets above 0x7F are encoded, nothing else changes. */
  #writeGoogle(bytes: Uint8Array, start: number, end: number): void {
    const form = this.#form;
    for (let at = start; at < end; at++) {
      const octet = bytes[at]!;
      const escaped = octet === PERCENT ? escapeAt(bytes, at, end) : -1;
      if (octet > 0x7f) {
        form.pushEscape(octet);
        this.priority += 2;
      } else if (escaped >= 0) {
        form.pushEscape(escaped);
        at += 2;
      } else form.push(octet);
    }
  }

  /** The normal form of the other dialects, with wildcards as `*`. */
  #write(bytes: Uint8Array, start: number, end: number, traits: DialectTraits): void {
    const form = this.#form;
    let wildcardSeen = false;
    let querySeen = false;
    for (let at = start; at < end; at++) {
      const octet = bytes[at]!;
      if (octet === PERCENT) {
        const escaped = escapeAt(bytes, at, end);
        const foldable = FOLDABLE.indexOf(escaped);
        if (escaped >= 0) at += 2;
        if (escaped >= 0 && URI_CLASS[escaped] === UNRESERVED) this.priority -= 2;
        if (wildcardSeen && foldable >= 0) {
          this.folds = true;
          form.push(FOLDING_ESCAPE + foldable);
          // A raw `?` before the first `*` can only match the first `?` of the target. So the rest is in the query.
        } else pushEscaped(form, escaped, traits, querySeen);
      } else if (octet === STAR && traits.wildcards) {
        wildcardSeen = true;
        if (form.endPiece()) this.folds = true;
        form.push(STAR);
      } else {
        if (octet === QUESTION && !wildcardSeen) querySeen = true;
        if (URI_CLASS[octet] === ENCODED) this.priority += 2;
        pushRaw(form, octet, traits);
      }
    }
    // Before the anchor the target ends, too: its `%` can only be one that starts no escape.
    if (!this.anchored && form.endPiece()) this.folds = true;
  }
}

/** The index of the first `*` of a pattern; `end` if there is none; -1 if the pattern is not its own normal form. */
function firstStarOf(bytes: Uint8Array, start: number, end: number, shape: Uint8Array): number {
  let star = end;
  for (let at = start; at < end; at++) {
    const kind = shape[bytes[at]!]!;
    if (kind === SHAPE_PLAIN) continue;
    if (kind === SHAPE_OTHER) return -1;
    if (star === end) star = at;
  }
  return star;
}
