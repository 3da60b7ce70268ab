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
