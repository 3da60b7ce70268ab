import type { Readable, Writable } from 'node:stream';

/** An output stream. A terminal has `isTTY` and its width in `columns`. */
export type Sink = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The environment of a run of the command: `main.ts` passes the process, tests pass their own. */
export interface Session {
  /** Arguments that follow the program name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Receives results. */
  readonly stdout: Sink;
  /** Receives diagnostics. */
  readonly stderr: Sink;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Calls `listener` on a signal that otherwise ends the process. Returns a function that removes the listener. */
  onSignal?(name: 'SIGTERM' | 'SIGHUP', listener: () => void): () => void;
}

/** Invalid use of the command. The message says what was expected, what came, and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The reader of the output closed the pipe (`canfetch … | head -1`), so the run can end. */
export class BrokenPipeError extends Error {
  override readonly name = 'BrokenPipeError';
}

/**
 * Resolves when the text is written. An error after that is an `error` event of the stream.
 *
 * @throws BrokenPipeError when the reader is gone, or the error of the stream, such as a full disk.
 */
export function write(sink: Sink, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new BrokenPipeError());
    if (sink.destroyed) return gone();
    // A stream that is destroyed during a write may forget its callback.
    sink.once('close', gone);
    sink.write(text, (error?: NodeJS.ErrnoException | null) => {
      sink.off('close', gone);
      if (!error) resolve();
      else if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') gone();
      else reject(error);
    });
  });
}

/** Encoding a longer text takes Node twice the time, because its memory comes fresh from the system. */
const PART_LENGTH = 32_768;

/** Writes `lines` in parts of about {@link PART_LENGTH} characters. */
export async function writeLines(sink: Sink, lines: readonly string[]): Promise<void> {
  let part = '';
  for (const line of lines) {
    part += line;
    if (part.length < PART_LENGTH) continue;
    await write(sink, part);
    part = '';
  }
  if (part !== '') await write(sink, part);
}
