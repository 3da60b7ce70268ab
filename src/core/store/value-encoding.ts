import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  type BrotliOptions,
  constants,
} from 'node:zlib';
import { RobotsInvalidOptionsError } from '../base/index.ts';

/**
 * The most bytes of a value, before compression and after decompression. A body of 512,000 control characters, each
 * escaped in JSON, still fits.
 */
export const MAX_VALUE_BYTES: number = 4 * 1024 * 1024;

/**
 * Values up to here are not compressed, two thirds of all records: compression would take 20 µs each, and a page of
 * LMDB holds two. All records together then take 14 % more than with a limit of 1 KiB.
 */
const COMPRESS_ABOVE_BYTES = 1_900;

/**
 * Values up to this size are compressed synchronously, in a third of a millisecond at most. In another thread they would
 * cost the main thread more.
 */
const SYNCHRONOUS_BYTES = 64 * 1024;
/** Compressed bytes that are decompressed synchronously. */
const SYNCHRONOUS_COMPRESSED_BYTES = 64 * 1024;

/** The first byte is the format: the letter for the encoding, a capital for compressed. */
const UTF8 = 't'.charCodeAt(0);
const UTF16 = 'u'.charCodeAt(0);
const CAPITAL = 0x20;

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

const compressBrotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const decompressBrotli = promisify<Uint8Array, BrotliOptions, Buffer>(brotliDecompress);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Marks a value written under a lease: this byte, the length of the token in one byte, and the token come before
 * it.
 */
const FENCED = 'f'.charCodeAt(0);
const MARK_BYTES = 2;
const MAX_TOKEN_BYTES = 255;
const TOKEN = new RegExp(`^[!-~]{1,${MAX_TOKEN_BYTES}}$`);

/** The most bytes that a fence adds. */
export const MAX_FENCE_BYTES: number = MARK_BYTES + MAX_TOKEN_BYTES;

/**
 * Encodes a value for a store, compressed if that is worthwhile.
 *
 * @param fence The token of the lease under which the value is written. It comes before the value, uncompressed.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an invalid token, or a value that
 * {@link decodeValue} would refuse.
 */
export function encodeValue(value: string, fence?: string): Buffer | Promise<Buffer> {
  if (fence !== undefined && (fence.length > MAX_TOKEN_BYTES || !TOKEN.test(fence))) {
    throw new RobotsInvalidOptionsError(
      `Expected \`fence\` to be the token of a lease, 1 to ${MAX_TOKEN_BYTES} printable ASCII characters`,
    );
  }
  // UTF-8 cannot encode lone surrogates, and a store must return the value unchanged.
  const wellFormed = isWellFormed(value);
  const bytes = Buffer.from(value, wellFormed ? 'utf8' : 'utf16le');
  if (bytes.length > MAX_VALUE_BYTES) {
    throw new RobotsInvalidOptionsError(
      `Expected a value of at most ${MAX_VALUE_BYTES} bytes, got one of ${bytes.length}`,
    );
  }
  const encoding = wellFormed ? UTF8 : UTF16;
  if (bytes.length <= COMPRESS_ABOVE_BYTES) return marked(fence, encoding, bytes);
  const shorter = (compressed: Buffer): Buffer =>
    compressed.length < bytes.length
      ? marked(fence, encoding - CAPITAL, compressed)
      : marked(fence, encoding, bytes);
  const options = compression(bytes.length);
  return bytes.length > SYNCHRONOUS_BYTES
    ? compressBrotli(bytes, options).then(shorter)
    : shorter(brotliCompressSync(bytes, options));
}

/** `String.prototype.isWellFormed` where the runtime has it: five times as fast. */
const isWellFormed: (value: string) => boolean =
  'isWellFormed' in String.prototype
    ? (value) => (value as string & { isWellFormed(): boolean }).isWellFormed()
    : (value) => !/\p{Surrogate}/u.test(value);

/** Decodes the result of {@link encodeValue}; `undefined` for any other bytes. */
export async function decodeValue(stored: Buffer): Promise<string | undefined> {
  const start = stored[0] === FENCED ? MARK_BYTES + (stored[1] ?? 0) : 0;
  const marker = stored[start];
  if (marker === undefined || stored.length - start > MAX_VALUE_BYTES + 1) return undefined;
  const bytes = stored.subarray(start + 1);
  try {
    if (marker === UTF8 || marker === UTF16) return decode(marker, bytes);
    const encoding = marker + CAPITAL;
    if (encoding !== UTF8 && encoding !== UTF16) return undefined;
    return decode(
      encoding,
      bytes.length <= SYNCHRONOUS_COMPRESSED_BYTES
        ? brotliDecompressSync(bytes, bounded)
        : await decompressBrotli(bytes, bounded),
    );
  } catch {
    return undefined;
  }
}

function decode(encoding: number, bytes: Uint8Array): string | undefined {
  if (encoding === UTF8) return utf8.decode(bytes);
  if (bytes.length % 2 !== 0) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf16le');
}

/** The fence, the marker and the bytes in one buffer. */
function marked(fence: string | undefined, marker: number, bytes: Buffer): Buffer {
  const start = fence === undefined ? 0 : MARK_BYTES + fence.length;
  const all = Buffer.allocUnsafe(start + 1 + bytes.length);
  if (fence !== undefined) {
    all[0] = FENCED;
    all[1] = fence.length;
    all.write(fence, MARK_BYTES, 'latin1');
  }
  all[start] = marker;
  bytes.copy(all, start + 1);
  return all;
}

/** The token of the lease that the stored value was written under, if any. */
export function fenceOf(stored: Buffer): string | undefined {
  if (stored[0] !== FENCED) return undefined;
  return stored.toString('latin1', MARK_BYTES, MARK_BYTES + (stored[1] ?? 0));
}
