import { type OriginRecord, type Profile, retentionMs } from '../lifecycle/index.ts';
import {
  aFunction,
  anAbortSignal,
  type Check,
  type Clock,
  invalid,
  nextTurn,
  optionTable,
  orAborted,
} from '../base/index.ts';
import type { OriginMemory } from './origin-memory.ts';
import { RECORD_VERSION, type RecordCodec, type Rejection } from '../store/index.ts';

/**
 * The reason why a line of a snapshot was not restored. `expired`: it is of no more use. `older`: memory has a later
 * record.
 */
export type RestoreRejection = Rejection | 'expired' | 'older';

export interface RestoreOptions {
  /** Stops after the current line and rejects with the signal's reason. Restored lines stay. */
  readonly signal?: AbortSignal;
  /** Called for each line that is not restored. Lines are 1-based. */
  readonly onRejected?: (rejection: {
    readonly line: number;
    readonly reason: RestoreRejection;
    readonly origin?: string;
  }) => void;
}

/** The result of restoring a snapshot. */
export interface RestoreResult {
  /** Origins added to memory. */
  readonly restored: number;
  /** Lines that were not restored. */
  readonly rejected: number;
  /** Number of those lines by reason. */
  readonly reasons: Readonly<Partial<Record<RestoreRejection, number>>>;
  /** Origins evicted to make room, restored or not. */
  readonly evicted: number;
  /** Lines that a header promised and that did not come. */
  readonly missing: number;
}

export interface SnapshotContext {
  readonly memory: OriginMemory;
  readonly codec: RecordCodec;
  readonly clock: Clock;
  readonly profileOf: (origin: string) => Profile;
  /** @throws RobotsClosedError (`ERR_ROBOTS_CLOSED`) */
  readonly assertOpen: () => void;
}

/** Characters processed before other work gets a turn. */
const YIELD_EVERY_CHARACTERS = 256 * 1_024;
const HEADER = '{"snapshot":';

/**
 * The records in memory, one line per origin, least recently used first, after a header with their number. Each line
 * ends with LF.
 */
export async function* writeSnapshot(context: SnapshotContext): AsyncGenerator<string> {
  context.assertOpen();
  const records = context.memory.records();
  yield snapshotHeader(records.length, context.clock.now());
  let length = 0;
  for (const record of records) {
    const line = context.codec.encode(record);
    yield `${line}\n`;
    length += line.length;
    if (length < YIELD_EVERY_CHARACTERS) continue;
    length = 0;
    await nextTurn();
    // A snapshot that ended early would look complete.
    context.assertOpen();
  }
}

/** The header of a snapshot. */
export function snapshotHeader(origins: number, takenAt: number): string {
  return `${JSON.stringify({ snapshot: 'canfetch', v: RECORD_VERSION, origins, takenAt })}\n`;
}

/** The number of records that a header promises; `undefined` if the line is not a header. */
export function promisedOrigins(line: string): number | undefined {
  if (!line.startsWith(HEADER)) return undefined;
  try {
    const origins: unknown = Reflect.get(Object(JSON.parse(line)), 'origins');
    return typeof origins === 'number' && Number.isSafeInteger(origins) && origins >= 0 ? origins : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Adds the lines of a snapshot to memory, except where memory has a later record.
 *
 * @param ending Aborts when the client is closed, or with the signal of the options.
 */
export async function readSnapshot(
  lines: Iterable<string> | AsyncIterable<string>,
  context: SnapshotContext,
  { onRejected }: RestoreOptions,
  ending: AbortSignal,
): Promise<RestoreResult> {
  const reader = new SnapshotReader(context, onRejected);
  let length = 0;
  for await (const text of typeof lines === 'string' ? [lines] : untilAborted(lines, ending)) {
    for (const line of String(text).replace(/\n$/, '').split('\n')) {
      ending.throwIfAborted();
      await reader.read(line.trimEnd());
      length += line.length;
      if (length < YIELD_EVERY_CHARACTERS) continue;
      length = 0;
      await nextTurn();
    }
  }
  ending.throwIfAborted();
  return reader.result;
}

/** The lines as they come. Ends with the reason of `signal`, also while the source yields nothing. */
async function* untilAborted(
  lines: Iterable<string> | AsyncIterable<string>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (!(Symbol.asyncIterator in lines)) {
    yield* lines;
    return;
  }
  const iterator = lines[Symbol.asyncIterator]();
  let hasEnded = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await orAborted(iterator.next(), signal);
      if (done === true) return void (hasEnded = true);
      yield value;
    }
  } finally {
    // Closing an iterator during a pending read may never resolve, so it is not awaited.
    if (!hasEnded) void close(iterator);
  }
}

async function close(iterator: AsyncIterator<string>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // The reading has ended for another reason.
  }
}

/**
 * Checks the arguments of `restore`.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertRestorable(lines: unknown, options: RestoreOptions): void {
  restoreOptions(options, '');
  options.signal?.throwIfAborted();
  const object: object = Object(lines);
  if (Symbol.iterator in object || Symbol.asyncIterator in object) return;
  throw invalid('`lines`', 'the lines of a snapshot', lines);
}

const restoreOptions: Check = optionTable({
  signal: anAbortSignal,
  onRejected: aFunction(),
} satisfies Readonly<Record<keyof RestoreOptions, Check>>);

class SnapshotReader {
  readonly #context: SnapshotContext;
  readonly #onRejected: RestoreOptions['onRejected'];
  readonly #reasons: Partial<Record<RestoreRejection, number>> = {};
  #lines = 0;
  #restored = 0;
  #rejected = 0;
  #evicted = 0;
  #promised = 0;

  constructor(context: SnapshotContext, onRejected: RestoreOptions['onRejected']) {
    this.#context = context;
    this.#onRejected = onRejected;
  }

  get result(): RestoreResult {
    const restored = this.#restored;
    const rejected = this.#rejected;
    const missing = Math.max(0, this.#promised - restored - rejected);
    return { restored, rejected, reasons: this.#reasons, evicted: this.#evicted, missing };
  }

  async read(line: string): Promise<void> {
    this.#lines++;
    if (line === '' || this.#readHeader(line)) return;
    const { memory, codec, clock, profileOf } = this.#context;
    const now = clock.now();
    const { record, rejected, origin } = { origin: undefined, ...(await codec.decode(line, now)) };
    if (record === undefined) this.#reject(rejected ?? 'damaged', origin);
    else if (isExpired(record, profileOf(record.origin), now)) this.#reject('expired', record.origin);
    else {
      const evicted = memory.restore(record);
      if (evicted === undefined) this.#reject('older', record.origin);
      else {
        this.#restored++;
        this.#evicted += evicted;
      }
    }
  }

  /** Snapshots may be concatenated, so there may be several headers. */
  #readHeader(line: string): boolean {
    const origins = promisedOrigins(line);
    this.#promised += origins ?? 0;
    return origins !== undefined;
  }

  #reject(reason: RestoreRejection, origin: string | undefined): void {
    this.#rejected++;
    this.#reasons[reason] = (this.#reasons[reason] ?? 0) + 1;
    this.#onRejected?.({ line: this.#lines, reason, ...(origin === undefined ? {} : { origin }) });
  }
}

/** Whether the record is of no more use. The age of a copy alone is no reason: the profile may use it without end. */
export function isExpired(record: OriginRecord, profile: Profile, now: number): boolean {
  return record.copy === undefined && retentionMs(record, profile, now) === 0;
}
