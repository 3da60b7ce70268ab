import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { quote, RobotsEvidenceError } from '../../core/base/index.ts';

const CHUNK_BYTES = 1_024 * 1_024;
const LF = 0x0a;
/** How every file begins. */
const START = '{"type":"run"';
const BODY = Buffer.from(',"body":');
/** What is before a body in a line. */
const DIGEST = /"sha256":"([0-9a-f]{64})"$/;

/** What happened to a file that is written to. */
export type FileChange = 'moved' | 'truncated' | 'none';

/** A file that lines are appended to, synchronously. */
export class WrittenFile {
  readonly #path: string;
  readonly #fd: number;
  /** Digests whose bodies the file has. */
  readonly digests: Set<string> = new Set();
  /** Bytes of its whole lines. */
  #length = 0;

  /**
   * Opens the file, creates it if needed, and cuts off a torn last line.
   *
   * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when the file has something else, or the error of the system.
   */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      if (!fstatSync(this.#fd).isFile()) {
        throw new RobotsEvidenceError(`Expected ${quote(path)} to be a file, got something else`);
      }
      this.#read();
      ftruncateSync(this.#fd, this.#length);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** What others did to the file since it was opened. */
  change(): FileChange {
    const own = fstatSync(this.#fd);
    const named = statSync(this.#path, { throwIfNoEntry: false });
    if (named === undefined || named.ino !== own.ino || named.dev !== own.dev) return 'moved';
    return own.size < this.#length ? 'truncated' : 'none';
  }

  /**
   * Appends lines.
   *
   * @returns how many were written, and the error that kept the others out.
   */
  append(text: string): { readonly lines: number; readonly error?: unknown } {
    const bytes = Buffer.from(text);
    let written = 0;
    try {
      while (written < bytes.length) {
        written += writeSync(this.#fd, bytes, written, bytes.length - written, this.#length + written);
      }
      this.#length += written;
      return { lines: countLines(bytes) };
    } catch (error) {
      const whole = bytes.subarray(0, bytes.subarray(0, written).lastIndexOf(LF) + 1);
      this.#length += whole.length;
      this.#cut();
      return { lines: countLines(whole), error };
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #cut(): void {
    try {
      ftruncateSync(this.#fd, this.#length);
    } catch {
      // The next line overwrites what is left.
    }
  }

  /** Reads what the file has: the length of its whole lines, and the digests of the bodies in them. */
  #read(): void {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, fstatSync(this.#fd).size));
    let rest = Buffer.alloc(0);
    for (let read = 0; ;) {
      const length = readSync(this.#fd, chunk, 0, chunk.length, read);
      if (length === 0) return;
      if (read === 0) assertEvidence(chunk.toString('latin1', 0, Math.min(length, START.length)));
      read += length;
      const bytes = Buffer.concat([rest, chunk.subarray(0, length)]);
      const end = bytes.lastIndexOf(LF) + 1;
      this.#collectDigests(bytes.subarray(0, end));
      this.#length += end;
      rest = bytes.subarray(end);
    }
  }

  /** A digest is before its body in a line, and nearly all lines have no body. */
  #collectDigests(lines: Buffer): void {
    for (let at = lines.indexOf(BODY); at >= 0; at = lines.indexOf(BODY, at + 1)) {
      const start = lines.lastIndexOf(LF, at) + 1;
      const [, digest] = DIGEST.exec(lines.toString('latin1', start, at)) ?? [];
      if (digest !== undefined) this.digests.add(digest);
    }
  }
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}

/** @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) */
function assertEvidence(start: string): void {
  if (START.startsWith(start)) return;
  throw new RobotsEvidenceError(
    `Expected a file of evidence, or none yet, got one that begins with ${quote(start)}`,
  );
}
