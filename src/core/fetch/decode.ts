import { ignore } from '../base/index.ts';
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Gunzip,
  type Inflate,
  type InflateRaw,
} from 'node:zlib';
import { CONTENT_CODING, FetchFailure, TRAILING_BYTES } from './failure.ts';
import type { ContentCoding, Decode } from './transport.ts';

/** Deno's decoder of Brotli does not report that a stream is cut. There the coding is neither asked for nor taken. */
const SEES_END_OF_BROTLI = !('Deno' in globalThis);

/** The codings whose end {@link decode} sees, as the value of `Accept-Encoding`. */
export const ACCEPT_ENCODING: string = SEES_END_OF_BROTLI ? 'gzip, deflate, br' : 'gzip, deflate';

/**
 * Undoes `codings`, the last applied first. Each must be exactly one whole stream; one of gzip may have several members
 * (RFC 1952 §2.2). No bytes at all are accepted only when `mayBeEmpty`. No stage reads more than `maxBytesIn`.
 */
export const decode: Decode = (source, codings, { maxBytesIn, mayBeEmpty }) =>
  codings.reduceRight((bytes, coding) => undo(new CodedBytes(bytes, maxBytesIn), coding, mayBeEmpty), source);

async function* undo(
  bytes: CodedBytes,
  coding: ContentCoding,
  mayBeEmpty: boolean,
): AsyncGenerator<Uint8Array> {
  try {
    if (coding === 'br' && !SEES_END_OF_BROTLI) throw new FetchFailure(CONTENT_CODING);
    const start = await bytes.peek();
    if (start === undefined && mayBeEmpty) return;
    if (coding === 'gzip') yield* run(bytes, createGunzip());
    else if (coding === 'br') yield* run(bytes, createBrotliDecompress());
    else yield* run(bytes, isZlib(start) ? createInflate() : createInflateRaw());
    if ((await bytes.peek()) !== undefined) throw new FetchFailure(TRAILING_BYTES);
  } finally {
    bytes.close();
  }
}

/**
 * Whether a "deflate" body has the zlib format. The name stands for zlib, but many servers send raw deflate. The low
 * half of the first byte is 8 in a zlib header; raw deflate could start so only with a stored block with padding
 * bits set.
 */
function isZlib(start: Uint8Array | undefined): boolean {
  return ((start?.[0] ?? 0) & 0x0f) === 8;
}

type Decoder = Gunzip | Inflate | InflateRaw | BrotliDecompress;

/** Runs `decoder` over one stream. Bytes after the stream are left unread. */
async function* run(bytes: CodedBytes, decoder: Decoder): AsyncGenerator<Uint8Array> {
  // Ending the iteration early destroys the decoder and removes its other listeners.
  decoder.on('error', ignore);
  const fed = feed(bytes, decoder).catch((error: Error) => void decoder.destroy(error));
  yield* decoder;
  await fed;
}

async function feed(bytes: CodedBytes, decoder: Decoder): Promise<void> {
  let given = 0;
  for (;;) {
    const chunk = await bytes.next();
    if (decoder.destroyed) return;
    if (chunk === undefined) {
      decoder.end();
      return;
    }
    given += chunk.byteLength;
    await written(decoder, chunk);
    if (decoder.destroyed) return;
    const untouched = given - decoder.bytesWritten;
    if (untouched === 0) continue;
    bytes.unread(chunk.subarray(chunk.byteLength - untouched));
    return;
  }
}

/** Writes a chunk. A destroyed decoder never calls back, so its end is awaited too. */
function written(decoder: Decoder, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      decoder.off('close', done);
      resolve();
    };
    decoder.once('close', done);
    decoder.write(chunk, done);
  });
}

/**
 * Coded bytes, read chunk by chunk, at most `maxBytes` of them. A coded stream that decodes to nothing could go on
 * for ever without reaching a limit on decoded bytes.
 */
class CodedBytes {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #left: number;
  #unread: Uint8Array | undefined;

  constructor(source: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#left = maxBytes;
  }

  /** The next bytes, at least one; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const unread = this.#unread;
    if (unread !== undefined) {
      this.#unread = undefined;
      return unread;
    }
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return undefined;
      this.#left -= value.byteLength;
      if (this.#left < 0) throw new RangeError('The coded body is too long for the limit of decoded bytes');
      if (value.byteLength > 0) return value;
    }
  }

  /** Puts back the last bytes that `next()` returned, so that it returns them again. */
  unread(bytes: Uint8Array): void {
    if (bytes.byteLength > 0) this.#unread = bytes;
  }

  async peek(): Promise<Uint8Array | undefined> {
    const bytes = await this.next();
    if (bytes !== undefined) this.unread(bytes);
    return bytes;
  }

  /** Releases the source. Does not wait for it: the source may never respond. */
  close(): void {
    this.#chunks.return?.().then(ignore, ignore);
  }
}
