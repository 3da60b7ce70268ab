import type { Readable } from 'node:stream';
import { codeOf, isRobotsError, printable, quoted } from '../../../core/base/index.ts';
import { type ReadLine, type Replay, type ReplayedLine } from '../../../extras/evidence/replay.ts';
import { readLines } from '../../answers/input/targets.ts';
import { UsageError } from '../../answers/session.ts';

/** Maximum length of a line, in characters. */
const MAX_LINE_LENGTH = 256 * 1_024 * 1_024;

/** A file of evidence, read line by line, with its replay. */
export class EvidenceSource {
  readonly name: string;
  readonly replay: Replay;
  readonly #batches: AsyncIterator<readonly string[]>;
  readonly #maxLineLength: number;
  #lines: readonly string[] = [];
  #next = 0;
  #hasEnded = false;
  #head: ReadLine | undefined;

  constructor(name: string, stream: Readable, replay: Replay, maxLineLength: number = MAX_LINE_LENGTH) {
    this.#maxLineLength = maxLineLength;
    this.name = name;
    this.replay = replay;
    this.#batches = readLines(stream, maxLineLength);
  }

  /** Whether the next line is known, or that there is none, without waiting. */
  get isReady(): boolean {
    return this.#peek() !== undefined || this.#hasEnded;
  }

  /**
   * Reads until {@link isReady}.
   *
   * @throws UsageError for a line that is too long to be evidence.
   */
  async fill(): Promise<void> {
    while (!this.isReady) {
      const { done, value } = await this.#nextBatch();
      if (done === true) this.#hasEnded = true;
      else [this.#lines, this.#next] = [value, 0];
    }
  }

  async #nextBatch(): Promise<IteratorResult<readonly string[]>> {
    try {
      return await this.#batches.next();
    } catch (cause) {
      const code = codeOf(cause);
      if (!code.startsWith('Z_')) throw cause;
      throw new UsageError(`Expected ${quoted(this.name)} to be a whole gzip file, got one with ${code}`, {
        cause,
      });
    }
  }

  /**
   * The time of the next line, and its number; `undefined` when there is none. A line without a time sorts first.
   *
   * @throws UsageError when it is no evidence.
   */
  get next(): { readonly at: number; readonly n: number } | undefined {
    const next = this.#peek();
    return next && { at: next.entry.at ?? 0, n: next.entry.n ?? 0 };
  }

  /**
   * Replays the next line; `undefined` when it is skipped, or there is none.
   *
   * @throws UsageError when it is no evidence.
   */
  take(): ReplayedLine | undefined {
    const next = this.#peek();
    this.#head = undefined;
    return next && this.#named(() => this.replay.take(next));
  }

  #peek(): ReadLine | undefined {
    while (this.#head === undefined && this.#next < this.#lines.length) {
      const text = this.#lines[this.#next++] ?? '';
      if (text.length > this.#maxLineLength) {
        throw new UsageError(
          `${printable(this.name)}: Expected lines of up to ${this.#maxLineLength} characters, got a longer one`,
        );
      }
      this.#head = this.#named(() => this.replay.read(text));
    }
    return this.#head;
  }

  /** Adds the name of the file to errors. */
  #named<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (cause) {
      if (!isRobotsError(cause) || cause.code !== 'ERR_ROBOTS_EVIDENCE') throw cause;
      throw new UsageError(`${printable(this.name)}: ${cause.message}`, { cause });
    }
  }
}
