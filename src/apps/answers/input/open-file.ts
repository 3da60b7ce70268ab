import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { DEFAULT_MAX_BODY_BYTES } from '../../../core/base/index.ts';
import { type Session, UsageError } from '../session.ts';
import { quoted } from '../../../core/base/printable.ts';

export interface ReadRobots {
  readonly body: Uint8Array;
  /** Whether there was more than `maxBytes`. */
  readonly truncated: boolean;
}

/**
 * Reads a robots.txt from a disk, or from standard input when `file` is `-`, with the code and the limit that apply
 * to fetched files.
 *
 * @param what The option or operand that named the file, for the error message.
 * @throws UsageError when it cannot be read.
 */
export async function readRobots(
  file: string,
  stdin: Readable,
  what: string,
  maxBytes: number = DEFAULT_MAX_BODY_BYTES,
): Promise<ReadRobots> {
  const { readBody } = await import('../../../core/fetch/body.ts');
  try {
    const body = file === '-' ? stdin : (await open(file)).createReadStream();
    const headers = { get: () => undefined };
    return await readBody({ status: 200, headers, body, discard: () => {} }, maxBytes);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const todo = error.code === 'ENOENT' ? 'check the path' : 'give a file that can be read';
    throw new UsageError(
      `Expected ${what} to name a robots.txt file, got ${quoted(file)} (${whyUnreadable(String(error.code))}); ${todo}`,
      { cause: error },
    );
  }
}

/**
 * Opens a list with one item per line. `-` is standard input.
 *
 * @param what The expected kind of file, for the error message.
 * @throws UsageError when the file cannot be opened.
 */
export async function openList(
  list: string,
  what: string,
  { stdin }: Session,
  signal: AbortSignal,
): Promise<Readable> {
  if (list === '-') return stdin;
  try {
    const file = await open(list);
    if ((await file.stat()).isDirectory()) {
      await file.close();
      throw Object.assign(new Error('A directory'), { code: 'EISDIR' });
    }
    return file.createReadStream({ signal });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    throw new UsageError(`Expected ${what}, got ${quoted(list)} (${whyUnreadable(code)}); check the path`, {
      cause: error,
    });
  }
}

/** Explains the error code of a failed read. */
function whyUnreadable(code: string): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'a directory';
  return code === 'EACCES' ? 'permission denied' : code;
}
