import { fromUtf8, utf8 } from '../bytes.ts';

/** Bytes in which UTF-16 without a mark is looked for. */
const SAMPLE_BYTES = 32;

/** Whether every second byte is NUL, as of Latin letters in UTF-16. */
export function isUnmarkedUtf16(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES & ~1);
  const nulAt = (remainder: number): boolean =>
    sample.every((byte, at) => (byte === 0) === (at % 2 === remainder));
  return sample.length >= 8 && (nulAt(0) || nulAt(1));
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
