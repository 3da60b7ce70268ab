import { builtin } from '../../base/index.ts';

/** The CRC-32 of a text in UTF-8 (ISO 3309, as in gzip and in zlib's `crc32`). */
export const crc32: (text: string) => number = builtin('node:zlib')?.crc32 ?? crc32OfText;

/** {@link crc32} for platforms without `node:zlib`. */
export function crc32OfText(text: string): number {
  table ??= makeTable();
  let checksum = ~0;
  for (const octet of new TextEncoder().encode(text)) {
    checksum = (checksum >>> 8) ^ (table[(checksum ^ octet) & 0xff] ?? 0);
  }
  return ~checksum >>> 0;
}

let table: Uint32Array | undefined;

/** The remainders of all octets. The polynomial is 0xEDB88320, with its bits reversed. */
function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, octet) => {
    let remainder = octet;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ ((remainder & 1) * 0xedb88320);
    return remainder;
  });
}
