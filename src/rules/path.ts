import type { DialectTraits } from './dialect.ts';
import {
  DOLLAR,
  ENCODED,
  HEX,
  LOWER,
  PERCENT,
  QUESTION,
  SLASH,
  STAR,
  UNRESERVED,
  URI_CLASS,
} from './octets.ts';

/*
 * Patterns and targets are compared in a normal form, octet by octet:
 *
 * - rfc9309: ASCII. Unreserved octets are raw; reserved ones stay as they came, raw or as an upper-case escape;
 *   everything else is an escape. A literal `*` or `$`, raw or escaped, is a control character, for the bare
 *   octets are the wildcard and the anchor of a pattern. In a query `: / ? @` are raw.
 * - google: the target as it is; in patterns octets above 0x7F are escapes, and hex digits upper case.
 * - the dialects of the 1990s: every escape is decoded but that of `/`, which is `%/`; `%` itself is `%` and 1.
 *
 * Most patterns are their own normal form, and are compared where they stand in the file.
 */

/** RFC 3986's `: / ? @`, equal to their escapes in a query. */
const FOLDABLE = [0x3a, SLASH, QUESTION, 0x40];

/**
 * Stands for the escapes of `: / ? @` behind a `*` of a pattern, where only the target can tell whether they
 * are in its query: 0x80 and the index in {@link FOLDABLE}. A normal form has no other octet above 0x7F.
 */
export const FOLDING_ESCAPE = 0x80;
/** The raw octet it stands for. */
export const foldedOctet: (symbol: number) => number = (symbol) => FOLDABLE[symbol - FOLDING_ESCAPE]!;

/** A literal `*` and `$` in the rfc9309 normal form, where control characters are escapes otherwise. */
const LITERAL_STAR = 1;
const LITERAL_DOLLAR = 2;

/** Which octets occur, hashed to 32 bits: a pattern with an octet that the target lacks cannot match. */
const OCCURRENCE: Int32Array = new Int32Array(256).map(
  (_, octet) => 1 << (Math.imul(LOWER[octet]!, 0x9e3779b1) >>> 27),
);

/** 1 where an ASCII character of a target is its own normal form. */
const PLAIN: Readonly<Record<DialectTraits['escapes'], Uint8Array>> = {
  rfc9309: new Uint8Array(128).map((_, octet) =>
    URI_CLASS[octet] === ENCODED || octet === STAR || octet === DOLLAR ? 0 : 1,
  ),
  google: new Uint8Array(128).fill(1),
  decoded: new Uint8Array(128).map((_, octet) => (octet === PERCENT ? 0 : 1)),
};

/** What an octet of a pattern means for its shape. */
const SHAPE_PLAIN = 0;
const SHAPE_STAR = 1;
/** The pattern is not its own normal form. */
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

const NO_QUERY = 0x7fff_ffff;

/** A normal form. Reused from call to call: it grows as needed. */
export class Symbols {
  octets: Uint8Array = new Uint8Array(1024);
  length = 0;
  /** Index of the first raw `?` of a target; past every index when there is none. */
  query: number = NO_QUERY;
  /** Occurrence bits of all octets. */
  occurrence = 0;

  push(octet: number): void {
    if (this.length === this.octets.length) this.reserve(this.length + 1);
    this.octets[this.length++] = octet;
    this.occurrence |= OCCURRENCE[octet]!;
  }

  pushEscape(octet: number): void {
    this.push(PERCENT);
    this.push(hexDigit(octet >> 4));
    this.push(hexDigit(octet & 15));
  }

  reserve(length: number): void {
    if (length <= this.octets.length) return;
    const grown = new Uint8Array(Math.max(length, this.octets.length * 2));
    grown.set(this.octets.subarray(0, this.length));
    this.octets = grown;
  }
}

const hexDigit = (digit: number): number => (digit < 10 ? 0x30 : 0x37) + digit;

/** A target that is its own normal form. */
export function readSimpleTarget(text: string, start: number, end: number, into: Symbols): void {
  into.reserve(end - start);
  const octets = into.octets;
  let occurrence = 0;
  let query = NO_QUERY;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    octets[at - start] = unit;
    occurrence |= OCCURRENCE[unit]!;
    if (unit === QUESTION && query === NO_QUERY) query = at - start;
  }
  into.length = end - start;
  into.occurrence = occurrence;
  into.query = query;
}

/**
 * Target → normal form. RFC 9309 §2.2.2: octets "outside the range of the ASCII coded character set, and those
 * in the reserved range defined by RFC3986, MUST be percent-encoded … prior to comparison. If a percent-encoded
 * ASCII octet is encountered in the URI, it MUST be unencoded prior to comparison, unless it is a reserved
 * character".
 *
 * NOTE(rfc9309): encoding every reserved octet would encode "/" and "?" too, which no table of the RFC does.
 * Its table does it for `:` and `/` in a query; there the two forms are taken as equal.
 */
export function readTarget(
  text: string,
  start: number,
  end: number,
  traits: DialectTraits,
  into: Symbols,
): void {
  into.reserve(end - start);
  const octets = into.octets;
  const plain = PLAIN[traits.escapes];
  let length = 0;
  let occurrence = 0;
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
    octets[length++] = unit;
    occurrence |= OCCURRENCE[unit]!;
  }
  into.length = length;
  into.occurrence = occurrence;
  into.query = query;
  if (at < end) readRest(text, at, end, traits, into);
}

/** What `readTarget` does from the first character that is not its own normal form. */
function readRest(text: string, at: number, end: number, traits: DialectTraits, into: Symbols): void {
  const google = traits.escapes === 'google';
  for (; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) {
      const point = text.codePointAt(at)!;
      if (point > 0xffff) at++;
      pushUtf8(into, point >= 0xd800 && point <= 0xdfff ? 0xfffd : point, traits);
    } else if (google) into.push(unit);
    else if (unit === PERCENT) {
      const octet = escapeAt(text, at, end);
      if (octet >= 0) at += 2;
      pushEscaped(into, octet, traits, into.query !== NO_QUERY);
    } else {
      if (unit === QUESTION && into.query === NO_QUERY) {
        if (!traits.targetHasQuery) return;
        into.query = into.length;
      }
      pushRaw(into, unit, traits);
    }
  }
}

function pushUtf8(into: Symbols, point: number, traits: DialectTraits): void {
  const lead = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const push = (octet: number): void => {
    if (traits.escapes === 'rfc9309') into.pushEscape(octet);
    else into.push(octet);
  };
  push([0, 0xc0, 0xe0, 0xf0][lead]! | (point >> (6 * lead)));
  for (let rest = lead - 1; rest >= 0; rest--) push(0x80 | ((point >> (6 * rest)) & 0x3f));
}

function escapeAt(text: string, at: number, end: number): number {
  if (at + 2 >= end) return -1;
  const high = text.charCodeAt(at + 1);
  const low = text.charCodeAt(at + 2);
  return high > 0x7f || low > 0x7f ? -1 : octetOf(HEX[high]!, HEX[low]!);
}

function patternEscape(bytes: Uint8Array, at: number, end: number): number {
  return at + 2 >= end ? -1 : octetOf(HEX[bytes[at + 1]!]!, HEX[bytes[at + 2]!]!);
}

/** Two digits, or what {@link HEX} gives for others → an octet, or -1. */
const octetOf = (high: number, low: number): number => (high > 15 || low > 15 ? -1 : (high << 4) | low);

/** A raw octet other than `%`. */
function pushRaw(into: Symbols, octet: number, traits: DialectTraits): void {
  if (traits.escapes !== 'rfc9309') into.push(octet);
  else if (octet === STAR || octet === DOLLAR) pushLiteral(into, octet);
  else if (URI_CLASS[octet] === ENCODED) into.pushEscape(octet);
  else into.push(octet);
}

/** "%2A" and "%24" match a literal "*" and "$" (RFC 9309 §2.2.3): raw and escaped they are the same. */
function pushLiteral(into: Symbols, octet: number): void {
  into.push(octet === STAR ? LITERAL_STAR : LITERAL_DOLLAR);
}

/** An escape of `octet`, or a stray `%` when it is negative. */
function pushEscaped(into: Symbols, octet: number, traits: DialectTraits, inQuery: boolean): void {
  if (traits.escapes === 'decoded') {
    // Koster 1996: "If a %xx encoded octet is encountered it is unencoded prior to comparison, unless it is
    // the "/" character". A decoded "%" equals a stray one.
    if (octet >= 0 && octet !== SLASH && octet !== PERCENT) into.push(octet);
    else {
      into.push(PERCENT);
      into.push(octet === SLASH ? SLASH : 1);
    }
  } else if (octet < 0) into.push(PERCENT);
  else if (octet === STAR || octet === DOLLAR) pushLiteral(into, octet);
  else if (URI_CLASS[octet] === UNRESERVED || (inQuery && FOLDABLE.includes(octet))) into.push(octet);
  else into.pushEscape(octet);
}

/** What {@link readPattern} learnt of a pattern. Reused from call to call. */
export class PatternFacts {
  /** The pattern as written is its normal form. */
  inPlace = true;
  /** Octets in normal form, `*` and `$` counting one each: the more, the more specific. */
  priority = 0;
  anchored = false;
  /** A `*` that matters: followed by something other than `*` and the anchor. */
  wild = false;
  /** Octets before the first `*`. */
  literalLength = 0;
  /** Holds a {@link FOLDING_ESCAPE}. */
  folds = false;
  occurrence = 0;
}

/**
 * Pattern → facts and, when it is not its own normal form, that appended to `into` (wildcards as `*`, the
 * anchor left out).
 */
export function readPattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  traits: DialectTraits,
  facts: PatternFacts,
  into: Symbols,
): void {
  facts.folds = false;
  facts.priority = end - start;
  facts.anchored = traits.wildcards && end > start && bytes[end - 1] === DOLLAR;
  const last = facts.anchored ? end - 1 : end;
  const firstStar = firstStarOf(bytes, start, last, SHAPE[traits.escapes]);
  facts.inPlace = firstStar >= 0;
  if (facts.inPlace) {
    readShape(bytes, start, last, traits.wildcards ? firstStar : last, facts);
    return;
  }
  const from = into.length;
  if (traits.escapes === 'google') googlePattern(bytes, start, last, facts, into);
  else pattern(bytes, start, last, traits, facts, into);
  const star = traits.wildcards ? into.octets.subarray(from, into.length).indexOf(STAR) : -1;
  readShape(into.octets, from, into.length, star < 0 ? into.length : from + star, facts);
}

/** Where the first `*` of a pattern stands, `end` if nowhere, -1 if the pattern is not its own normal form. */
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

function readShape(
  octets: Uint8Array,
  start: number,
  end: number,
  firstStar: number,
  facts: PatternFacts,
): void {
  facts.literalLength = firstStar - start;
  facts.wild = false;
  facts.occurrence = 0;
  if (firstStar === end) return;
  // `/fish*` and `/fish*$` match what `/fish` matches: only their length differs.
  let tail = end;
  while (octets[tail - 1] === STAR && tail > start) tail--;
  if (tail < end) facts.anchored = false;
  facts.wild = firstStar < tail;
  if (!facts.wild) return;
  for (let at = start; at < tail; at++) {
    const octet = octets[at]!;
    if (octet !== STAR && !(facts.folds && octet >= FOLDING_ESCAPE)) facts.occurrence |= OCCURRENCE[octet]!;
  }
}

/** google/robotstxt: "%aa" becomes "%AA", octets above 0x7F are encoded, nothing else changes. */
function googlePattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  facts: PatternFacts,
  into: Symbols,
): void {
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    const escaped = octet === PERCENT ? patternEscape(bytes, at, end) : -1;
    if (octet > 0x7f) {
      into.pushEscape(octet);
      facts.priority += 2;
    } else if (escaped >= 0) {
      into.pushEscape(escaped);
      at += 2;
    } else into.push(octet);
  }
}

function pattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  traits: DialectTraits,
  facts: PatternFacts,
  into: Symbols,
): void {
  let wildcardSeen = false;
  let querySeen = false;
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    if (octet === PERCENT) {
      const escaped = patternEscape(bytes, at, end);
      const foldable = FOLDABLE.indexOf(escaped);
      if (escaped >= 0) at += 2;
      if (escaped >= 0 && URI_CLASS[escaped] === UNRESERVED) facts.priority -= 2;
      if (wildcardSeen && foldable >= 0) {
        facts.folds = true;
        into.push(FOLDING_ESCAPE + foldable);
        // Before the first `*` a raw `?` can only match the target's first one: what follows is its query.
      } else pushEscaped(into, escaped, traits, querySeen);
    } else if (octet === STAR && traits.wildcards) {
      wildcardSeen = true;
      into.push(STAR);
    } else {
      if (octet === QUESTION && !wildcardSeen) querySeen = true;
      if (URI_CLASS[octet] === ENCODED) facts.priority += 2;
      pushRaw(into, octet, traits);
    }
  }
}
