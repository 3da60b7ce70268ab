import { ignore } from '../base/index.ts';
/**
 * Coded bytes, read chunk by chunk, at most `maxBytes` of them. A coded stream that decodes to nothing could go on
 * for ever without reaching a limit on decoded bytes.
 */
export class CodedBytes {
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

  /** Reads exactly `count` bytes. */
  async take(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count);
    let length = 0;
    while (length < count) {
      const bytes = await this.next();
      if (bytes === undefined) throw new RangeError(`Expected ${count} more bytes, got ${length}`);
      const used = bytes.subarray(0, count - length);
      taken.set(used, length);
      length += used.byteLength;
      this.unread(bytes.subarray(used.byteLength));
    }
    return taken;
  }

  /** Releases the source. Does not wait for it: the source may never respond. */
  close(): void {
    this.#chunks.return?.().then(ignore, ignore);
  }
}
