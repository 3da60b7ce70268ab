import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { whyUnreadable } from '../../report/input/index.ts';
import { type Session, UsageError } from '../../report/index.ts';
import { quoted } from '../../report/text/index.ts';

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
