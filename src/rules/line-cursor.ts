import type { DialectTraits } from './dialect.ts';
import { BLANK, LOWER } from './octets.ts';

/** Kinds of lines. `OTHER` has a key that does not affect decisions. */
export const LINE_BLANK = 0;
export const LINE_COMMENT = 1;
export const LINE_JUNK = 2;
export const LINE_USER_AGENT = 3;
export const LINE_ALLOW = 4;
export const LINE_DISALLOW = 5;
export const LINE_SITEMAP = 6;
export const LINE_OTHER = 7;

const LF = 0x0a;
const CR = 0x0d;
const HASH = 0x23;
const COLON = 0x3a;

const octetsOf = (...names: string[]): Uint8Array[] => names.map((name) => new TextEncoder().encode(name));

const USER_AGENT = octetsOf('user-agent');
const USER_AGENT_LENIENT = octetsOf('user-agent', 'useragent', 'user agent');
const ALLOW = octetsOf('allow');
const DISALLOW = octetsOf('disallow');
const DISALLOW_LENIENT = octetsOf('disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw');
const SITEMAP = octetsOf('sitemap', 'site-map');

/** Octets that end the search for the end of a key or value. */
const STOP_COLON = 1;
const STOPS: Uint8Array = new Uint8Array(256);
STOPS[COLON] = STOP_COLON;
STOPS[LF] = STOPS[CR] = STOPS[HASH] = 2;
const STOPS_AND_NUL: Uint8Array = STOPS.slice();
STOPS_AND_NUL[0] = 2;

/**
 * Walks a file line by line without allocating per line: after each `next()` the fields describe the current line.
 * Lines end at LF, CR or CRLF.
 */
export class LineCursor {
  kind: number = LINE_BLANK;
  /** 1-based. */
  line = 0;
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Whether key and value are two words without a colon between them. */
  missingColon = false;

  readonly bytes: Uint8Array;
  private readonly traits: DialectTraits;
  private nextStart: number;
  private words: Int32Array | undefined;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.bytes = bytes;
    this.traits = traits;
    this.nextStart = byteOrderMarkLength(bytes, traits.partialByteOrderMark);
  }

  /** Moves to the next line; false past the last one. */
  next(): boolean {
    const bytes = this.bytes;
    const length = bytes.length;
    const lineStart = this.nextStart;
    if (lineStart > length) return false;
    this.line++;
    const limit =
      length - lineStart > this.traits.maxLineOctets ? lineStart + this.traits.maxLineOctets : length;

    let at = lineStart;
    while (at < limit && BLANK[bytes[at]!] === 1) at++;
    const keyStart = at;
    // Search for NUL only if the dialect lets it end a line.
    const stops = this.traits.nulEndsLine ? STOPS_AND_NUL : STOPS;
    let stop = 0;
    while (at < limit && (stop = stops[bytes[at]!]!) === 0) at++;
    if (at < limit && stop === STOP_COLON) {
      const colon = at++;
      // Further colons are part of the value.
      while (at < limit && ((stop = stops[bytes[at]!]!) === 0 || stop === STOP_COLON)) at++;
      this.split(keyStart, colon, colon + 1, at);
    } else {
      this.withoutColon(keyStart, at, at < limit && bytes[at] === HASH);
    }
    if (at < length && bytes[at] !== LF) at = this.lineEnd(at);
    this.nextStart = at + 1;
    return true;
  }

  /** The start of the next line; past the end of the file when there is none. */
  get nextLine(): number {
    return this.nextStart;
  }

  /** Makes the line that starts at `offset` the next one. Line numbers are no longer counted. */
  moveTo(offset: number): void {
    this.nextStart = offset;
  }

  /**
   * Moves to the next user-agent line without reading or counting the lines before it. Returns false when there is
   * none.
   */
  nextUserAgent(): boolean {
    const bytes = this.bytes;
    const length = bytes.length;
    for (let at = this.nextStart; at < length;) {
      const lineStart = at;
      while (at < length && BLANK[bytes[at]!] === 1) at++;
      if (at < length && LOWER[bytes[at]!] === 0x75) {
        this.nextStart = lineStart;
        this.next();
        if (this.kind === LINE_USER_AGENT) return true;
        at = this.nextStart;
      } else at = this.lineEnd(at) + 1;
    }
    this.nextStart = length + 1;
    return false;
  }

  /** The end of the line that contains `at`: its LF, a lone CR, or the end of the file. */
  private lineEnd(at: number): number {
    const { bytes } = this;
    const { length } = bytes;
    if (length >= MIN_WORD_SCAN_OCTETS) {
      const words = (this.words ??= wordsOf(bytes));
      const first = -bytes.byteOffset & 3;
      while (((at - first) & 3) !== 0 && at < length && !isLineEnd(bytes[at]!)) at++;
      if (((at - first) & 3) === 0) at = first + (this.wordWithEnd(words, (at - first) >> 2) << 2);
    }
    while (at < length && !isLineEnd(bytes[at]!)) at++;
    // CRLF counts as one line end.
    return bytes[at] === CR && bytes[at + 1] === LF ? at + 1 : at;
  }

  /**
   * The first of `words`, from `word` on, that contains LF or CR. The subtraction sets the high bit of a zero octet.
   */
  private wordWithEnd(words: Int32Array, word: number): number {
    for (; word < words.length; word++) {
      const lineFeeds = words[word]! ^ LINE_FEEDS;
      const returns = words[word]! ^ CARRIAGE_RETURNS;
      const borrows = ((lineFeeds - LOW_BITS) & ~lineFeeds) | ((returns - LOW_BITS) & ~returns);
      if ((borrows & HIGH_BITS) !== 0) break;
    }
    return word;
  }

  private split(keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    const bytes = this.bytes;
    while (keyEnd > keyStart && BLANK[bytes[keyEnd - 1]!] === 1) keyEnd--;
    while (valueStart < valueEnd && BLANK[bytes[valueStart]!] === 1) valueStart++;
    while (valueEnd > valueStart && BLANK[bytes[valueEnd - 1]!] === 1) valueEnd--;
    this.keyStart = keyStart;
    this.keyEnd = keyEnd;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.missingColon = false;
    this.kind = keyEnd === keyStart ? LINE_JUNK : this.classify(keyStart, keyEnd);
  }

  /** "Some people forget the colon": two words are read as key and value. Three or more are not. */
  private withoutColon(start: number, end: number, comment: boolean): void {
    const bytes = this.bytes;
    while (end > start && BLANK[bytes[end - 1]!] === 1) end--;
    this.keyStart = this.keyEnd = this.valueStart = this.valueEnd = start;
    if (start === end) {
      this.kind = comment ? LINE_COMMENT : LINE_BLANK;
      return;
    }
    this.keyEnd = end;
    this.kind = LINE_JUNK;
    if (!this.traits.lenient) return;
    let space = start;
    while (space < end && !this.separates(bytes[space]!)) space++;
    let value = space;
    while (value < end && this.separates(bytes[value]!)) value++;
    if (value === end) return;
    for (let at = value; at < end; at++) if (this.separates(bytes[at]!)) return;
    this.split(start, space, value, end);
    this.missingColon = true;
  }

  /** google/robotstxt separates two words at SP and TAB only, although it also trims VT and FF. */
  private separates(octet: number): boolean {
    return this.traits.keysByPrefix ? octet === 0x20 || octet === 0x09 : BLANK[octet] === 1;
  }

  private classify(start: number, end: number): number {
    const lenient = this.traits.lenient;
    switch (LOWER[this.bytes[start]!]) {
      case 0x75: // u
        return this.isKey(start, end, lenient ? USER_AGENT_LENIENT : USER_AGENT)
          ? LINE_USER_AGENT
          : LINE_OTHER;
      case 0x61: // a
        return this.traits.allowIsAKey && this.isKey(start, end, ALLOW) ? LINE_ALLOW : LINE_OTHER;
      case 0x64: // d
        return this.isKey(start, end, lenient ? DISALLOW_LENIENT : DISALLOW) ? LINE_DISALLOW : LINE_OTHER;
      case 0x73: // s
        return this.isKey(start, end, SITEMAP) ? LINE_SITEMAP : LINE_OTHER;
      default:
        return LINE_OTHER;
    }
  }

  private isKey(start: number, end: number, names: readonly Uint8Array[]): boolean {
    for (const name of names) {
      if (this.traits.keysByPrefix ? end - start < name.length : end - start !== name.length) continue;
      let at = 0;
      while (at < name.length && LOWER[this.bytes[start + at]!] === name[at]) at++;
      if (at === name.length) return true;
    }
    return false;
  }

  /** Whether the key of an `OTHER` line is `name` (lower case). */
  keyIs(name: Uint8Array): boolean {
    if (this.keyEnd - this.keyStart !== name.length) return false;
    for (let at = 0; at < name.length; at++) {
      if (LOWER[this.bytes[this.keyStart + at]!] !== name[at]) return false;
    }
    return true;
  }
}

/** Below this file size the search octet by octet is faster. */
const MIN_WORD_SCAN_OCTETS = 1024;
const LINE_FEEDS = 0x0a0a_0a0a;
const CARRIAGE_RETURNS = 0x0d0d_0d0d;
const LOW_BITS = 0x0101_0101;
const HIGH_BITS: number = 0x8080_8080 | 0;

const isLineEnd = (octet: number): boolean => octet === LF || octet === CR;

/** The octets of a file as 32-bit words, from the first aligned offset. */
function wordsOf({ buffer, byteOffset, length }: Uint8Array): Int32Array {
  const start = (byteOffset + 3) & ~3;
  return new Int32Array(buffer, start, (byteOffset + length - start) >> 2);
}

/** Length of the UTF-8 byte order mark at the start; with `partial`, of any leading part of it. */
function byteOrderMarkLength(bytes: Uint8Array, partial: boolean): number {
  let length = 0;
  while (length < 3 && bytes[length] === [0xef, 0xbb, 0xbf][length]) length++;
  return length === 3 || partial ? length : 0;
}
