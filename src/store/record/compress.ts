import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  type BrotliOptions,
  constants,
} from 'node:zlib';
import { RobotsInvalidOptionsError } from '../../base/index.ts';

/**
 * Octets a value may have at most, before it is packed and after it is unpacked. A body of 512,000 control
 * characters, each escaped in JSON, still fits.
 */
export const MAX_VALUE_BYTES: number = 4 * 1024 * 1024;

/** Values up to here are not worth compressing: half of all records are smaller. */
const COMPRESS_ABOVE_BYTES = 1024;

/** Up to here the work is done at once, in well under a millisecond; beyond, off the event loop. */
const AT_ONCE_BYTES = 64 * 1024;

/** The first octet tells how to read the rest: the letter is the encoding, a capital says that it is compressed. */
const UTF8 = 't'.charCodeAt(0);
const UTF16 = 'u'.charCodeAt(0);
const CAPITAL = 0x20;

/** Quality 4 is smaller *and* three times as quick as deflate at its default level, over real records. */
const compression = (size: number): BrotliOptions => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: size },
});
const bounded: BrotliOptions = { maxOutputLength: MAX_VALUE_BYTES };

const compress = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const decompress = promisify<Uint8Array, BrotliOptions, Buffer>(brotliDecompress);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The octets that a store keeps of a value.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a value that {@link unpack} would refuse.
 */
export async function pack(value: string): Promise<Buffer> {
  // UTF-8 has no form for lone surrogates, and a store gives back what it was given.
  const wellFormed = !/\p{Surrogate}/u.test(value);
  const octets = Buffer.from(value, wellFormed ? 'utf8' : 'utf16le');
  if (octets.length > MAX_VALUE_BYTES) {
    throw new RobotsInvalidOptionsError(
      `Expected a value of at most ${MAX_VALUE_BYTES} octets, got one of ${octets.length}`,
    );
  }
  const encoding = wellFormed ? UTF8 : UTF16;
  if (octets.length > COMPRESS_ABOVE_BYTES) {
    const options = compression(octets.length);
    const compressed =
      octets.length <= AT_ONCE_BYTES ? brotliCompressSync(octets, options) : await compress(octets, options);
    if (compressed.length < octets.length) return marked(encoding - CAPITAL, compressed);
  }
  return marked(encoding, octets);
}

/** What was packed; `undefined` for anything else, whatever somebody put in its place. */
export async function unpack(packed: Uint8Array): Promise<string | undefined> {
  const marker = packed[0];
  if (marker === undefined || packed.length > MAX_VALUE_BYTES + 1) return undefined;
  const octets = packed.subarray(1);
  try {
    if (marker === UTF8 || marker === UTF16) return decode(marker, octets);
    const encoding = marker + CAPITAL;
    if (encoding !== UTF8 && encoding !== UTF16) return undefined;
    return decode(
      encoding,
      octets.length <= AT_ONCE_BYTES
        ? brotliDecompressSync(octets, bounded)
        : await decompress(octets, bounded),
    );
  } catch {
    return undefined;
  }
}

function decode(encoding: number, octets: Uint8Array): string | undefined {
  if (encoding === UTF8) return utf8.decode(octets);
  if (octets.length % 2 !== 0) return undefined;
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('utf16le');
}

function marked(marker: number, octets: Buffer): Buffer {
  return Buffer.concat([Buffer.of(marker), octets]);
}
