import { contentCodings, contentLength, isSaidToBeEmpty } from './framing.ts';
import { FetchFailure, CONTENT_CODING, FETCH_FAILED, NOT_TEXT, PARTIAL_CONTENT } from './failure.ts';
import type { TransportResponse } from './transport.ts';
import type { Readable } from 'node:stream';

interface ReadBody {
  /** The decoded bytes, in a buffer of exactly their size. */
  readonly body: Uint8Array;
  /** Whether bytes past the limit were not read. */
  readonly truncated: boolean;
}

const LF = 0x0a;

const CR = 0x0d;

const HASH = 0x23;

const NO_BYTES = new Uint8Array(0);

/**
 * Collects chunks until there is more than `limit`. It copies them, because a chunk of one byte may hold on to a
 * slab of many thousand.
 */
class GrowingBytes {
  readonly #limit: number;
  /** The first chunk, then a buffer that the chunks are copied to. */
  #buffer: Uint8Array = NO_BYTES;
  #length = 0;
  #wasBroken = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a chunk and returns whether there is enough. One byte past the limit is kept: it may end the last line. */
  add(chunk: Uint8Array): boolean {
    const taken = chunk.subarray(0, this.#limit + 1 - this.#length);
    if (this.#length === 0) {
      this.#buffer = taken;
    } else {
      this.#roomFor(taken.byteLength).set(taken, this.#length);
    }
    this.#length += taken.byteLength;
    return this.#length > this.#limit;
  }

  /** Records an error. An error after the limit does not count: the bytes after it would not have been used. */
  broken(error: unknown): void {
    if (this.#length < this.#limit) throw error;
    this.#wasBroken = true;
  }

  /** All bytes taken, including a line that the limit cut. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  result(): ReadBody {
    const bytes = this.#buffer;
    const truncated = this.#wasBroken || this.#length > this.#limit;
    const body = new Uint8Array(truncated ? this.#endOfLastWholeLine(bytes) : this.#length);
    body.set(bytes.subarray(0, body.byteLength));
    return { body, truncated };
  }

  #roomFor(bytes: number): Uint8Array {
    const needed = this.#length + bytes;
    // The first chunk belongs to the network. Its length equals the bytes taken, so nothing is appended to it.
    if (this.#buffer.byteLength >= needed) return this.#buffer;
    const larger = new Uint8Array(Math.min(this.#limit + 1, Math.max(2 * needed, 16_384)));
    larger.set(this.bytes);
    this.#buffer = larger;
    return larger;
  }

  /**
   * Drops a line that the limit cuts: `Disallow: /a` cut out of `/about` would be a different rule. If only its comment is
   * cut, the part before the `#` is kept.
   */
  #endOfLastWholeLine(bytes: Uint8Array): number {
    if (this.#length > this.#limit && isLineEnd(bytes[this.#limit])) return this.#limit;
    let end = this.#limit;
    let comment = -1;
    for (; end > 0 && !isLineEnd(bytes[end - 1]); end--) if (bytes[end - 1] === HASH) comment = end - 1;
    return comment < 0 || isUtf16(bytes) ? end : comment;
  }
}

/** In UTF-16 the byte of a `#` may be half of another character. */
function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/**
 * Reads the decoded body up to `maxBodyBytes`, and releases the rest.
 *
 * RFC 9309 §2.5: "Crawlers SHOULD impose a parsing limit to protect their systems; see Section 3. The parsing
 * limit MUST be at least 500 kibibytes [KiB]."
 */
export async function readBody(response: TransportResponse, maxBodyBytes: number): Promise<ReadBody> {
  const bytes = new GrowingBytes(maxBodyBytes);
  await fill(bytes, response, maxBodyBytes);
  if (!mayBeText(bytes.bytes)) throw new FetchFailure(NOT_TEXT);
  return bytes.result();
}

/** Reads decoded bytes until there are more than `enough`, or until the body ends or breaks, and releases the rest. */
export async function readStart(response: TransportResponse, enough: number): Promise<Uint8Array> {
  const bytes = new GrowingBytes(enough);
  try {
    await fill(bytes, response, enough);
  } catch {
    // The bytes before the break are the start, too.
  }
  return bytes.bytes;
}

async function fill(bytes: GrowingBytes, response: TransportResponse, limit: number): Promise<void> {
  const { decode } = response;
  const codings = decode === undefined ? [] : contentCodings(response.headers.get('content-encoding'));
  if (codings === undefined) {
    response.discard();
    throw new FetchFailure(CONTENT_CODING);
  }
  if (decode === undefined || codings.length === 0) {
    await fillPlain(bytes, response.body);
    // An interceptor of the caller's dispatcher, such as undici's `dump`, may drop bytes unseen.
    const length = decode === undefined ? undefined : contentLength(response);
    if (length !== undefined && bytes.bytes.length < Math.min(limit, length))
      throw new FetchFailure(PARTIAL_CONTENT);
  } else {
    const mayBeEmpty = isSaidToBeEmpty(response);
    const maxBytesIn = 2 * limit + 65_536;
    await fillDecoded(bytes, response.body, (source) => decode(source, codings, { maxBytesIn, mayBeEmpty }));
  }
}

/** How files of other formats begin. */
const MAGIC_NUMBERS: readonly (readonly number[])[] = [
  // gzip, which also comes without a Content-Encoding.
  [0x1f, 0x8b],
  // Zstandard
  [0x28, 0xb5, 0x2f, 0xfd],
  // PNG
  [0x89, 0x50, 0x4e, 0x47],
  // PDF: `%PDF-`
  [0x25, 0x50, 0x44, 0x46, 0x2d],
  // ZIP: a file, an empty archive
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
  // UTF-32, whose mark begins with that of UTF-16.
  [0xff, 0xfe, 0x00, 0x00],
];

/**
 * Whether a file can be text. Rules that cannot be read would count as none, and allow everything. UTF-16 and UTF-32
 * without a mark have a NUL in the first line.
 */
function mayBeText(file: Uint8Array): boolean {
  if (MAGIC_NUMBERS.some((magic) => magic.every((byte, at) => file[at] === byte))) return false;
  const isUtf16 = (file[0] === 0xff && file[1] === 0xfe) || (file[0] === 0xfe && file[1] === 0xff);
  const nul = isUtf16 ? -1 : file.indexOf(0);
  return nul < 0 || file.subarray(0, nul).some(isLineEnd);
}

async function fillPlain(bytes: GrowingBytes, body: AsyncIterable<Uint8Array>): Promise<void> {
  if (isNodeStream(body)) return fillFromStream(bytes, body);
  try {
    for await (const chunk of body) {
      if (bytes.add(chunk)) return;
    }
  } catch (error) {
    bytes.broken(error);
  }
}

/** A stream of Node, which a `Readable` of undici is. Not by `instanceof`, which other platforms lack. */
function isNodeStream(body: AsyncIterable<Uint8Array>): body is Readable {
  return 'destroy' in body && 'once' in body;
}

/** Does the same as iterating over the stream, without its promises and listeners. */
function fillFromStream(bytes: GrowingBytes, body: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const over = (error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      try {
        if (error !== undefined) bytes.broken(error);
        resolve();
      } catch (reason) {
        reject(reason);
      }
    };
    // It may have failed since its header section came, and does not tell it again.
    if (body.destroyed) over(body.errored ?? new FetchFailure(FETCH_FAILED));
    body.on('data', (chunk: Uint8Array) => {
      if (isOver || !bytes.add(chunk)) return;
      over();
      body.destroy();
    });
    body.once('end', () => over());
    body.on('error', over);
    // A stream can be destroyed without an error, and without an end.
    body.once('close', () => {
      if (!isOver) over(new FetchFailure(FETCH_FAILED));
    });
  });
}

async function fillDecoded(
  bytes: GrowingBytes,
  body: AsyncIterable<Uint8Array>,
  decoded: (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Promise<void> {
  const network: Break = {};
  try {
    for await (const chunk of decoded(untilBroken(body, network))) {
      if (bytes.add(chunk)) return;
    }
  } catch (error) {
    if (network.failure === undefined) {
      bytes.broken(
        error instanceof FetchFailure ? error : new FetchFailure(CONTENT_CODING, { cause: error }),
      );
    }
  } finally {
    // A decoder may have asked for more input already, and an iterator closes only after its pending read.
    if (isNodeStream(body)) body.destroy();
  }
  if (network.failure !== undefined) bytes.broken(network.failure.error);
}

interface Break {
  failure?: { readonly error: unknown };
}

/** Ends where the body breaks, and records the error, so that a decoder still returns what came before. */
async function* untilBroken(body: AsyncIterable<Uint8Array>, network: Break): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    network.failure = { error };
  }
}
