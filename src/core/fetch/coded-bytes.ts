/**
 * Coded octets, read chunk by chunk, at most `maxOctets` of them. A coded stream that decodes to nothing could go on
 * for ever without reaching a limit on decoded octets.
 */
export class CodedOctets {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #left: number;
  #unread: Uint8Array | undefined;

  constructor(source: AsyncIterable<Uint8Array>, maxOctets: number) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#left = maxOctets;
  }

  /** The next octets, at least one; undefined at the end. */
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
      if (this.#left < 0) throw new RangeError('The coded body is too long for the limit of decoded octets');
      if (value.byteLength > 0) return value;
    }
  }

  /** Puts back the last octets that `next()` returned, so that it returns them again. */
  unread(octets: Uint8Array): void {
    if (octets.byteLength > 0) this.#unread = octets;
  }

  async peek(): Promise<Uint8Array | undefined> {
    const octets = await this.next();
    if (octets !== undefined) this.unread(octets);
    return octets;
  }

  /** Reads exactly `count` octets. */
  async take(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count);
    let length = 0;
    while (length < count) {
      const octets = await this.next();
      if (octets === undefined) throw new RangeError(`Expected ${count} more octets, got ${length}`);
      const used = octets.subarray(0, count - length);
      taken.set(used, length);
      length += used.byteLength;
      this.unread(octets.subarray(used.byteLength));
    }
    return taken;
  }

  /** Releases the source. Does not wait for it: the source may never answer. */
  close(): void {
    this.#chunks.return?.().then(ignore, ignore);
  }
}

function ignore(): void {}
