import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, ENCODED, HEX, PERCENT, QUESTION, SLASH, STAR, UNRESERVED, URI_CLASS } from '../octets.ts';

/*
 * Patterns and targets are compared in a normal form, octet by octet:
 *
 * - rfc9309: ASCII. Unreserved octets are raw; reserved ones stay as they came, raw or as an upper-case escape;
 *   everything else is an escape. A literal `*` or `$`, raw or escaped, is a control character, for the bare

 * - google: the target as it is; in patterns octets above 0x7F are escapes, and hex digits upper case.
 * - the dialects of the 1990s: every escape is decoded but that of `/`, which is `%/`; `%` itself is `%` and 1.
 *
 * Most patterns are their own normal form, and are compared where they stand in the file.
 */

/**
 * Equal to their escapes in a query: RFC 3986 §3.4 allows `: / ? @` there, and URL parsers write `'` as `%27`.
 */
export const FOLDABLE: readonly number[] = [0x3a, SLASH, QUESTION, 0x40, 0x27];

/**
 * Stands for the escapes of `: / ? @ '` behind a `*` of a pattern, where only the target can tell whether they
 * are in its query: 0x80 and the index in {@link FOLDABLE}. A normal form has no other octet above 0x7F.
 */
export const FOLDING_ESCAPE = 0x80;
/** The raw octet it stands for. */
export const foldedOctet: (symbol: number) => number = (symbol) => FOLDABLE[symbol - FOLDING_ESCAPE]!;

/** A literal `*` and `$` in the rfc9309 normal form, where control characters are escapes otherwise. */
const LITERAL_STAR = 1;
const LITERAL_DOLLAR = 2;
/** In a target: a `%` that starts no escape, though two digits follow once what is behind it is decoded. */
export const LITERAL_PERCENT = 3;

/** 1 where an ASCII character of a target is its own normal form. */
export const PLAIN: Readonly<Record<DialectTraits['escapes'], Uint8Array>> = {
  rfc9309: new Uint8Array(128).map((_, octet) =>
    URI_CLASS[octet] === ENCODED || octet === STAR || octet === DOLLAR ? 0 : 1,
  ),
  google: new Uint8Array(128).fill(1),
  decoded: new Uint8Array(128).map((_, octet) => (octet === PERCENT ? 0 : 1)),
};

export const NO_QUERY = 0x7fff_ffff;

export const NO_STRAY = -9;

/** A normal form. Reused from call to call: it grows as needed. */
export class NormalForm {
  octets: Uint8Array = new Uint8Array(1024);
  length = 0;
  /** Index of the first raw `?` of a target; past every index when there is none. */
  query: number = NO_QUERY;
  /** The byte mask of all octets. */
  byteMask = 0;
  /** Index of the last `%` that starts no escape. */
  stray: number = NO_STRAY;
  /** What stands for a `%` that starts no escape. */
  strayOctet: number = PERCENT;

  push(octet: number): void {
    if (this.length === this.octets.length) this.reserve(this.length + 1);
    this.octets[this.length++] = octet;
    this.byteMask |= BYTE_MASK[octet]!;
  }

  pushEscape(octet: number): void {
    this.push(PERCENT);
    this.push(hexDigit(octet >> 4));
    this.push(hexDigit(octet & 15));
  }

  /**
   * An octet that is its own normal form. Escapes are read once, left to right: `%%433` is `%`, `C` and `3`, not
   * the escape of 0xC3. A stray `%` before two octets that look like the digits of an escape is told from one.
   */
  pushPlain(octet: number): void {
    const { length, octets, stray } = this;
    if (length === stray + 2 && octetOf(HEX[octets[stray + 1]!]!, HEX[octet]!) >= 0) {
      octets[stray] = LITERAL_PERCENT;
      this.byteMask |= BYTE_MASK[LITERAL_PERCENT]!;
    }
    this.push(octet);
  }

  reserve(length: number): void {
    if (length <= this.octets.length) return;
    const grown = new Uint8Array(Math.max(length, this.octets.length * 2));
    grown.set(this.octets.subarray(0, this.length));
    this.octets = grown;
  }
}

const hexDigit = (digit: number): number => (digit < 10 ? 0x30 : 0x37) + digit;

/** Two digits, or what {@link HEX} gives for others → an octet, or -1. */
const octetOf: (high: number, low: number) => number = (high, low) =>
  high > 15 || low > 15 ? -1 : (high << 4) | low;

/** The octet that the escape at `at` stands for; -1 when its `%` starts none. */
export function escapeAt(octets: Uint8Array, at: number, end: number): number {
  return at + 2 >= end ? -1 : octetOf(HEX[octets[at + 1]!]!, HEX[octets[at + 2]!]!);
}

/** A raw octet other than `%`. */
export function pushRaw(into: NormalForm, octet: number, traits: DialectTraits): void {
  if (traits.escapes !== 'rfc9309') into.push(octet);
  else if (octet === STAR || octet === DOLLAR) pushLiteral(into, octet);
  else if (URI_CLASS[octet] === ENCODED) into.pushEscape(octet);
  else into.pushPlain(octet);
}

/** "%2A" and "%24" match a literal "*" and "$" (RFC 9309 §2.2.3): raw and escaped they are the same. */
function pushLiteral(into: NormalForm, octet: number): void {
  into.push(octet === STAR ? LITERAL_STAR : LITERAL_DOLLAR);
}

/** An escape of `octet`, or a stray `%` when it is negative. */
export function pushEscaped(into: NormalForm, octet: number, traits: DialectTraits, inQuery: boolean): void {
  if (traits.escapes === 'decoded') {
    // Koster 1996: "If a %xx encoded octet is encountered it is unencoded prior to comparison, unless it is
    // the "/" character". A decoded "%" equals a stray one.
    if (octet >= 0 && octet !== SLASH && octet !== PERCENT) into.push(octet);
    else {
      into.push(PERCENT);
      into.push(octet === SLASH ? SLASH : 1);
    }
  } else if (octet < 0) {
    into.stray = into.length;
    into.push(into.strayOctet);
  } else if (octet === STAR || octet === DOLLAR) pushLiteral(into, octet);
  else if (URI_CLASS[octet] === UNRESERVED || (inQuery && FOLDABLE.includes(octet))) into.pushPlain(octet);
  else into.pushEscape(octet);
}
