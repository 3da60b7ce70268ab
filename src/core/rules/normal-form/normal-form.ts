import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import {
  DOLLAR,
  ENCODED,
  HEX,
  PERCENT,
  QUESTION,
  SLASH,
  STAR,
  table,
  UNRESERVED,
  URI_CLASS,
  utf8,
} from '../bytes.ts';

/*
 * Patterns and targets are compared in a normal form, byte by byte:
 *
 * - rfc9309: ASCII. Unreserved bytes are raw; reserved ones stay as they came, raw or as an upper-case escape;
 *   everything else is an escape. A literal `*` or `$`, raw or escaped, is written as a control character, because a
 *   bare `*` is the wildcard.
 * - google: targets are unchanged; in patterns bytes above 0x7F become escapes, and hex digits become upper case.
 * - the dialects of the 1990s: every escape is decoded, except that `%2F` becomes `%/` and `%` becomes `%` and byte 1.
 *
 * Most patterns are their own normal form. They are compared in place, in the bytes of the file.
 */

/**
 * Bytes that equal their escapes in a query: RFC 3986 §3.4 allows `: / ? @` there, and URL parsers write `'` as
 * `%27`.
 */
export const SAME_IN_QUERY: readonly number[] = [0x3a, SLASH, QUESTION, 0x40, 0x27];

/**
 * Replaces an escape of `: / ? @ '` after a `*` of a pattern: 0x80 plus the index in {@link SAME_IN_QUERY}. Whether such an
 * escape is in the query depends on the target. A normal form has no other byte above 0x7F.
 */
export const QUERY_ESCAPE = 0x80;
/**
 * A `%` of a pattern that starts no escape, at the end of the pattern or before a `*`, with at most one hex digit after
 * it. What follows does not show which `%` of a target it is. So it matches each: the `%` of an escape, one that starts
 * none, and {@link LITERAL_PERCENT}.
 */
export const ANY_PERCENT: number = QUERY_ESCAPE + SAME_IN_QUERY.length;
/** The raw byte that a {@link QUERY_ESCAPE} represents. */
export const queryByteOf: (symbol: number) => number = (symbol) => SAME_IN_QUERY[symbol - QUERY_ESCAPE]!;

/** A literal `*` and `$` in the rfc9309 normal form. Control characters are escapes there, so these are unambiguous. */
const LITERAL_STAR = 1;
const LITERAL_DOLLAR = 2;
/** A `%` that starts no escape, but has two hex digits after it once the following escapes are decoded. */
export const LITERAL_PERCENT = 3;

/** 1 where a byte is its own normal form. */
export const PLAIN: Readonly<Record<DialectTraits['escapes'], Uint8Array>> = {
  rfc9309: table((byte) => Number(URI_CLASS[byte] !== ENCODED && byte !== STAR && byte !== DOLLAR)),
  google: table((byte) => Number(byte < 0x80)),
  decoded: table((byte) => Number(byte !== PERCENT)),
};

const NO_QUERY = 0x7fff_ffff;

export const NO_BARE_PERCENT = -9;

const NO_BYTES = new Uint8Array(0);
const LEAST_BYTES = 256;

/** A growing buffer for normal forms. Callers reuse it, so that reading a target allocates nothing. */
export class NormalForm {
  bytes: Uint8Array = NO_BYTES;
  length = 0;
  /** Index of the first raw `?` of a target; past every index when there is none. */
  query: number = NO_QUERY;
  /** The byte mask of a target. */
  byteMask = 0;
  /** Index of the last `%` that starts no escape. */
  bareAt: number = NO_BARE_PERCENT;

  push(byte: number): void {
    this.reserve(this.length + 1);
    this.bytes[this.length++] = byte;
    this.byteMask |= BYTE_MASK[byte]!;
  }

  pushEscape(byte: number): void {
    this.push(PERCENT);
    this.push(hexDigit(byte >> 4));
    this.push(hexDigit(byte & 15));
  }

  /**
   * Appends a byte that is its own normal form. Escapes are decoded once, left to right: `%%433` is `%`, `C` and `3`,
   * not the escape of 0xC3. So a bare `%` that is now followed by two hex digits becomes {@link LITERAL_PERCENT}.
   */
  pushPlain(byte: number): void {
    const { length, bytes, bareAt } = this;
    if (length === bareAt + 2 && byteOf(HEX[bytes[bareAt + 1]!]!, HEX[byte]!) >= 0) {
      bytes[bareAt] = LITERAL_PERCENT;
      this.byteMask |= BYTE_MASK[LITERAL_PERCENT]!;
    }
    this.push(byte);
  }

  /**
   * Marks the end of a piece of a pattern: a last `%` that starts no escape becomes {@link ANY_PERCENT} if nothing but
   * one hex digit follows it. Returns whether it does.
   */
  endPiece(): boolean {
    const { length, bytes, bareAt } = this;
    const open = length === bareAt + 1 || (length === bareAt + 2 && HEX[bytes[bareAt + 1]!]! < 16);
    if (open) bytes[bareAt] = ANY_PERCENT;
    return open;
  }

  reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(length, this.bytes.length * 2, LEAST_BYTES));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

/** In upper case. */
export const hexDigit = (digit: number): number => (digit < 10 ? 0x30 : 0x37) + digit;

/** The byte of two digits as {@link HEX} gives them; -1 when one of them is no hex digit. */
const byteOf: (high: number, low: number) => number = (high, low) =>
  high > 15 || low > 15 ? -1 : (high << 4) | low;

/** The byte that the escape at `at` encodes; -1 when the `%` there starts no escape. */
export function escapeAt(bytes: Uint8Array, at: number, end: number): number {
  return at + 2 >= end ? -1 : byteOf(HEX[bytes[at + 1]!]!, HEX[bytes[at + 2]!]!);
}

/** Appends a raw byte other than `%`. */
export function pushRaw(into: NormalForm, byte: number, traits: DialectTraits): void {
  if (traits.escapes !== 'rfc9309') into.push(byte);
  else if (byte === STAR || byte === DOLLAR) pushLiteral(into, byte);
  else if (URI_CLASS[byte] === ENCODED) into.pushEscape(byte);
  else into.pushPlain(byte);
}

/** "%2A" and "%24" match a literal "*" and "$" (RFC 9309 §2.2.3): raw and escaped they are the same. */
function pushLiteral(into: NormalForm, byte: number): void {
  into.push(byte === STAR ? LITERAL_STAR : LITERAL_DOLLAR);
}

/** Appends an escape of `byte`, or a bare `%` when `byte` is negative. */
export function pushEscaped(into: NormalForm, byte: number, traits: DialectTraits, inQuery: boolean): void {
  if (traits.escapes === 'decoded') {
    // Koster 1996: "If a %xx encoded octet is encountered it is unencoded prior to comparison, unless it is
    // the "/" character". A decoded "%" equals a bare one.
    if (byte >= 0 && byte !== SLASH && byte !== PERCENT) into.push(byte);
    else {
      into.push(PERCENT);
      into.push(byte === SLASH ? SLASH : 1);
    }
  } else if (byte < 0) {
    into.bareAt = into.length;
    into.push(PERCENT);
  } else if (byte === STAR || byte === DOLLAR) pushLiteral(into, byte);
  else if (URI_CLASS[byte] === UNRESERVED || (inQuery && SAME_IN_QUERY.includes(byte))) into.pushPlain(byte);
  else into.pushEscape(byte);
}

/** All targets are read into this one buffer. That is safe, because matching is synchronous. */
const forms = new NormalForm();

/**
 * Converts a target to its normal form. RFC 9309 §2.2.2: octets "outside the range of the ASCII coded character set,
 * and those in the reserved range defined by RFC3986, MUST be percent-encoded … prior to comparison. If a
 * percent-encoded ASCII byte is encountered in the URI, it MUST be unencoded prior to comparison, unless it is a
 * reserved character".
 *
 * The result is valid until the next target is read.
 *
 * NOTE(rfc9309): encoding every reserved octet would encode "/" and "?" too, which no table of the RFC does. Its table
 * encodes `:` and `/` in a query, so raw and encoded forms are equal there.
 */
export function readTarget(text: string, start: number, end: number, traits: DialectTraits): NormalForm {
  const into = forms;
  into.reserve(end - start);
  const bytes = into.bytes;
  const plain = PLAIN[traits.escapes];
  let length = 0;
  let byteMask = 0;
  let query = NO_QUERY;
  let at = start;
  for (; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f || plain[unit] === 0) break;
    if (unit === QUESTION && query === NO_QUERY) {
      if (!traits.targetHasQuery) {
        end = at;
        break;
      }
      query = length;
    }
    bytes[length++] = unit;
    byteMask |= BYTE_MASK[unit]!;
  }
  into.length = length;
  into.byteMask = byteMask;
  into.query = query;
  into.bareAt = NO_BARE_PERCENT;
  if (at < end) readRest(utf8.encode(text.slice(at, end)), traits, into);
  return into;
}

/** Continues `readTarget` from the first character that is not its own normal form. */
function readRest(rest: Uint8Array, traits: DialectTraits, into: NormalForm): void {
  for (let at = 0; at < rest.length; at++) {
    const byte = rest[at]!;
    if (traits.escapes === 'google') into.push(byte);
    else if (byte === PERCENT) {
      const escaped = escapeAt(rest, at, rest.length);
      if (escaped >= 0) at += 2;
      pushEscaped(into, escaped, traits, into.query !== NO_QUERY);
    } else {
      if (byte === QUESTION && into.query === NO_QUERY) {
        if (!traits.targetHasQuery) return;
        into.query = into.length;
      }
      pushRaw(into, byte, traits);
    }
  }
}
