/** Tables of bytes, and conversions to text and numbers. `rules/` works on bytes, not characters. */
import { encoder as utf8 } from '../url/index.ts';

export const PERCENT = 0x25;
export const DOLLAR = 0x24;
export const STAR = 0x2a;
export const SLASH = 0x2f;
export const QUESTION = 0x3f;

/** Lone surrogates become U+FFFD. */
export { utf8 };

/** For display: invalid UTF-8 becomes U+FFFD. A byte order mark is kept. */
export const fromUtf8: { decode(bytes: Uint8Array): string } = new TextDecoder('utf-8', { ignoreBOM: true });

const oneByOne = new TextDecoder('latin1');

/**
 * Decodes each byte to one character, so that offsets in the text are those in the file. Those from 80 to 9F become
 * characters of windows-1252, as the Encoding Standard has it.
 */
export function asCharacters(bytes: Uint8Array): string {
  return oneByOne.decode(bytes);
}

let byteOfCharacter: ReadonlyMap<string, number> | undefined;

/** The bytes of the characters above 7F that {@link asCharacters} makes. */
const bytesOfCharacters = (): ReadonlyMap<string, number> =>
  (byteOfCharacter ??= new Map(
    [...asCharacters(table((byte) => byte))].map((character, byte) => [character, byte]),
  ));

/** The bytes of a text that {@link asCharacters} made. */
export function fromCharacters(text: string): Uint8Array {
  const bytes = bytesOfCharacters();
  return Uint8Array.from(text, (character) => bytes.get(character) ?? 0);
}

/** The text with each byte above 7F as a percent escape. */
export function escapeBytes(characters: string): string {
  const bytes = bytesOfCharacters();
  return characters.replaceAll(
    /[^\0-\x7f]/g,
    (each) => `%${(bytes.get(each) ?? 0).toString(16).toUpperCase()}`,
  );
}

/** ASCII letters in lower case, every other byte as it is. */
export const LOWER: Uint8Array = table((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** 1 for the characters that match. */
function characters(pattern: RegExp): Uint8Array {
  return table((byte) => Number(pattern.test(String.fromCharCode(byte))));
}

/** 1 for SP, TAB, VT and FF: the white space inside a line. */
export const BLANK: Uint8Array = characters(/[ \t\v\f]/);

/** 1 for control bytes other than TAB: 00 to 1F. DEL is in the grammar of RFC 9309: `%x24-7F`. */
export const CONTROL: Uint8Array = table((byte) => (byte < 0x20 && byte !== 0x09 ? 1 : 0));

/** 1 for the characters of an agent name: `[A-Za-z0-9_.-]`. */
export const TOKEN: Uint8Array = characters(/[\w.-]/);

/** 1 for the characters google/robotstxt accepts in an agent name: `[A-Za-z_-]`. */
export const GOOGLE_TOKEN: Uint8Array = characters(/[A-Za-z_-]/);

/** RFC 3986 §2.2 and §2.3. */
export const UNRESERVED = 0;
const RESERVED = 1;
/** Neither: "MUST be percent-encoded" (RFC 9309 §2.2.2). */
export const ENCODED = 2;
export const URI_CLASS: Uint8Array = table((byte) => {
  const character = String.fromCharCode(byte);
  if (/[\w.~-]/.test(character)) return UNRESERVED;
  return /[:/?#[\]@!$&'()*+,;=]/.test(character) ? RESERVED : ENCODED;
});

/** Value of a hexadecimal digit, 255 for anything else. */
export const HEX: Uint8Array = table((byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 255 : value;
});

/** Whether bytes from `start` on equal `length` bytes of `lower` from `from` on, which are in lower case. */
export function equalsAt(
  bytes: Uint8Array,
  start: number,
  lower: Uint8Array,
  from: number,
  length: number,
): boolean {
  for (let at = 0; at < length; at++) if (LOWER[bytes[start + at]!] !== lower[from + at]) return false;
  return true;
}

/** A table with a value for each byte. */
export function table(value: (byte: number) => number): Uint8Array {
  const values = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) values[byte] = value(byte);
  return values;
}

/** Digits stand in one place each: in two a long number that is none would take time by the square of its length. */
const SECONDS = /^(?:\d+(?:\.\d*)?|\.\d+)$/;
const YEAR_MS = 31_536_000_000;

/** Converts decimal seconds, such as those of `Crawl-delay`, to ms: at most one year; -1 for any other text. */
export function secondsToMs(bytes: Uint8Array, start: number, end: number): number {
  const text = asCharacters(bytes.subarray(start, end));
  return SECONDS.test(text) ? Math.min(Math.round(Number(text) * 1_000), YEAR_MS) : -1;
}

/** Bytes checked at a time, so that a file that is not UTF-8 is not decoded as a whole. */
const CHECKED_BYTES = 8_192;

/** The offset of the first byte that is not valid UTF-8; the length if all are. */
export function firstInvalidByte(bytes: Uint8Array): number {
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = Math.min(start + CHECKED_BYTES, bytes.length);
    // Not within a character: it has no more than three bytes of this kind.
    for (let more = 0; more < 3 && (bytes[end]! & 0xc0) === 0x80; more++) end++;
    const invalid = start + firstInvalidOf(bytes.subarray(start, end));
    if (invalid < end) return invalid;
  }
  return bytes.length;
}

function firstInvalidOf(bytes: Uint8Array): number {
  // Each invalid sequence becomes U+FFFD, whose three bytes are never fewer.
  const repaired = utf8.encode(fromUtf8.decode(bytes));
  let at = 0;
  while (at < repaired.length && repaired[at] === bytes[at]) at++;
  // The first bytes of U+FFFD may equal those of the file.
  while ((repaired[at]! & 0xc0) === 0x80) at--;
  return at;
}
