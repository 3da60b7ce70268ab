import { Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import type { Session } from '../../src/cli/session.ts';

export interface CliInput {
  /** What standard input holds, in one piece or in chunks. */
  readonly stdin?: string | readonly string[] | Readable;
  readonly env?: Session['env'];
  readonly stdoutIsTTY?: boolean;
  readonly stderrIsTTY?: boolean;
  readonly signal?: AbortSignal;
  readonly stdout?: Writable;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Collects what is written to it. */
export class Collector extends Writable {
  readonly isTTY: boolean;
  text = '';

  constructor(isTTY = false) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Runs `canfetch ...argv` in this process. */
export async function cli(argv: readonly string[], input: CliInput = {}): Promise<CliResult> {
  const { stdin = '', env = {}, signal = new AbortController().signal } = input;
  const stdout = new Collector(input.stdoutIsTTY);
  const stderr = new Collector(input.stderrIsTTY);
  const code = await run({
    argv,
    env,
    stdin: stdin instanceof Readable ? stdin : octets(typeof stdin === 'string' ? [stdin] : stdin),
    stdout: input.stdout ?? stdout,
    stderr,
    signal,
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** As the process gives it: buffers, not strings. */
function octets(chunks: readonly string[]): Readable {
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
}

/** Lines of NDJSON as objects. */
export function records(ndjson: string): Record<string, unknown>[] {
  return ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
