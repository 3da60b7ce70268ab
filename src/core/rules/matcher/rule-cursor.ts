import type { DialectTraits } from '../dialect.ts';
import { LINE_ALLOW, LineCursor } from '../parse-line.ts';
import { BLANK, DOLLAR, PERCENT, UNRESERVED, URI_CLASS, utf8, asCharacters, SLASH } from '../bytes.ts';
import { escapeAt, hexDigit, PLAIN } from '../normal-form/normal-form.ts';
import type { Pattern } from '../normal-form/pattern.ts';

/** A rule in the file. */
export interface WrittenRule {
  readonly allow: boolean;
  /** Offset of its pattern in the file. */
  readonly offset: number;
  /** Length of its pattern as written, in bytes, including the anchor. */
  readonly writtenLength: number;
  /** 1-based. */
  readonly line: number;
}

/** The rank of all rules where the first one decides. It is above those that lines of usual length can have. */
const MAX_RANK = 2 ** 26;

/**
 * Of the rules that match, the one of the greatest rank decides; of equal ones, the first in the file. "The most specific match …
 * is the match that has the most octets", and of equivalent rules "the allow rule SHOULD be used" (RFC 9309 §2.2.2).
 */
export function rankOf(priority: number, allow: boolean, { decides }: DialectTraits): number {
  return decides === 'first' ? MAX_RANK : priority * 2 + (allow ? 1 : 0);
}

const INDEX_HTM = '/index.htm';

/**
 * Calls `use` for each pattern of the rule at `bytes[start, end)` that may match a target, when `pattern` holds it. There
 * is one, or two by google/robotstxt: "'index.htm' and 'index.html' are normalized to '/'", for allow rules.
 */
export function eachPattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  allow: boolean,
  traits: DialectTraits,
  pattern: Pattern,
  use: () => void,
): void {
  pattern.read(bytes, start, end, traits);
  if (pattern.startsTarget) use();
  if (!allow || !traits.indexHtmlAllowsDirectory) return;
  let slash = end - 1;
  while (slash >= start && bytes[slash] !== SLASH) slash--;
  const pageEnd = slash + INDEX_HTM.length;
  if (slash < start || pageEnd > end || asCharacters(bytes.subarray(slash, pageEnd)) !== INDEX_HTM) return;
  // Not `slice`, which is a view of the same memory where the file is a Buffer.
  const directory = new Uint8Array(bytes.subarray(start, slash + 2));
  directory[slash + 1 - start] = DOLLAR;
  pattern.read(directory, 0, directory.length, traits);
  if (pattern.startsTarget) use();
}

/*
 * Kinds of lines by the first, second and fifth byte of their key. They exclude most lines of a file without reading the
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
/** Any but blank lines. */
export const HAS_TEXT = 23;
/** Kinds for which the second and fifth byte do not matter. */
const WITHOUT_KEY: number = MAY_BE_BLANK | OTHER;

const KINDS: Uint8Array = new Uint8Array(256).fill(OTHER);
const SECOND: Uint8Array = new Uint8Array(256).fill(WITHOUT_KEY);
const FIFTH: Uint8Array = SECOND.slice();
// The fifth bytes are those of `user-agent`, `useragent`, `user agent`; of `allow`, `disallow` and its misspellings.
for (const [kind, initials, seconds, fifths] of [
  [MAY_NAME_AGENT, 'uU', 'sS', '- aA'],
  [MAY_BE_RULE, 'aAdD', 'lLiI', 'wWlLaA'],
  [MAY_BE_DELAY, 'cC', 'rR', 'lL'],
] as const) {
  for (const byte of utf8.encode(initials)) KINDS[byte]! |= kind;
  for (const byte of utf8.encode(seconds)) SECOND[byte]! |= kind;
  for (const byte of utf8.encode(fifths)) FIFTH[byte]! |= kind;
}
KINDS[0x0a] = KINDS[0x0d] = MAY_BE_BLANK;

const LF = 0x0a;
const COLON = 0x3a;
const HASH = 0x23;
const CR = 0x0d;

/** 1 for bytes that match only themselves in every dialect, and end neither a pattern nor a line. */
const LITERAL: Uint8Array = PLAIN.rfc9309.map((plain, byte) =>
  byte === HASH || byte === PERCENT ? 0 : plain,
);

/** Walks the lines that may matter to one agent and one target. */
export class RuleCursor extends LineCursor {
  /** The rank of the best rule so far, with a target: `rankOf` in `rule.ts`. -1 when there is none. */
  bestRank = -1;
  /** If given, {@link nextOf} may skip rules that do not decide about `target[0, targetEnd)`. */
  readonly target: Uint8Array | undefined;
  readonly #targetEnd: number;
  #lineStart = 0;
  /** Whether lines and escapes are those of google/robotstxt, for the quick look at lines. */
  readonly #isGoogle: boolean;

  /** @param target A target in normal form. */
  constructor(bytes: Uint8Array, traits: DialectTraits, target?: Uint8Array, targetEnd = 0) {
    super(bytes, traits);
    this.target = target;
    this.#targetEnd = targetEnd;
    this.#isGoogle = traits.escapes === 'google';
  }

  /** The rule in this line. */
  get rule(): WrittenRule {
    const { kind, line, valueStart, valueEnd } = this;
    return { allow: kind === LINE_ALLOW, offset: valueStart, writtenLength: valueEnd - valueStart, line };
  }

  /** Calls `use` for each pattern of the rule in this line, when `pattern` holds it. */
  eachPattern(pattern: Pattern, use: () => void): void {
    const { bytes, valueStart, valueEnd, kind, traits } = this;
    eachPattern(bytes, valueStart, valueEnd, kind === LINE_ALLOW, traits, pattern, use);
  }

  /**
   * Moves to the next line of one of these kinds; false when there is none.
   *
   * @param all Whether to return rules that cannot decide about the target, too.
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
        (all || target === undefined || kind !== MAY_BE_RULE || !this.#cannotBeRule(target, start, at)) &&
        // No key is shorter.
        at + 4 < length &&
        (kind & SECOND[bytes[at + 1]!]! & FIFTH[bytes[at + 4]!]!) !== 0
      ) {
        this.nextStart = this.#lineStart = start;
        return this.next();
      }
      at = bytes[at] === LF ? at + 1 : this.lineEnd(at) + 1;
    }
    return false;
  }

  /** Whether the rule in this line, which {@link nextOf} was to return in any case, may decide about the target. */
  get mayDecide(): boolean {
    const { kind, target, valueStart } = this;
    return (
      target === undefined || !this.#cannotDecide(target, this.#lineStart, valueStart, kind === LINE_ALLOW)
    );
  }

  /**
   * Whether the raw bytes of a line show that it does not match the target, or is no better than the best rule so far. The key
   * at `at` is not compared, so the line may be no rule at all.
   */
  #cannotBeRule(target: Uint8Array, lineStart: number, at: number): boolean {
    const { bytes } = this;
    const isAllow = (bytes[at]! & 0x1f) === 1;
    // The length of the key: a rule with a colon elsewhere is misspelt, or its pattern does not start with a slash.
    at += isAllow ? 5 : 8;
    if (bytes[at] !== COLON) return false;
    do at++;
    while (BLANK[bytes[at]!] === 1);
    return this.#cannotDecide(target, lineStart, at, isAllow);
  }

  /** The same of a pattern that starts at `at`. */
  #cannotDecide(target: Uint8Array, lineStart: number, at: number, isAllow: boolean): boolean {
    const { bytes, bestRank, traits } = this;
    const targetEnd = this.#targetEnd;
    const isGoogle = this.#isGoogle;
    const isEncoded = traits.escapes !== 'decoded';
    const { length } = bytes;
    let priority = 0;
    for (; at < length; at++, priority++) {
      let byte = bytes[at]!;
      if (byte > 0x7f && isEncoded) {
        // Its normal form is an escape.
        if (priority + 2 < targetEnd && isEscape(target, priority, byte)) {
          priority += 2;
          continue;
        }
        return !isGoogle || at - lineStart < traits.maxLineBytes;
      }
      if (LITERAL[byte] === 0) {
        // google/robotstxt decodes no escapes.
        if (byte !== PERCENT || isGoogle) break;
        byte = escapeAt(bytes, at, length);
        if (URI_CLASS[byte] !== UNRESERVED) break;
        at += 2;
      }
      if (priority === targetEnd || byte !== target[priority]) {
        // google/robotstxt drops the end of a long line, and `Allow: /a/index.html` is a rule for `/a/`, too.
        return !isGoogle || (at - lineStart < traits.maxLineBytes && !(isAllow && priority === targetEnd));
      }
    }
    if (bestRank < 0) return false;
    for (let most = priority; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === LF || byte === CR || byte === HASH) break;
      // 3 for bytes that become escapes and for `%`, 1 for others.
      most += URI_CLASS[byte]! | 1;
      // White space at the end of a line is not part of the pattern.
      if (BLANK[byte] === 0) priority = most;
    }
    return priority * 2 + (isAllow ? 1 : 0) <= bestRank;
  }
}

/** Whether a normal form has the escape of a byte at `at`. */
function isEscape(form: Uint8Array, at: number, byte: number): boolean {
  return form[at] === PERCENT && form[at + 1] === hexDigit(byte >> 4) && form[at + 2] === hexDigit(byte & 15);
}
