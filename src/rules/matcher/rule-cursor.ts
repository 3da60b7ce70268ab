import type { DialectTraits } from '../dialect.ts';
import { LineCursor } from '../line-cursor.ts';
import { BLANK, DOLLAR, ENCODED, STAR, URI_CLASS, utf8 } from '../octets.ts';

/*
 * Kinds of lines by the first, second and fifth octet of their key. They exclude most lines of a file without reading the
 * rest of them.
 */
/** The key may be `User-agent`. */
export const MAY_NAME_AGENT = 1;
/** The key may be `Allow` or `Disallow`, however it is spelt. */
export const MAY_BE_RULE = 2;
/** The key may be `Crawl-delay`. */
export const MAY_BE_DELAY = 4;
/** Nothing but white space. */
export const MAY_BE_BLANK = 8;
const OTHER = 16;
export const ANY_LINE = 31;
/** Kinds for which the second and fifth octet do not count. */
const WITHOUT_KEY: number = MAY_BE_BLANK | OTHER;

const KINDS: Uint8Array = new Uint8Array(256).fill(OTHER);
const SECOND: Uint8Array = new Uint8Array(256).fill(WITHOUT_KEY);
const FIFTH: Uint8Array = SECOND.slice();
// The fifth octets are those of `user-agent`, `useragent`, `user agent`; of `allow`, `disallow` and its misspellings.
for (const [kind, initials, seconds, fifths] of [
  [MAY_NAME_AGENT, 'uU', 'sS', '- aA'],
  [MAY_BE_RULE, 'aAdD', 'lLiI', 'wWlLaA'],
  [MAY_BE_DELAY, 'cC', 'rR', 'lL'],
] as const) {
  for (const octet of utf8.encode(initials)) KINDS[octet]! |= kind;
  for (const octet of utf8.encode(seconds)) SECOND[octet]! |= kind;
  for (const octet of utf8.encode(fifths)) FIFTH[octet]! |= kind;
}
KINDS[0x0a] = KINDS[0x0d] = MAY_BE_BLANK;

const LF = 0x0a;
const COLON = 0x3a;
const HASH = 0x23;
/** The octets that a pattern has before a line is read as a whole; more would be rare. */
const MAX_COMPARED = 256;

/** 1 for octets that match themselves alone in every dialect, and end neither a pattern nor a line. */
const LITERAL: Uint8Array = URI_CLASS.map((kind, octet) =>
  kind === ENCODED || octet === STAR || octet === DOLLAR || octet === HASH ? 0 : 1,
);

/** Walks the lines that may matter to one agent and one target. */
export class RuleCursor extends LineCursor {
  /** Where there is one, {@link nextOf} may leave out rules that cannot fit `target[targetStart, targetEnd)`. */
  readonly target: Uint8Array | undefined;
  private readonly targetStart: number;
  private readonly targetEnd: number;

  /** @param target A target in normal form. */
  constructor(
    bytes: Uint8Array,
    traits: DialectTraits,
    target: Uint8Array | undefined,
    targetStart: number,
    targetEnd: number,
  ) {
    super(bytes, traits);
    this.target = target;
    this.targetStart = targetStart;
    this.targetEnd = targetEnd;
  }

  /**
   * Moves to the next line of one of these kinds; false when there is none.
   *
   * @param all Whether rules that cannot fit the target count as well.
   */
  nextOf(kinds: number, all: boolean): boolean {
    const { bytes } = this;
    const { length } = bytes;
    const { target } = this;
    for (let at = this.nextStart; at < length; this.line++) {
      const start = at;
      while (at < length && BLANK[bytes[at]!] === 1) at++;
      const kind = at < length ? KINDS[bytes[at]!]! & kinds : 0;
      if (
        kind !== 0 &&
        (all || target === undefined || kind !== MAY_BE_RULE || !this.differs(target, at)) &&
        // No key is shorter.
        at + 4 < length &&
        (kind & SECOND[bytes[at + 1]!]! & FIFTH[bytes[at + 4]!]!) !== 0
      ) {
        this.nextStart = start;
        return this.next();
      }
      at = bytes[at] === LF ? at + 1 : this.lineEnd(at) + 1;
    }
    return false;
  }

  /**
   * Whether the line whose key starts at `at` is no rule that fits the target, as far as its first octets tell. Some lines
   * of which this is true are no rules at all, because their key is not compared.
   */
  private differs(target: Uint8Array, at: number): boolean {
    const { bytes, targetEnd } = this;
    const isAllow = (bytes[at]! & 0x1f) === 1;
    // For google/robotstxt `Allow: /a/index.html` is a rule for `/a/`, too.
    if (isAllow && this.traits.indexHtmlAllowsDirectory) return false;
    const end = Math.min(bytes.length, at + MAX_COMPARED);
    // The length of the key: a rule with a colon elsewhere is misspelt, or its pattern does not start with a slash.
    let octet = at + (isAllow ? 5 : 8);
    if (octet >= end || bytes[octet] !== COLON) return false;
    do octet++;
    while (octet < end && BLANK[bytes[octet]!] === 1);
    for (let other = this.targetStart; octet < end && LITERAL[bytes[octet]!] === 1; octet++, other++) {
      if (other === targetEnd || bytes[octet] !== target[other]) return true;
    }
    return false;
  }
}
