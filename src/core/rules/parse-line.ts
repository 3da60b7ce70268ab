import type { DialectTraits } from './dialect.ts';
import { BLANK, CONTROL, equalsAt, LOWER, utf8 } from './bytes.ts';

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

const bytesOf = (...names: string[]): Uint8Array[] => names.map((name) => utf8.encode(name));

/* The spelling of the standards first; lenient dialects accept the others, too. */
const USER_AGENT = bytesOf('user-agent', 'useragent', 'user agent');
const ALLOW = bytesOf('allow');
const DISALLOW = bytesOf('disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw');
const SITEMAP = bytesOf('sitemap', 'site-map');

/** Bytes that end the search for the end of a key or value. */
const STOP_COLON = 1;
const STOP_END = 2;
const STOPS: Uint8Array = new Uint8Array(256);
STOPS[COLON] = STOP_COLON;
STOPS[LF] = STOPS[CR] = STOPS[HASH] = STOP_END;
const STOPS_AND_NUL: Uint8Array = STOPS.slice();
STOPS_AND_NUL[0] = STOP_END;
/** Bytes that end a value where control bytes do. A colon is part of it. */
const STOP_CONTROL = 3;
const STOPS_AND_CONTROLS: Uint8Array = STOPS.map((stop, byte) =>
  byte === COLON ? 0 : stop === 0 && CONTROL[byte] === 1 ? STOP_CONTROL : stop,
);

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
  protected readonly traits: DialectTraits;
  /** The start of the next line; past the end of the file when there is none. */
  nextStart: number;
  readonly #words: DataView;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.bytes = bytes;
    this.traits = traits;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
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
      length - lineStart > this.traits.maxLineBytes ? lineStart + this.traits.maxLineBytes : length;

    let at = lineStart;
    while (at < limit && BLANK[bytes[at]!] === 1) at++;
    const keyStart = at;
    // Search for NUL only if the dialect lets it end a line.
    const stops = this.traits.nulEndsLine ? STOPS_AND_NUL : STOPS;
    let stop = 0;
    while (at < limit && (stop = stops[bytes[at]!]!) === 0) at++;
    if (at < limit && stop === STOP_COLON) {
      const colon = at++;
      if (this.traits.controlEndsValue) {
        while (at < limit && BLANK[bytes[at]!] === 1) at++;
        stop = 0;
        while (at < limit && (stop = STOPS_AND_CONTROLS[bytes[at]!]!) === 0) at++;
      } else {
        // Further colons are part of the value.
        while (at < limit && ((stop = stops[bytes[at]!]!) === 0 || stop === STOP_COLON)) at++;
      }
      this.#split(keyStart, colon, colon + 1, at);
      if (stop === STOP_CONTROL && this.kind === LINE_ALLOW) {
        // Without the rest of its path the rule would allow more. At the end of a line VT and FF are white space.
        while (BLANK[bytes[at]!] === 1) at++;
        if (STOPS[bytes[at] ?? LF] !== STOP_END) this.valueEnd = this.valueStart;
      }
    } else {
      this.#withoutColon(keyStart, at, at < limit && bytes[at] === HASH);
    }
    if (at < length && bytes[at] !== LF) at = this.lineEnd(at);
    this.nextStart = at + 1;
    return true;
  }

  /**
   * The end of the line that contains `at`: its LF, a lone CR, or the end of the file. Reads four bytes at a time; the
   * subtraction sets the high bit of bytes below 0x0E, and of some bytes after them.
   */
  protected lineEnd(at: number): number {
    const { bytes } = this;
    const words = this.#words;
    const { length } = bytes;
    for (; at <= length - 4; at += 4) {
      const fourBytes = words.getInt32(at, true);
      let low = (fourBytes - LINE_END_LIMITS) & ~fourBytes & HIGH_BITS;
      for (; low !== 0; low &= low - 1) {
        const end = at + ((31 - Math.clz32(low & -low)) >> 3);
        const byte = bytes[end]!;
        if (byte === LF) return end;
        if (byte === CR) return this.#lastOfLineEnd(end);
      }
    }
    for (; at < length; at++) {
      if (bytes[at] === LF) return at;
      if (bytes[at] === CR) return this.#lastOfLineEnd(at);
    }
    return at;
  }

  /** CRLF counts as one line end. */
  #lastOfLineEnd(at: number): number {
    return at + 1 < this.bytes.length && this.bytes[at + 1] === LF ? at + 1 : at;
  }

  #split(keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    const bytes = this.bytes;
    while (keyEnd > keyStart && BLANK[bytes[keyEnd - 1]!] === 1) keyEnd--;
    while (valueStart < valueEnd && BLANK[bytes[valueStart]!] === 1) valueStart++;
    while (valueEnd > valueStart && BLANK[bytes[valueEnd - 1]!] === 1) valueEnd--;
    this.keyStart = keyStart;
    this.keyEnd = keyEnd;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.missingColon = false;
    this.kind = keyEnd === keyStart ? LINE_JUNK : this.#classify(keyStart, keyEnd);
  }

  /** "Some people forget the colon": two words are read as key and value. Three or more are not. */
  #withoutColon(start: number, end: number, comment: boolean): void {
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
    while (space < end && !this.#separates(bytes[space]!)) space++;
    let value = space;
    while (value < end && this.#separates(bytes[value]!)) value++;
    if (value === end) return;
    let valueEnd = end;
    for (let at = end - 1; at >= value; at--) {
      if (this.#separates(bytes[at]!)) return;
      if (this.traits.controlEndsValue && CONTROL[bytes[at]!] === 1) valueEnd = at;
    }
    this.#split(start, space, value, valueEnd);
    if (valueEnd < end && this.kind === LINE_ALLOW) this.valueEnd = this.valueStart;
    this.missingColon = true;
  }

  /** google/robotstxt separates two words at SP and TAB only, although it also trims VT and FF. */
  #separates(byte: number): boolean {
    return this.traits.keysByPrefix ? byte === 0x20 || byte === 0x09 : BLANK[byte] === 1;
  }

  #classify(start: number, end: number): number {
    const lenient = this.traits.lenient;
    switch (LOWER[this.bytes[start]!]) {
      case 0x75: // u
        return this.#isKey(start, end, USER_AGENT, lenient) ? LINE_USER_AGENT : LINE_OTHER;
      case 0x61: // a
        return this.traits.allowIsAKey && this.#isKey(start, end, ALLOW, true) ? LINE_ALLOW : LINE_OTHER;
      case 0x64: // d
        return this.#isKey(start, end, DISALLOW, lenient) ? LINE_DISALLOW : LINE_OTHER;
      case 0x73: // s
        return this.#isKey(start, end, SITEMAP, true) ? LINE_SITEMAP : LINE_OTHER;
      default:
        return LINE_OTHER;
    }
  }

  /** Whether the key is one of these names, or the first of them unless `all` count. */
  #isKey(start: number, end: number, names: readonly Uint8Array[], all: boolean): boolean {
    for (const name of names) {
      const { length } = name;
      if (
        (this.traits.keysByPrefix ? end - start >= length : end - start === length) &&
        equalsAt(this.bytes, start, name, 0, length)
      ) {
        return true;
      }
      if (!all) break;
    }
    return false;
  }

  /** Whether the key of an `OTHER` line is `name` (lower case). */
  keyIs(name: Uint8Array): boolean {
    const { length } = name;
    return this.keyEnd - this.keyStart === length && equalsAt(this.bytes, this.keyStart, name, 0, length);
  }
}

const LINE_END_LIMITS = 0x0e0e_0e0e;
const HIGH_BITS: number = 0x8080_8080 | 0;

/** Length of the UTF-8 byte order mark at the start; with `partial`, of any leading part of it. */
function byteOrderMarkLength(bytes: Uint8Array, partial: boolean): number {
  let length = 0;
  while (length < 3 && bytes[length] === [0xef, 0xbb, 0xbf][length]) length++;
  return length === 3 || partial ? length : 0;
}

/**
 * Tracks the group and the block that a line belongs to.
 *
 * Allow and disallow lines belong to groups, as in RFC 9309: only a rule ends a run of user-agent lines. All other
 * records except `Sitemap` belong to blocks: each applies to the user-agent lines directly above it, and a user-agent
 * line after one of them starts a new block. So in `User-agent: a`, `Crawl-delay: 5`, `User-agent: b`, `Disallow: /`
 * both agents have the rule, but only `a` has the delay.
 *
 * NOTE(rfc9309): the standard does not define such records. With groups, one file in six with `Crawl-delay` would
 * give some agent a delay that was not written for it; draft-ietf-aipref-attach-05 §3 makes `Content-Usage` a rule,
 * which ends a run too.
 */
export class GroupTracker {
  /** Number of the group the line is in, in file order from 0; -1 outside any. */
  group = -1;
  /** Number of the block the line is in, in file order from 0; -1 outside any. */
  block = -1;
  /** Whether the line is a user-agent line that starts a group. */
  startsGroup = false;
  /** Whether the line is a user-agent line that starts a block. */
  startsBlock = false;
  /** Whether a user-agent line on the next line would belong to the same group. */
  acceptsAgents = false;
  /** Whether a user-agent line on the next line would belong to the same block. */
  blockAcceptsAgents = false;
  #groups = 0;
  #blocks = 0;
  readonly #blankLineEndsRecord: boolean;

  constructor(traits: DialectTraits) {
    this.#blankLineEndsRecord = traits.blankLineEndsRecord;
  }

  /** Moves to a line of this kind. */
  enter(kind: number): void {
    const isAgentLine = kind === LINE_USER_AGENT;
    this.startsGroup = isAgentLine && !this.acceptsAgents;
    this.startsBlock = isAgentLine && !this.blockAcceptsAgents;
    if (this.startsGroup) this.group = this.#groups++;
    if (this.startsBlock) this.block = this.#blocks++;
    if (isAgentLine) {
      this.acceptsAgents = this.blockAcceptsAgents = true;
    } else if (kind === LINE_OTHER) {
      // RFC 9309 §2.2.4: parsing of other records "MUST NOT interfere": they end no group.
      this.blockAcceptsAgents = false;
    } else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      this.acceptsAgents = this.blockAcceptsAgents = false;
    } else if (kind === LINE_BLANK && this.#blankLineEndsRecord) {
      // robotstxt.org: "you may not have blank lines in a record, as they are used to delimit multiple records".
      this.acceptsAgents = this.blockAcceptsAgents = false;
      this.group = this.block = -1;
    }
  }
}

/** Walks all lines of a file, for descriptions of it. Decisions read only the lines that matter (`matcher/select.ts`). */
export class GroupWalk extends GroupTracker {
  readonly cursor: LineCursor;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    super(traits);
    this.cursor = new LineCursor(bytes, traits);
  }

  /** Moves to the next line; false past the last one. */
  next(): boolean {
    if (!this.cursor.next()) return false;
    this.enter(this.cursor.kind);
    return true;
  }
}
