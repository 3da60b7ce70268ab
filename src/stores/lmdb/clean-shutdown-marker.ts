import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

/** To read a larger database takes longer than to start a process. */
const MAX_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * Notes beside the data file what its bytes are. Call it when the database is closed.
 *
 * Where that fails, or the file is large, the note is missing or wrong, and the next process that opens the database
 * does so with more care.
 */
export function writeCleanShutdownMarker(data: string): void {
  try {
    const digest = digestOf(data);
    if (digest !== undefined) writeFileSync(markOf(data), digest);
  } catch {
    // The disk may be full.
  }
}

/**
 * Whether the bytes of the data file are those of the last {@link writeCleanShutdownMarker}, or there are none yet. Call it when the
 * database is about to be opened.
 *
 * A note that is right counts once: if the process that opens the database dies before it closes it, the next one finds
 * none, even if no byte has changed.
 */
export function consumeCleanShutdownMarker(data: string): boolean {
  try {
    const { size } = statSync(data, { throwIfNoEntry: false }) ?? { size: 0 };
    if (size === 0) return true;
    const mark = readFileSync(markOf(data), 'utf8');
    if (!mark.startsWith(`${size} `) || mark !== digestOf(data)) return false;
    rmSync(markOf(data), { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a note lies beside the data file, right or wrong: the file was a database once. */
export function hasCleanShutdownMarker(data: string): boolean {
  return existsSync(markOf(data));
}

const markOf = (data: string): string => `${data}.closed`;

/** The number of bytes and their digest; `undefined` if they are too many. */
function digestOf(data: string): string | undefined {
  const descriptor = openSync(data, 'r');
  try {
    if (fstatSync(descriptor).size > MAX_BYTES) return undefined;
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let size = 0;
    for (let read = -1; read !== 0; size += read) {
      read = readSync(descriptor, chunk);
      hash.update(chunk.subarray(0, read));
    }
    return `${size} ${hash.digest('hex')}`;
  } finally {
    closeSync(descriptor);
  }
}
