import type { Readable } from 'node:stream';
import { isRobotsError, printable } from '../../../core/base/index.ts';
import { type ReadLine, type Replay, type ReplayedLine } from '../../../extras/evidence/replay.ts';
import { UsageError } from '../../answers/session.ts';

/** Maximum length of a line, in characters. */
const MAX_LINE_LENGTH = 256 * 1_024 * 1_024;

/** A file of evidence, read line by line, with its replay. */
export class EvidenceSource {
  readonly name: string;
  readonly replay: Replay;
  readonly #chunks: AsyncIterator<string | Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #maxLineLength: number;
  #lines: readonly string[] = [];
  #next = 0;
  #rest = '';
  #hasEnded = false;
  #head: ReadLine | undefined;

  constructor(name: string, stream: Readable, replay: Replay, maxLineLength: number = MAX_LINE_LENGTH) {
    this.#maxLineLength = maxLineLength;
    this.name = name;
    this.replay = replay;
    this.#chunks = stream[Symbol.asyncIterator]();
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
      const { done, value } = await this.#chunks.next();
      if (done === true) this.#end();
      else this.#add(value);
    }
  }

  /** Whether there is a next line. */
  get hasNext(): boolean {
    return this.#peek() !== undefined;
  }

  /**
   * The time of the next line; `undefined` when there is none. A line without a time sorts first.
   *
   * @throws UsageError when it is no evidence.
   */
  get nextAt(): number | undefined {
    const next = this.#peek();
    return next && (next.entry.at ?? 0);
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
      this.#head = this.#named(() => this.replay.read(text));
    }
    return this.#head;
  }

  #add(chunk: string | Uint8Array): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    // Only what is new is searched: a long line comes in many chunks.
    lines[0] = this.#rest + (lines[0] ?? '');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > this.#maxLineLength) {
      throw new UsageError(
        `${printable(this.name)}: Expected lines of up to ${this.#maxLineLength} characters, got a longer one`,
      );
    }
    this.#lines = lines;
    this.#next = 0;
  }

  /** The rest is a line without a newline, whole or torn. A run that crashed is no fault. */
  #end(): void {
    this.#hasEnded = true;
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = '';
    this.#lines = rest === '' ? [] : [rest];
    this.#next = 0;
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
