export interface ReadBody {
  /** Decoded octets in memory of exactly their size. */
  readonly body: Uint8Array;
  /** Whether octets past the limit were left unread. */
  readonly truncated: boolean;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Takes chunks until there is more than `limit`. It copies them, because a chunk of one octet may hold on to a
 * slab of many thousand.
 */
export class GrowingOctets {
  readonly #limit: number;
  #first: Uint8Array | undefined;
  #buffer: Uint8Array | undefined;
  #length = 0;
  #wasBroken = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns whether that was enough. One octet past the limit is kept: it may end the last line. */
  add(chunk: Uint8Array): boolean {
    const taken = chunk.subarray(0, this.#limit + 1 - this.#length);
    if (this.#length === 0) {
      this.#first = taken;
    } else {
      this.#roomFor(taken.byteLength).set(taken, this.#length);
    }
    this.#length += taken.byteLength;
    return this.#length > this.#limit;
  }

  /** A break counts only before the limit: nothing after it would have been used. */
  broken(error: unknown): void {
    if (this.#length < this.#limit) throw error;
    this.#wasBroken = true;
  }

  /** Everything taken, cut lines included. */
  get octets(): Uint8Array {
    return (this.#buffer ?? this.#first ?? new Uint8Array(0)).subarray(0, this.#length);
  }

  result(): ReadBody {
    const octets = this.#buffer ?? this.#first ?? new Uint8Array(0);
    const truncated = this.#wasBroken || this.#length > this.#limit;
    const body = new Uint8Array(truncated ? this.#endOfLastWholeLine(octets) : this.#length);
    body.set(octets.subarray(0, body.byteLength));
    return { body, truncated };
  }

  #roomFor(octets: number): Uint8Array {
    const needed = this.#length + octets;
    const buffer = this.#buffer ?? this.#first;
    if (buffer !== undefined && buffer === this.#buffer && buffer.byteLength >= needed) return buffer;
    const larger = new Uint8Array(Math.min(this.#limit + 1, Math.max(2 * needed, 16_384)));
    if (buffer !== undefined) larger.set(buffer.subarray(0, this.#length));
    this.#first = undefined;
    this.#buffer = larger;
    return larger;
  }

  /** A line that the limit cuts says something else than its author wrote: `Disallow: /a` for `/about`. */
  #endOfLastWholeLine(octets: Uint8Array): number {
    if (this.#length > this.#limit && isLineEnd(octets[this.#limit])) return this.#limit;
    let end = this.#limit;
    while (end > 0 && !isLineEnd(octets[end - 1])) end -= 1;
    return end;
  }
}

function isLineEnd(octet: number | undefined): boolean {
  return octet === LF || octet === CR;
}
