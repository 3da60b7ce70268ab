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

/** Encoding a longer text takes Node twice the time, because its memory comes fresh from the system. */
const PART_LENGTH = 32_768;

/** Writes a whole text, and waits until it is written. */
export async function writeWhole(sink: Sink, text: string): Promise<void> {
  const output = new Output(sink);
  await output.write(text);
  await output.release();
}

/** Writes to a stream with backpressure, and reports when its reader is gone. */
export class Output {
  readonly #sink: Sink;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
    sink.on('error', this.#onError);
    sink.on('close', this.#onClose);
    sink.on('drain', this.#onDrain);
  }

  /** @throws BrokenPipeError when the reader is gone, or the error of the stream, such as a full disk. */
  async write(text: string | Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#sink.destroyed) throw new BrokenPipeError();
    if (this.#sink.write(text)) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Writes `lines` in parts of about {@link PART_LENGTH} characters. */
  async writeLines(lines: readonly string[]): Promise<void> {
    let part = '';
    for (const line of lines) {
      part += line;
      if (part.length < PART_LENGTH) continue;
      await this.write(part);
      part = '';
    }
    if (part !== '') await this.write(part);
  }

  /** Waits until everything is written, then removes the listeners. The stream stays open. */
  async release(): Promise<void> {
    if (this.#failure === undefined && !this.#sink.destroyed) {
      await new Promise<void>((resolve) => {
        this.#sink.once('close', resolve);
        this.#sink.write('', () => resolve());
      });
    }
    this.#sink.off('close', this.#onClose);
    this.#sink.off('drain', this.#onDrain);
    // The error listener stays, because a late EPIPE would otherwise crash the process.
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    this.#failure ??=
      error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED' ? new BrokenPipeError() : error;
    this.#wake?.();
  };

  readonly #onClose = (): void => {
    this.#failure ??= new BrokenPipeError();
    this.#wake?.();
  };

  readonly #onDrain = (): void => this.#wake?.();
}
