import type { Socket } from 'node:net';
import { type Connector, inspectingConnector } from '../net/index.ts';

const VERSION = Buffer.from('HTTP/1.');
/** The columns of the status code in a status line. */
const STATUS_START = VERSION.length + 2;
const STATUS_END = STATUS_START + 2;

/** A byte that no status line has, so that the parser refuses the response. */
const NUL = 0;
const HTAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SP = 0x20;
const COLON = 0x3a;
const ZERO = 0x30;
const THREE = 0x33;

/** The fields that frame a body. */
const FRAMING_FIELDS: readonly string[] = ['content-length', 'transfer-encoding'];

/** Connects with `connect`, and corrects what the parser of undici reads from the sockets: see {@link ResponseHeads}. */
export function correctingResponseHeads(connect: Connector): Connector {
  return inspectingConnector(connect, correctResponseHeads);
}

/**
 * Sees each chunk before undici does: a stream that is read on `readable` emits `data` for what `read()` is about to
 * return. The first chunk after a request was written begins a response.
 */
function correctResponseHeads(socket: Socket): undefined {
  let written = -1;
  let heads = new ResponseHeads();
  socket.on('data', (chunk: Buffer) => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      heads = new ResponseHeads();
    }
    heads.correct(chunk);
  });
}

/**
 * The status line and the header section of one response, and of the interim responses before it. Where the parser of
 * undici differs from RFC 9112, bytes are changed in place:
 *
 * - The parser takes `HTTP/0.9 404`, `HTTP/2.0 404` and `RTSP/1.0 404` for a 404, which allows everything, also after a
 *   lone CR. They become lines that it refuses. RFC 9112 §2.3: "HTTP-version = HTTP-name "/" DIGIT "." DIGIT".
 * - undici ends the connection at a 100 (Continue), which becomes a 103. RFC 9110 §15.2.1: "If the request did not contain
 *   an Expect header field containing the 100-continue expectation, the client can simply discard this interim response."
 * - Of white space around the value of a framing field it knows spaces only, so tabs become spaces. RFC 9110 §5.5: "When a
 *   specific version of HTTP allows such whitespace to appear in a message, a field parsing implementation MUST exclude
 *   such whitespace prior to evaluating the field value."
 */
class ResponseHeads {
  #part: 'before' | 'status-line' | 'fields' | 'body' = 'before';
  /** The number of bytes before the current one in its line. */
  #column = 0;
  #hasCr = false;
  #status = 0;
  /** Whether the name of the current field can be one of {@link FRAMING_FIELDS}, as far as it is read. */
  #mayFrame = true;
  /** That name, in lower case. */
  #name = '';
  #isInFramingValue = false;

  correct(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#part !== 'body'; at++) {
      if (this.#isRestRight) {
        const end = chunk.indexOf(LF, at);
        this.#column += (end === -1 ? chunk.length : end) - at;
        if (end === -1) return;
        at = end;
      }
      const byte = chunk[at]!;
      chunk[at] = this.#corrected(byte);
      this.#column++;
      if (byte === LF) this.#endLine();
    }
  }

  /** Whether what is left of the line needs no correction. */
  get #isRestRight(): boolean {
    if (this.#part === 'status-line') return this.#column > STATUS_END;
    return this.#part === 'fields' && !this.#mayFrame;
  }

  #corrected(byte: number): number {
    if (this.#part === 'fields') return this.#inField(byte);
    if (this.#part === 'status-line') return this.#inStatusLine(byte);
    // The parser skips line ends before a status line.
    if (byte === LF || (byte === CR && !this.#hasCr)) {
      this.#hasCr = byte === CR;
      return byte;
    }
    // RFC 9112 §2.2: "A recipient of such a bare CR MUST consider that element to be invalid".
    if (this.#hasCr) return NUL;
    this.#part = 'status-line';
    this.#column = 0;
    return this.#inStatusLine(byte);
  }

  #inStatusLine(byte: number): number {
    const column = this.#column;
    if (column < VERSION.length) return byte === VERSION[column] ? byte : NUL;
    if (column < STATUS_START || column > STATUS_END) return byte;
    this.#status = 10 * this.#status + byte - ZERO;
    return column === STATUS_END && this.#status === 100 ? THREE : byte;
  }

  #inField(byte: number): number {
    if (this.#isInFramingValue) return byte === HTAB ? SP : byte;
    if (byte === COLON) {
      this.#mayFrame = this.#isInFramingValue = FRAMING_FIELDS.includes(this.#name);
      return byte;
    }
    this.#name += String.fromCharCode(byte).toLowerCase();
    this.#mayFrame = FRAMING_FIELDS.some((name) => name.startsWith(this.#name));
    return byte;
  }

  #endLine(): void {
    const isEndOfHead = this.#part === 'fields' && this.#column <= 2;
    if (this.#part === 'status-line') this.#part = 'fields';
    else if (isEndOfHead) this.#part = isInterim(this.#status) ? 'before' : 'body';
    if (isEndOfHead) this.#status = 0;
    this.#column = 0;
    this.#name = '';
    this.#mayFrame = true;
    this.#isInFramingValue = false;
  }
}

/** RFC 9110 §15.2: "prior to completing the requested action and sending a final response". After a 101 follows no HTTP. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}
