import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { quote, RobotsEvidenceError } from '../../core/base/index.ts';

const LF = 0x0a;
const NEW_LINE = Buffer.from('\n');
/** How every file begins. */
const START = '{"type":"run"';
/** Longer than any write, so that what is still torn belongs to no live writer. */
const SETTLED_MS = 50;
/** The end of a file is searched for a line end in pieces of this size. */
const CHUNK_BYTES = 64 * 1_024;

/** A file that whole lines are appended to, synchronously. Others may append to it, too. */
export class WrittenFile {
  readonly #fd: number;

  /**
   * Opens the file, and creates it if needed.
   *
   * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when the file has something else, or the error of the system.
   */
  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
    try {
      if (!fstatSync(this.#fd).isFile()) {
        throw new RobotsEvidenceError(`Expected ${quote(path)} to be a file, got something else`);
      }
      const start = this.#read(0, START.length).toString('latin1');
      if (!START.startsWith(start)) {
        throw new RobotsEvidenceError(
          `Expected a file of evidence, or none yet, got one that begins with ${quote(start)}`,
        );
      }
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Removes a torn last line, which a crash has left. */
  async heal(): Promise<void> {
    const size = this.#size;
    if (!this.#isTorn(size)) return;
    // Another writer may be in the middle of it.
    await sleep(SETTLED_MS);
    if (this.#size !== size) return;
    let end = size;
    let from: number;
    do {
      from = Math.max(0, end - CHUNK_BYTES);
      end = from + this.#read(from, end - from).lastIndexOf(LF) + 1;
    } while (end === from && from > 0);
    ftruncateSync(this.#fd, end);
  }

  /**
   * Appends lines by one write, so that those of other writers are before or after them.
   *
   * @returns how many were written, and the error that kept the others out.
   */
  append(text: string): { readonly lines: number; readonly error?: unknown } {
    let bytes = Buffer.from(text);
    let lines = 0;
    try {
      while (bytes.length > 0) {
        // After half a line, of a full disk or of a writer that was killed.
        if (this.#isTorn(this.#size)) writeSync(this.#fd, NEW_LINE);
        const written = writeSync(this.#fd, bytes);
        const whole = bytes.subarray(0, bytes.subarray(0, written).lastIndexOf(LF) + 1);
        lines += countLines(whole);
        bytes = bytes.subarray(whole.length);
        // Half a line, and no error: the next write meets the full disk.
      }
      return { lines };
    } catch (error) {
      return { lines, error };
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  get #size(): number {
    return fstatSync(this.#fd).size;
  }

  #isTorn(size: number): boolean {
    return size > 0 && this.#read(size - 1, 1)[0] !== LF;
  }

  #read(from: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#fd, bytes, 0, length, from));
  }
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
