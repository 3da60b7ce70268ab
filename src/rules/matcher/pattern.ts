import { BYTE_MASK } from '../../url/index.ts';
import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, ENCODED, PERCENT, QUESTION, STAR, UNRESERVED, URI_CLASS } from '../octets.ts';
import {
  FOLDABLE,
  FOLDING_ESCAPE,
  NO_STRAY,
  OPEN_PERCENT,
  escapeAt,
  PLAIN,
  pushEscaped,
  pushRaw,
  type NormalForm,
} from './normal-form.ts';

/** The octet is literal and its own normal form. */
export const SHAPE_PLAIN = 0;
const SHAPE_STAR = 1;
/** An octet that the normal form writes differently. */
const SHAPE_OTHER = 2;
export const SHAPE: Readonly<Record<DialectTraits['escapes'], Uint8Array>> = {
  rfc9309: shapes((octet) => octet < 0x80 && PLAIN.rfc9309[octet] === 1 && octet !== PERCENT),
  google: shapes((octet) => octet < 0x80 && octet !== PERCENT),
  decoded: shapes((octet) => octet !== PERCENT),
};

function shapes(isPlain: (octet: number) => boolean): Uint8Array {
  return new Uint8Array(256).map((_, octet) =>
    octet === STAR ? SHAPE_STAR : isPlain(octet) ? SHAPE_PLAIN : SHAPE_OTHER,
  );
}

/** The result of {@link readPattern}. Callers reuse it, so that reading a pattern allocates nothing. */
export class PatternFacts {
  /** The pattern as written is its normal form. */
  inPlace = true;
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
  byteMask = 0;
}

/**
 * Reads a pattern into `facts`. When the pattern is not its own normal form, appends the normal form to `into`, with
 * wildcards as `*` and without the anchor.
 */
export function readPattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  traits: DialectTraits,
  facts: PatternFacts,
  into: NormalForm,
): void {
  into.stray = NO_STRAY;
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
  let star = traits.wildcards ? from : into.length;
  while (star < into.length && into.octets[star] !== STAR && into.octets[star] !== OPEN_PERCENT) star++;
  readShape(into.octets, from, into.length, star, facts);
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

function readShape(
  octets: Uint8Array,
  start: number,
  end: number,
  firstStar: number,
  facts: PatternFacts,
): void {
  facts.literalLength = firstStar - start;
  facts.wild = false;
  facts.byteMask = 0;
  if (firstStar === end) return;
  // `/fish*` and `/fish*$` match what `/fish` matches: only their length differs.
  let tail = end;
  while (octets[tail - 1] === STAR && tail > start) tail--;
  if (tail < end) facts.anchored = false;
  facts.wild = firstStar < tail;
  if (!facts.wild) return;
  for (let at = start; at < tail; at++) {
    const octet = octets[at]!;
    if (octet !== STAR && !(facts.folds && octet >= FOLDING_ESCAPE)) facts.byteMask |= BYTE_MASK[octet]!;
  }
}

/** google/robotstxt: "%aa" becomes "%AA", octets above 0x7F are encoded, nothing else changes. */
function googlePattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  facts: PatternFacts,
  into: NormalForm,
): void {
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    const escaped = octet === PERCENT ? escapeAt(bytes, at, end) : -1;
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
  into: NormalForm,
): void {
  let wildcardSeen = false;
  let querySeen = false;
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    if (octet === PERCENT) {
      const escaped = escapeAt(bytes, at, end);
      const foldable = FOLDABLE.indexOf(escaped);
      if (escaped >= 0) at += 2;
      if (escaped >= 0 && URI_CLASS[escaped] === UNRESERVED) facts.priority -= 2;
      if (wildcardSeen && foldable >= 0) {
        facts.folds = true;
        into.push(FOLDING_ESCAPE + foldable);
        // A raw `?` before the first `*` can only match the first `?` of the target. So the rest is in the query.
      } else pushEscaped(into, escaped, traits, querySeen);
    } else if (octet === STAR && traits.wildcards) {
      wildcardSeen = true;
      if (into.endPiece()) facts.folds = true;
      into.push(STAR);
    } else {
      if (octet === QUESTION && !wildcardSeen) querySeen = true;
      if (URI_CLASS[octet] === ENCODED) facts.priority += 2;
      pushRaw(into, octet, traits);
    }
  }
  // Before the anchor the target ends, too: its `%` can only be one that starts no escape.
  if (!facts.anchored && into.endPiece()) facts.folds = true;
}
