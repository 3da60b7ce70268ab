import { createHash } from 'node:crypto';
import type { Entry, EntryKind } from '../embedded/table.ts';

/** Prefixes by kind, so that names of one kind are adjacent. `x` is the index of all names by expiry. */
const LETTERS: Readonly<Record<EntryKind, string>> = { value: 'v', lease: 'l', slot: 's' };

/** LMDB accepts 1,978 bytes on pages of 4 KiB, fewer on smaller ones. Index entries are longer than the name. */
const MAX_NAME_BYTES = 400;

/** Keys without any of the characters below: the usual case. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Version of the layout, in the first byte. */
const LAYOUT = 1;
/**
 * Bytes of the header: layout, six for the expiry, two for the length of the key if the name does not contain it.
 */
const HEADER_BYTES = 9;
/** The latest time that fits six bytes, and nine digits of base 36: a day in the year 5188. */
const LATEST = 36 ** 9 - 1;

/**
 * The name of an entry. A key that is too long for LMDB, or has characters that its key encoding confuses (control
 * characters, lone surrogates), is replaced by its digest; the entry then contains the key.
 */
export function nameOf(kind: EntryKind, key: string): string {
  if (key.length <= MAX_NAME_BYTES && PRINTABLE_ASCII.test(key)) return `${LETTERS[kind]}=${key}`;
  if (Buffer.byteLength(key) <= MAX_NAME_BYTES && !/[\p{Cc}\p{Surrogate}]/u.test(key)) {
    return `${LETTERS[kind]}=${key}`;
  }
  const digest = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url');
  return `${LETTERS[kind]}#${digest}`;
}

/** The range of all names of a kind; `end` is exclusive. */
export function namesOf(kind: EntryKind): { readonly start: string; readonly end: string } {
  const letter = LETTERS[kind];
  return { start: letter, end: String.fromCharCode(letter.charCodeAt(0) + 1) };
}

/** The index entry for the expiry of a name. Entries sort by time. */
export function indexEntry(expiresAt: number, name: string): string {
  return indexBefore(expiresAt) + name;
}

/** Sorts before every entry of that time and after every earlier one. */
export function indexBefore(time: number): string {
  return `x${Math.min(Math.max(time, 0), LATEST).toString(36).padStart(9, '0')}`;
}

export function readIndexEntry(entry: string): { readonly expiresAt: number; readonly name: string } {
  return { expiresAt: Number.parseInt(entry.slice(1, 10), 36), name: entry.slice(10) };
}

/** Rounds up to a whole millisecond, within what the layout can hold. */
export function wholeExpiry(expiresAt: number): number {
  return Math.min(Math.ceil(expiresAt), LATEST);
}

export function encodeEntry(name: string, { key, expiresAt, content }: Entry): Buffer {
  // JSON escapes lone surrogates, so that UTF-8 keeps them.
  const inside = Buffer.from(name[1] === '#' ? JSON.stringify(key) : '');
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(LAYOUT, 0);
  header.writeUIntBE(expiresAt, 1, 6);
  header.writeUInt16BE(inside.length, 7);
  return Buffer.concat([header, inside, content]);
}

/** Decodes an entry; `undefined` for anything else. */
export function decodeEntry(name: string, stored: unknown): Entry | undefined {
  if (!(stored instanceof Uint8Array) || stored.length < HEADER_BYTES) return undefined;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  if (bytes.readUInt8(0) !== LAYOUT) return undefined;
  const expiresAt = bytes.readUIntBE(1, 6);
  const start = HEADER_BYTES + bytes.readUInt16BE(7);
  try {
    const inside = bytes.subarray(HEADER_BYTES, start).toString();
    const key: unknown = name[1] === '#' ? JSON.parse(inside) : name.slice(2);
    return typeof key === 'string' ? { key, expiresAt, content: bytes.subarray(start) } : undefined;
  } catch {
    return undefined;
  }
}
