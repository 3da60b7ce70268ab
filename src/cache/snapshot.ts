import { type OriginRecord, type Profile, retentionMs } from '../lifecycle/index.ts';
import { aFunction, anAbortSignal, type Check, type Clock, invalid, optionTable } from '../base/index.ts';
import type { OriginCache } from './origin-cache.ts';
import { RECORD_VERSION, type RecordCodec, type Rejection } from '../store/index.ts';

/** Why a line of a snapshot was not restored. `expired`: nothing uses it any more; `older`: memory knows better. */
export type RestoreRejection = Rejection | 'expired' | 'older';

export interface RestoreOptions {
  /** Stops after the line at hand and rejects with the signal's own reason. What was restored stays. */
  readonly signal?: AbortSignal;
  /** Hears of each line that is not restored. Lines are 1-based. */
  readonly onRejected?: (rejection: {
    readonly line: number;
    readonly reason: RestoreRejection;
    readonly origin?: string;
  }) => void;
}

/** What became of the lines of a snapshot. */
export interface RestoreResult {
  /** Origins taken into memory. */
  readonly restored: number;
  /** Lines that were not. */
  readonly rejected: number;
  /** How many for which reason. */
  readonly reasons: Readonly<Partial<Record<RestoreRejection, number>>>;
  /** Origins that had to leave memory to make room: restored ones, or others. */
  readonly evicted: number;
  /** Lines that the snapshot's first line promised and that did not come. */
  readonly missing: number;
}

export interface SnapshotContext {
  readonly cache: OriginCache;
  readonly codec: RecordCodec;
  readonly clock: Clock;
  readonly profileOf: (origin: string) => Profile;
  /** @throws RobotsClosedError (`ERR_ROBOTS_CLOSED`) */
  readonly assertOpen: () => void;
}

/** Text handled without letting anybody else have a turn. */
const TURN_LENGTH = 256 * 1_024;
const HEADER = '{"snapshot":';

/**
 * What memory holds at this moment, one line an origin, the least recently used first; ahead of them one that tells
 * how many there are. Each line ends with LF.
 */
export async function* writeSnapshot(context: SnapshotContext): AsyncGenerator<string> {
  context.assertOpen();
  const records = context.cache.records();
  yield snapshotHeader(records.length, context.clock.now());
  let length = 0;
  for (const record of records) {
    const line = context.codec.encode(record);
    yield `${line}\n`;
    length += line.length;
    if (length < TURN_LENGTH) continue;
    length = 0;
    await turn();
    // A snapshot that ends early would look like a whole one.
    context.assertOpen();
  }
}

/** The line ahead of so many records. */
export function snapshotHeader(origins: number, takenAt: number): string {
  return `${JSON.stringify({ snapshot: 'canfetch', v: RECORD_VERSION, origins, takenAt })}\n`;
}

/** How many records a line promises, if it is a header. */
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
 * Takes the lines of a snapshot into memory, where it knows no better.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export async function readSnapshot(
  lines: Iterable<string> | AsyncIterable<string>,
  context: SnapshotContext,
  options: RestoreOptions,
): Promise<RestoreResult> {
  context.assertOpen();
  restoreOptions(options, '');
  const { signal, onRejected } = options;
  signal?.throwIfAborted();
  assertLines(lines);
  const reader = new SnapshotReader(context, onRejected);
  let length = 0;
  for await (const text of typeof lines === 'string' ? [lines] : lines) {
    for (const line of String(text).replace(/\n$/, '').split('\n')) {
      signal?.throwIfAborted();
      context.assertOpen();
      await reader.read(line.trimEnd());
      length += line.length;
      if (length < TURN_LENGTH) continue;
      length = 0;
      await turn();
    }
  }
  signal?.throwIfAborted();
  context.assertOpen();
  return reader.result;
}

const restoreOptions: Check = optionTable({
  signal: anAbortSignal,
  onRejected: aFunction(),
} satisfies Readonly<Record<keyof RestoreOptions, Check>>);

function assertLines(lines: unknown): void {
  const object: object = Object(lines);
  if (Symbol.iterator in object || Symbol.asyncIterator in object) return;
  throw invalid('`lines`', 'the lines of a snapshot', lines);
}

class SnapshotReader {
  private readonly context: SnapshotContext;
  private readonly onRejected: RestoreOptions['onRejected'];
  private readonly reasons: Partial<Record<RestoreRejection, number>> = {};
  private lines = 0;
  private restored = 0;
  private rejected = 0;
  private evicted = 0;
  private promised = 0;

  constructor(context: SnapshotContext, onRejected: RestoreOptions['onRejected']) {
    this.context = context;
    this.onRejected = onRejected;
  }

  get result(): RestoreResult {
    const { restored, rejected, reasons, evicted } = this;
    const missing = Math.max(0, this.promised - restored - rejected);
    return { restored, rejected, reasons, evicted, missing };
  }

  async read(line: string): Promise<void> {
    this.lines++;
    if (line === '' || this.readHeader(line)) return;
    const { cache, codec, clock, profileOf } = this.context;
    const now = clock.now();
    const { record, rejected, origin } = { origin: undefined, ...(await codec.decode(line, now)) };
    if (record === undefined) this.reject(rejected ?? 'damaged', origin);
    else if (isExpired(record, profileOf(record.origin), now)) this.reject('expired', record.origin);
    else {
      const evicted = cache.restore(record);
      if (evicted === undefined) this.reject('older', record.origin);
      else {
        this.restored++;
        this.evicted += evicted;
      }
    }
  }

  /** Snapshots may have been put together: each has a header of its own. */
  private readHeader(line: string): boolean {
    const origins = promisedOrigins(line);
    this.promised += origins ?? 0;
    return origins !== undefined;
  }

  private reject(reason: RestoreRejection, origin: string | undefined): void {
    this.rejected++;
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    this.onRejected?.({ line: this.lines, reason, ...(origin === undefined ? {} : { origin }) });
  }
}

/** A copy is of use for as long as the profile says, which may be for ever: its age alone is no reason. */
export function isExpired(record: OriginRecord, profile: Profile, now: number): boolean {
  return record.copy === undefined && retentionMs(record, profile, now) === 0;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
