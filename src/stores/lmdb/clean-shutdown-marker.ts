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

/** Reading a larger database takes longer than starting a process. */
const MAX_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * Writes a marker with the digest of the data file beside it. Call it after the database is closed.
 *
 * If that fails, or the file is large, the marker is missing or wrong, and the next process probes the database before
 * it opens it.
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
 * Whether the data file is unchanged since the last {@link writeCleanShutdownMarker}, or does not exist yet. Call it right
 * before the database is opened.
 *
 * It removes the marker: if the process dies before it closes the database, the next one finds no marker, even if no byte
 * has changed.
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

/** Whether there is a marker beside the data file, valid or not: the file was a database once. */
export function hasCleanShutdownMarker(data: string): boolean {
  return existsSync(markOf(data));
}

const markOf = (data: string): string => `${data}.closed`;

/** The size and the digest of the file; `undefined` if it is too large. */
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
