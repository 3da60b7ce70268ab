import type { Readable } from 'node:stream';
import { MAX_URL_BYTES } from '../../../core/url/index.ts';
import type { ReportedDecision } from '../verdict.ts';

/** One URL to answer, as written in the input. */
export interface Target {
  readonly input: string;
  /** Line number in standard input, 1-based; absent for arguments. */
  readonly line?: number;
  /** The line was longer than {@link MAX_LINE_LENGTH}; `input` is its beginning. */
  readonly tooLong?: true;
}

/** A longer line is no URL. Prevents a file without line ends from filling the memory. */
export const MAX_LINE_LENGTH: number = MAX_URL_BYTES;

/** Yields the operands in order, and the lines of `stdin` in place of `-`. Each batch has the lines of one chunk. */
export async function* targets(
  operands: readonly string[],
  stdin: Readable,
): AsyncGenerator<readonly Target[], void, undefined> {
  for (const operand of operands) {
    if (operand === '-') yield* targetLines(stdin);
    else yield [{ input: operand }];
  }
}

/** Yields the lines that are neither blank nor comments. Each batch has the lines that end in one chunk of `stdin`. */
export async function* targetLines(stdin: Readable): AsyncGenerator<readonly Target[], void, undefined> {
  let line = 0;
  for await (const lines of readLines(stdin, MAX_LINE_LENGTH)) {
    const batch: Target[] = [];
    for (const text of lines) {
      line++;
      const input = text.slice(0, MAX_LINE_LENGTH).trim();
      if (input === '' || input.startsWith('#')) continue;
      batch.push(text.length > MAX_LINE_LENGTH ? { input, line, tooLong: true } : { input, line });
    }
    if (batch.length > 0) yield batch;
  }
}

/** Yields lines, those that end in one chunk together. Of a line that is longer than `maxLength` one character more is kept. */
export async function* readLines(
  stream: Readable,
  maxLength: number,
): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    // Only what is new is searched: a long line comes in many chunks.
    const lines = text.split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = (lines.pop() ?? '').slice(0, maxLength + 1);
    if (lines.length > 0) yield lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield [rest];
}

/** The result for one target. */
export type TargetResult<Decided extends ReportedDecision = ReportedDecision> =
  | { readonly target: Target; readonly decision: Decided }
  | { readonly target: Target; readonly error: InputError };

/** The error of a target that is not a valid URL. */
export interface InputError {
  readonly code: string;
  /** One line that states what was expected and what came. */
  readonly message: string;
}

/** The error of a line that is too long to be a URL. */
export const tooLongError: InputError = {
  code: 'ERR_ROBOTS_INVALID_URL',
  message: `Expected a URL of at most ${MAX_LINE_LENGTH} characters, got a longer line`,
};
