import { Readable, Writable } from 'node:stream';
import { run } from '../../../src/apps/cli/run.ts';
import type { Session } from '../../../src/apps/answers/session.ts';

export interface CliInput {
  /** What standard input holds, in one piece or in chunks. */
  readonly stdin?: string | readonly string[] | Readable;
  readonly env?: Session['env'];
  readonly stdoutIsTTY?: boolean;
  readonly stderrIsTTY?: boolean;
  /** Of both terminals. */
  readonly columns?: number;
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
  readonly columns: number;
  text = '';

  constructor(isTTY = false, columns = 80) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Runs `canfetch ...argv` in this process. */
export async function cli(argv: readonly string[], input: CliInput = {}): Promise<CliResult> {
  const { stdin = '', env = {}, signal = new AbortController().signal } = input;
  const stdout = new Collector(input.stdoutIsTTY, input.columns);
  const stderr = new Collector(input.stderrIsTTY, input.columns);
  const code = await run({
    argv,
    env,
    stdin: stdin instanceof Readable ? stdin : bytes(typeof stdin === 'string' ? [stdin] : stdin),
    stdout: input.stdout ?? stdout,
    stderr,
    signal,
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** As the process gives it: buffers, not strings. */
function bytes(chunks: readonly string[]): Readable {
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
}

/** Lines of NDJSON as objects. */
export function records(ndjson: string): Record<string, unknown>[] {
  return ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Output with what differs from run to run taken out: origins, moments, and what chance took off. */
export function masked(text: string, ...sites: readonly { readonly origin: string }[]): string {
  const named = sites.reduce(
    (rest, { origin }, index) =>
      rest.replaceAll(origin, `https://${index === 0 ? '' : `${index}.`}example.com`),
    text,
  );
  return named
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .replaceAll(/\bin \d+ \w+(?= \(TIME\))/g, 'in TIME')
    .replaceAll(/(?:just now|\d+ s ago)/g, 'just now')
    .replaceAll(/, \d+ \w+ taken off at random/g, ', SOME taken off at random');
}
