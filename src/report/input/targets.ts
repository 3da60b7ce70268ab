import type { Readable } from 'node:stream';

/** One URL to be answered, as it was written. */
export interface Target {
  readonly input: string;
  /** 1-based line of standard input; absent for arguments. */
  readonly line?: number;
  /** The line went on past {@link MAX_LINE_LENGTH}; `input` is its beginning. */
  readonly tooLong?: true;
}

/** Longer than any URL that a server takes. Keeps a file without line ends from filling the memory. */
export const MAX_LINE_LENGTH = 65_536;

/** The operands in order; where one is `-`, the lines of `stdin`. */
export async function* targets(
  operands: readonly string[],
  stdin: Readable,
): AsyncGenerator<Target, void, undefined> {
  for (const operand of operands) {
    if (operand === '-') yield* targetLines(stdin);
    else yield { input: operand };
  }
}

/** Lines that are neither blank nor a comment. */
export async function* targetLines(stdin: Readable): AsyncGenerator<Target, void, undefined> {
  let line = 0;
  for await (const { text, tooLong } of lines(stdin)) {
    line++;
    const input = text.trim();
    if (input !== '' && !input.startsWith('#')) yield { input, line, ...(tooLong ? { tooLong } : {}) };
  }
}

interface Line {
  readonly text: string;
  readonly tooLong: boolean;
}

async function* lines(stdin: Readable): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let tooLong = false;
  for await (const chunk of stdin) {
    const text = rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    let start = 0;
    for (let end = text.indexOf('\n', start); end >= 0; end = text.indexOf('\n', start)) {
      yield lineOf(text.slice(start, end), tooLong);
      tooLong = false;
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > MAX_LINE_LENGTH) {
      rest = rest.slice(0, MAX_LINE_LENGTH);
      tooLong = true;
    }
  }
  rest += decoder.decode();
  if (rest !== '') yield lineOf(rest, tooLong);
}

function lineOf(text: string, alreadyTooLong: boolean): Line {
  const tooLong = alreadyTooLong || text.length > MAX_LINE_LENGTH;
  return { text: tooLong ? text.slice(0, MAX_LINE_LENGTH) : text, tooLong };
}
