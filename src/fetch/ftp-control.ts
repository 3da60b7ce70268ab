import { Socket } from 'node:net';
import { FTP_REPLY_LIMIT } from './codes.ts';
import { FetchFailure } from './failure.ts';

/** What greeting, notices and everything else may take together. Real servers say a few thousand octets. */
const MAX_OCTETS = 32_768;
/** Each piece costs work, however small it is. */
const MAX_PIECES = 1_024;
const LF = 0x0a;

/**
 * A control connection that gives out whole lines, and ends when the server says too much. The library takes every
 * piece that arrives for whole lines, and limits one reply, not their sum.
 */
export class ControlSocket extends Socket {
  #octets = 0;
  #pieces = 0;
  /** The line that is not whole yet. */
  #rest: Buffer = Buffer.alloc(0);

  /** Called with what arrives, and with null at the end. */
  override push(piece: Buffer | null): boolean {
    // A line that the end cuts is no reply.
    if (piece === null) return super.push(null);
    this.#octets += piece.byteLength;
    this.#pieces += 1;
    if (this.#octets > MAX_OCTETS || this.#pieces > MAX_PIECES) {
      this.destroy(new FetchFailure(FTP_REPLY_LIMIT));
      return false;
    }
    const text = this.#rest.byteLength === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = text.lastIndexOf(LF) + 1;
    this.#rest = text.subarray(end);
    return end === 0 || super.push(text.subarray(0, end));
  }
}
