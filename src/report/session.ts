import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal, which has a width. */
export type Sink = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a run of the command gets from outside: `main.ts` gives it the process, tests give it their own. */
export interface Session {
  /** Arguments after the name of the program. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** For answers. */
  readonly stdout: Sink;
  /** For diagnostics and progress. */
  readonly stderr: Sink;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /**
   * Has `listener` called on SIGTERM, which otherwise ends the process; for commands that have something to finish.
   * Gives back what takes the listener away.
   */
  onTerminate?(listener: () => void): () => void;
}
