import { type OriginRecord, type Profile, retentionMs } from '../lifecycle/index.ts';
import {
  func,
  abortSignal,
  type Check,
  type Clock,
  omitUndefined,
  invalid,
  yieldToEventLoop,
  optionTable,
  orAborted,
  untilAborted,
} from '../base/index.ts';
import type { OriginMemory } from './origin-memory.ts';
import type { Rejection } from '../store/record/record-codec.ts';
import { RECORD_VERSION, type RecordCodec } from '../store/record/record-codec.ts';

/**
 * The reason why a line of a snapshot was not restored. `expired`: the record is no longer useful. `older`: memory has a
 * later record.
 */
export type RestoreRejection = Rejection | 'expired' | 'older';

export interface RestoreOptions {
  /** Stops after the current line and rejects with the signal's reason. Restored lines stay. */
  readonly signal?: AbortSignal;
  /**
   * Called for each line that is not restored. Lines are 1-based. If it throws, or returns a promise that rejects, the
   * call rejects; such a promise is awaited.
   */
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
  /** Origins evicted by restored ones, restored themselves or not. */
  readonly evicted: number;
  /** Lines that a header announced and that are missing. */
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
    await yieldToEventLoop();
    // A snapshot that ended early would look complete.
    context.assertOpen();
  }
}

/** The header of a snapshot. */
export function snapshotHeader(origins: number, takenAt: number): string {
  return `${JSON.stringify({ snapshot: 'canfetch', v: RECORD_VERSION, origins, takenAt })}\n`;
}

/** The number of records that a header promises; `undefined` if the line is not a header. */
function promisedOrigins(line: string): number | undefined {
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
  const { memory, codec, clock, profileOf } = context;
  let evicted = 0;
  const keep = (record: OriginRecord): boolean => {
    const more = memory.restore(record);
    evicted += more ?? 0;
    return more !== undefined;
  };
  const reader = new SnapshotReader({
    codec,
    profileOf,
    now: () => clock.now(),
    keep,
    onRejected: onRejected && ((rejection) => orAborted(Promise.resolve(onRejected(rejection)), ending)),
  });
  let length = 0;
  for await (const text of givenLines(lines, ending)) {
    for (const line of String(text).replace(/\n$/, '').split('\n')) {
      ending.throwIfAborted();
      await reader.read(line.trimEnd());
      length += line.length;
      if (length < YIELD_EVERY_CHARACTERS) continue;
      length = 0;
      await yieldToEventLoop();
    }
  }
  ending.throwIfAborted();
  const { kept: restored, ...counts } = reader.counts;
  return { restored, ...counts, evicted };
}

/** The lines as they arrive, until `signal` aborts. A string holds all lines. */
function givenLines(
  lines: Iterable<string> | AsyncIterable<string>,
  signal: AbortSignal,
): Iterable<string> | AsyncIterable<string> {
  if (typeof lines === 'string') return [lines];
  return Symbol.asyncIterator in lines ? untilAborted(lines, signal) : lines;
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
  signal: abortSignal,
  onRejected: func(),
} satisfies Readonly<Record<keyof RestoreOptions, Check>>);

/** What a reader of a snapshot does with its records. */
export interface SnapshotTarget {
  readonly codec: RecordCodec;
  readonly profileOf: (origin: string) => Profile;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Keeps a record; `false` when there is one at least as late. */
  readonly keep: (record: OriginRecord) => boolean | Promise<boolean>;
  readonly onRejected?: RestoreOptions['onRejected'] | undefined;
}

/** Reads the lines of a snapshot into memory or into a store, and counts the results. */
export class SnapshotReader {
  readonly #target: SnapshotTarget;
  readonly #reasons: Partial<Record<RestoreRejection, number>> = {};
  #lines = 0;
  #kept = 0;
  #rejected = 0;
  #promised = 0;

  constructor(target: SnapshotTarget) {
    this.#target = target;
  }

  get counts(): Pick<RestoreResult, 'rejected' | 'reasons' | 'missing'> & { readonly kept: number } {
    const [kept, rejected] = [this.#kept, this.#rejected];
    const missing = Math.max(0, this.#promised - kept - rejected);
    return { kept, rejected, reasons: this.#reasons, missing };
  }

  /** Reads a line. Rejects as `keep` and `onRejected` of the target do. */
  async read(line: string): Promise<void> {
    const number = ++this.#lines;
    if (line === '' || this.#readHeader(line)) return;
    const { codec, profileOf, now, keep } = this.#target;
    const { record, rejected, origin } = { origin: undefined, ...codec.decode(line, now()) };
    if (record === undefined) await this.#reject(number, rejected ?? 'damaged', origin);
    else if (isExpired(record, profileOf(record.origin), now())) {
      await this.#reject(number, 'expired', record.origin);
    } else if (await keep(record)) this.#kept++;
    else await this.#reject(number, 'older', record.origin);
  }

  /** Snapshots may be concatenated, so there may be several headers. */
  #readHeader(line: string): boolean {
    const origins = promisedOrigins(line);
    this.#promised += origins ?? 0;
    return origins !== undefined;
  }

  async #reject(line: number, reason: RestoreRejection, origin: string | undefined): Promise<void> {
    this.#rejected++;
    this.#reasons[reason] = (this.#reasons[reason] ?? 0) + 1;
    await this.#target.onRejected?.({ line, reason, ...omitUndefined({ origin }) });
  }
}

/** Whether the record is no longer useful. The age of a copy alone is no reason: the profile may use it without end. */
function isExpired(record: OriginRecord, profile: Profile, now: number): boolean {
  return record.copy === undefined && retentionMs(record, profile, now) === 0;
}
