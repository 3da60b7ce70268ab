import type { Readable } from 'node:stream';
import { codeOf, isRobotsError, printable, quoted } from '../../../core/base/index.ts';
import type { ReadLine, Replay } from '../../../extras/evidence/replay.ts';
import { readLines } from '../../answers/input/targets.ts';
import { UsageError } from '../../answers/session.ts';

/** Maximum length of a line, in characters. */
const MAX_LINE_LENGTH = 256 * 1_024 * 1_024;

/** A file of evidence, with its replay and its next line. */
export interface EvidenceSource {
  readonly name: string;
  readonly replay: Replay;
  readonly lines: AsyncIterator<ReadLine, undefined>;
  next: ReadLine | undefined;
}

/**
 * The lines of a file that are not skipped.
 *
 * @throws UsageError for a line that is no evidence, or too long to be evidence, and for a damaged gzip file.
 */
export async function* evidenceLines(
  name: string,
  stream: Readable,
  replay: Replay,
  maxLength: number = MAX_LINE_LENGTH,
): AsyncGenerator<ReadLine, undefined, undefined> {
  try {
    for await (const texts of readLines(stream, maxLength)) {
      for (const text of texts) {
        if (text.length > maxLength) {
          throw new UsageError(
            `${printable(name)}: Expected lines of up to ${maxLength} characters, got a longer one`,
          );
        }
        const line = ofFile(name, () => replay.read(text));
        if (line !== undefined) yield line;
      }
    }
  } catch (cause) {
    const code = codeOf(cause);
    if (!code.startsWith('Z_')) throw cause;
    throw new UsageError(`Expected ${quoted(name)} to be a whole gzip file, got one with ${code}`, { cause });
  }
  return undefined;
}

/** Adds the name of the file to errors. */
export function ofFile<Result>(name: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (!isRobotsError(cause) || cause.code !== 'ERR_ROBOTS_EVIDENCE') throw cause;
    throw new UsageError(`${printable(name)}: ${cause.message}`, { cause });
  }
}
