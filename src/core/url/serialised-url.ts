/*
 * Fast path for URLs that a URL parser has already serialised, as most URLs of a crawler are. They are checked byte
 * by byte, because strings are slow to walk. All other URLs go to the parser: upper case, userinfo, default or odd
 * ports, IPv6 addresses, odd spellings of IPv4 addresses, punycode, dot segments, and characters that the parser would
 * escape.
 */

/** The parts of a serialised URL. */
export interface SerialisedUrl {
  /** Scheme, host and port. Consecutive URLs of one origin share the string. */
  origin: string;
  /** Start and end of path and query, in bytes, which equal characters here. */
  targetStart: number;
  targetEnd: number;
  /** Whether the target has no `%`, `*`, `$` or `'`, so that all dialects read it the same way. */
  simple: boolean;
  /** The {@link BYTE_MASK} bits of the target's bytes. The lower bits have no meaning here. */
  byteMask: number;
}

/** Longer URLs are left to the parser. */
const MAX_BYTES = 16_384;
/** V8 treats a constant of the module as known only while it is not exported. */
const bytes = new Uint8Array(MAX_BYTES + 4);
/** The bytes of the last URL read, followed by a NUL. */
export const urlBytes: Uint8Array = bytes;

/** What this file and `origin.ts` need of a `TextEncoder`. */
export const encoder: {
  encode(text: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { written: number };
} = new TextEncoder();
const textBytes = bytes.subarray(0, MAX_BYTES);

/* Links of one page often share an origin, so the last origin is compared first, four bytes at a time. */
const MAX_ORIGIN_BYTES = 256;
const urlWords = new Int32Array(bytes.buffer);
const lastOrigin = new Uint8Array(MAX_ORIGIN_BYTES);
const lastOriginWords = new Int32Array(lastOrigin.buffer);
let lastOriginLength = 0;
let lastOriginText = '';

/** Kinds of bytes after the authority. */
const SLASH = 1;
/** `.` and `%`. "/." may start a dot segment, and so may "/%", which may encode a dot. */
const RISKY_BEHIND_SLASH = 2;
const QUESTION = 4;
const HASH = 8;
const APOSTROPHE = 16;
/** `%`, `*` and `$`: the URL parser keeps them, but rules give them a meaning. */
const NOT_SIMPLE = 32;
/** Bytes that the URL parser may change. */
const REFUSED = 64;

/** All kinds. */
const KINDS = 127;

/** Groups of bytes, one bit each. Bytes in most paths share the last bit with those in very few. */
const MASK_GROUPS = '? = & . _ -+ q jz x k w v y f b g h p m u d c l 0123456789'.split(' ');

/**
 * One bit per group of bytes, above the bits of the kinds. A pattern with a byte that the target lacks cannot
 * match. Upper and lower case share a bit.
 */
export const BYTE_MASK: Int32Array = new Int32Array(256).map((_, byte) => {
  const group = MASK_GROUPS.findIndex((bytes) => bytes.includes(String.fromCharCode(byte).toLowerCase()));
  return 1 << (group < 0 ? 31 : 7 + group);
});

/** Kind and byte mask in one table, because the walk over the target is the main cost of a question. */
const KIND: Int32Array = new Int32Array(256).map((_, byte) => BYTE_MASK[byte]! | kindOf(byte));

function kindOf(byte: number): number {
  const character = String.fromCharCode(byte);
  if (byte <= 0x20 || byte >= 0x7f || '"<>\\^`{|}'.includes(character)) return REFUSED;
  const kinds: Readonly<Record<string, number>> = {
    '/': SLASH,
    '.': RISKY_BEHIND_SLASH,
    '%': RISKY_BEHIND_SLASH | NOT_SIMPLE,
    '*': NOT_SIMPLE,
    $: NOT_SIMPLE,
    '?': QUESTION,
    '#': HASH,
    "'": APOSTROPHE,
  };
  return kinds[character] ?? 0;
}

/** 1 for the bytes of an ordinary host name. */
const HOST: Uint8Array = new Uint8Array(256).map((_, byte) =>
  /[a-z0-9._-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * Reads `text` into `into`, and its bytes into {@link urlBytes}. Returns false when the parser might change the
 * URL.
 */
export function readSerialised(text: string, into: SerialisedUrl): boolean {
  const length = encoder.encodeInto(text, textBytes).written;
  // More bytes than characters: not ASCII. Fewer: too long.
  if (length !== text.length) return false;
  bytes[length] = 0;
  const same = startsWithLastOrigin();
  const targetStart = same ? lastOriginLength : authorityEnd();
  if (targetStart < 0) return false;

  // Most targets need no check by position. This loop has no branches, which makes it fast.
  let kinds = 0;
  let previous = 0;
  let risks = 0;
  for (let at = targetStart; at < length; at++) {
    const kind = KIND[bytes[at]!]!;
    risks |= (previous << 1) & kind;
    kinds |= previous = kind;
  }
  let targetEnd = length;
  if ((kinds & (REFUSED | HASH | APOSTROPHE)) !== 0 || (risks & RISKY_BEHIND_SLASH) !== 0) {
    targetEnd = endOfTarget(targetStart, length);
    if (targetEnd < 0) return false;
  }
  if (!same) remember(targetStart, text);
  into.origin = lastOriginText;
  into.targetStart = targetStart;
  into.targetEnd = targetEnd;
  into.simple = (kinds & (NOT_SIMPLE | APOSTROPHE)) === 0;
  into.byteMask = kinds;
  return true;
}

/** The end of the target; -1 if the parser might change a byte after `start`. */
function endOfTarget(start: number, length: number): number {
  let kinds = 0;
  let at = start;
  for (; at < length; at++) {
    const kind = KIND[bytes[at]!]! & KINDS;
    if (kind === HASH) break;
    const inQuery = (kinds & QUESTION) !== 0;
    if (kind === SLASH && !inQuery && (KIND[bytes[at + 1]!]! & RISKY_BEHIND_SLASH) !== 0) return -1;
    // The parser escapes apostrophes in queries.
    if (kind === APOSTROPHE && inQuery) return -1;
    kinds |= kind;
  }
  const end = at;
  // The fragment is not part of the target, but of the URL: if the parser might change it, the parser reads the URL.
  for (; at < length; at++) kinds |= KIND[bytes[at]!]! & REFUSED;
  return (kinds & REFUSED) === 0 ? end : -1;
}

/** Whether the URL has the same origin as the one before, followed by a target. */
function startsWithLastOrigin(): boolean {
  const length = lastOriginLength;
  const words = length >> 2;
  for (let word = 0; word < words; word++) if (urlWords[word] !== lastOriginWords[word]) return false;
  for (let at = words << 2; at < length; at++) if (bytes[at] !== lastOrigin[at]) return false;
  // Every target starts with a slash.
  return length > 0 && bytes[length] === 0x2f;
}

function remember(length: number, text: string): void {
  lastOriginText = text.slice(0, length);
  lastOriginLength = length <= MAX_ORIGIN_BYTES ? length : 0;
  for (let at = 0; at < lastOriginLength; at++) lastOrigin[at] = bytes[at]!;
}

/** "http" as a word. Where words have another byte order, the parser reads all URLs. */
const HTTP = 0x7074_7468;

/**
 * The end of the authority; -1 unless scheme, host and port are plain ones that the parser would not change, and a
 * slash follows.
 */
function authorityEnd(): number {
  if (urlWords[0] !== HTTP) return -1;
  const secure = bytes[4] === 0x73;
  let at = secure ? 5 : 4;
  if (bytes[at] !== 0x3a || bytes[at + 1] !== 0x2f || bytes[at + 2] !== 0x2f) return -1;
  at += 3;
  const host = at;
  let label = at;
  for (; HOST[bytes[at]!] === 1; at++) {
    if (bytes[at] === 0x2e) label = at + 1;
    // "xn--" must be valid punycode; any "--" is left to the parser.
    else if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) return -1;
  }
  // A host whose last label starts with a digit may be an IPv4 address in one of many spellings.
  const initial = bytes[label]!;
  if (at === label || ((initial < 0x61 || initial > 0x7a) && !isDottedDecimal(host, at))) return -1;
  if (bytes[at] === 0x3a) {
    const port = ++at;
    let value = 0;
    for (; bytes[at]! >= 0x30 && bytes[at]! <= 0x39 && at - port < 5; at++) {
      value = value * 10 + bytes[at]! - 0x30;
    }
    // The parser drops default ports and leading zeros.
    if (at === port || bytes[port] === 0x30 || value > 0xffff || value === (secure ? 443 : 80)) return -1;
  }
  return bytes[at] === 0x2f ? at : -1;
}

/** Whether `bytes[at, end)` is an IPv4 address as the URL Standard serialises it. */
function isDottedDecimal(at: number, end: number): boolean {
  for (let part = 1; ; part++, at++) {
    const start = at;
    let value = 0;
    for (; bytes[at]! >= 0x30 && bytes[at]! <= 0x39; at++) value = value * 10 + bytes[at]! - 0x30;
    if (at === start || value > 255 || (bytes[start] === 0x30 && at > start + 1)) return false;
    if (part === 4) return at === end;
    if (bytes[at] !== 0x2e) return false;
  }
}
