import { brotliCompressSync, brotliDecompressSync, type BrotliOptions, constants } from 'node:zlib';
import { RobotsInvalidOptionsError } from '../base/index.ts';

/**
 * The most bytes of a value, before compression and after decompression. A body of 512,000 control characters, each
 * escaped in JSON, still fits.
 */
export const MAX_VALUE_BYTES: number = 4 * 1024 * 1024;

/**
 * Values up to here are not compressed, 94 of 100 records: it would take a third of the time that SQLite costs the main
 * thread, for 0.6 kB less a record.
 */
const COMPRESS_ABOVE_BYTES = 8_000;

/** The first byte is the format: text in UTF-8, or that compressed with Brotli. */
const TEXT = 't'.charCodeAt(0);
const BROTLI = 'T'.charCodeAt(0);

const MIN_CHUNK_BYTES = 1_024;

/** Quality 0 takes two thirds of the time of 1 on real records, for 8 % more bytes; deflate at level 1 takes over twice as long. */
const compression = (size: number): BrotliOptions => ({
  // The default, 16 KiB of output, is garbage for a value of 4.
  chunkSize: Math.max(MIN_CHUNK_BYTES, size >> 1),
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 0,
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
  },
});
const bounded: BrotliOptions = { maxOutputLength: MAX_VALUE_BYTES };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Encodes a value for a store, compressed if that is worthwhile.
 *
 * @param prefix ASCII before the value.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a value that {@link decodeValue} would refuse.
 */
export function encodeValue(value: string, prefix = ''): Buffer {
  const size = Buffer.byteLength(value);
  if (size > MAX_VALUE_BYTES) {
    throw new RobotsInvalidOptionsError(
      `Expected a value of at most ${MAX_VALUE_BYTES} bytes, got one of ${size}`,
    );
  }
  const bytes = Buffer.allocUnsafe(prefix.length + 1 + size);
  const start = bytes.write(prefix, 'latin1');
  bytes[start] = TEXT;
  bytes.write(value, start + 1);
  if (size <= COMPRESS_ABOVE_BYTES) return bytes;
  const compressed = brotliCompressSync(bytes.subarray(start + 1), compression(size));
  if (compressed.length >= size) return bytes;
  bytes[start] = BROTLI;
  return Buffer.concat([bytes.subarray(0, start + 1), compressed]);
}

/** Decodes the result of {@link encodeValue}, behind its prefix; `undefined` for any other bytes. */
export function decodeValue(stored: Uint8Array): string | undefined {
  if (stored.length > MAX_VALUE_BYTES + 1) return undefined;
  const bytes = stored.subarray(1);
  try {
    if (stored[0] === TEXT) return utf8.decode(bytes);
    return stored[0] === BROTLI ? utf8.decode(brotliDecompressSync(bytes, bounded)) : undefined;
  } catch {
    return undefined;
  }
}
