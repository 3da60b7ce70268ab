import {
  type ConclusiveAnswer,
  type AnswerHeaders,
  type Copy,
  type Failure,
  type OriginRecord,
  type Profile,
  refreshAheadAt,
  type RobotsSource,
  sourceOf,
} from '../lifecycle/index.ts';
import { heldBytes } from '../rules/held-bytes.ts';
import { parseRobots, type RobotsFile } from '../rules/index.ts';

/** A record in memory with the objects derived from it. A new record makes a new entry. */
export class CacheEntry {
  readonly record: OriginRecord;
  readonly profile: Profile;
  #parsed: RobotsFile | undefined;
  #fromMemory: RobotsSource | undefined;
  #answerHeld = false;
  #copyHeld = false;
  /** The value of {@link sizeBytes} when the cache last read it. */
  countedBytes = 0;
  #countedChanges: number | undefined;
  readonly #recordBytes: number;
  /** Start and end of the time in which fresh rules are in force and no refresh is due. */
  readonly #quietFrom: number;
  readonly #quietUntil: number;

  constructor(record: OriginRecord, profile: Profile, previous?: CacheEntry) {
    this.record = record;
    this.profile = profile;
    this.#recordBytes = bytesOf(record);
    const { answer } = record;
    const quiet = answer?.kind === 'rules' && record.copy !== undefined && record.failure === undefined;
    this.#quietFrom = quiet ? answer.fetchedAt : 0;
    this.#quietUntil = quiet ? refreshAheadAt(answer) : 0;
    // A 304, or a failure beside a good copy, does not change the file, so its compiled rules are kept.
    if (
      previous !== undefined &&
      previous.record.copy?.body === record.copy?.body &&
      previous.profile === profile
    ) {
      this.#parsed = previous.#parsed;
    }
  }

  /** The file of the good copy, parsed on first use. */
  get file(): RobotsFile | undefined {
    return this.#parsed ?? this.#parse();
  }

  /** Whether fresh rules are in force at `now` and no refresh is due. This is the usual case, and implies a file. */
  isQuietAt(now: number): boolean {
    return now < this.#quietUntil && now >= this.#quietFrom;
  }

  /**
   * The source of decisions: the answer, or, after the lifetime of the answer, the failure that followed it.
   * `copyHolds`: whether the rules of the copy decide. The object is shared by all decisions until it changes with
   * time.
   */
  source(source: RobotsSource['source'], answerHolds: boolean, copyHolds: boolean): RobotsSource {
    if (source !== 'memory') return sourceOf(this.record, source, answerHolds, copyHolds);
    const held = this.#fromMemory;
    if (held !== undefined && this.#answerHeld === answerHolds && this.#copyHeld === copyHolds) return held;
    this.#answerHeld = answerHolds;
    this.#copyHeld = copyHolds;
    return (this.#fromMemory = sourceOf(this.record, source, answerHolds, copyHolds));
  }

  #parse(): RobotsFile | undefined {
    const { copy } = this.record;
    if (copy === undefined) return undefined;
    return (this.#parsed = parseRobots(copy.body, { dialect: this.profile.dialect }));
  }

  /** Stores {@link sizeBytes} and returns it. */
  updateSize(): number {
    this.#countedChanges = this.#parsed?.changes;
    return (this.countedBytes = this.sizeBytes);
  }

  /** Whether {@link sizeBytes} may have changed since {@link updateSize}. */
  get hasChanged(): boolean {
    return this.#parsed?.changes !== this.#countedChanges;
  }

  /** Estimated memory of the entry. It grows when the file is parsed and when rules are compiled. */
  get sizeBytes(): number {
    const parsed = this.#parsed;
    if (parsed === undefined) return this.#recordBytes;
    // A body in UTF-16 is held beside its transcoding.
    return (
      this.#recordBytes +
      heldBytes(parsed) -
      (parsed.bytes === this.record.copy?.body ? parsed.bytes.length : 0)
    );
  }
}

/*
 * The memory of these in V8, in bytes; `npm run bench -- memory` compares it with the memory of the process. An entry
 * is reckoned with its place in the cache.
 */
const ENTRY_BYTES = 420;
const COPY_BYTES = 330;
const LAST_BYTES = 130;
const HEADERS_BYTES = 90;
const STRING_BYTES = 20;
const DIGEST_BYTES = 84;
const REDIRECT_BYTES = 60;

/** Length of the header fields kept with the file. They are bounded, but a hostile server uses all of the bound. */
function bytesOf({ origin, answer, failure, copy }: OriginRecord): number {
  return (
    ENTRY_BYTES + origin.length + copyBytes(copy, answer?.headers) + lastBytes(answer) + lastBytes(failure)
  );
}

function copyBytes(copy: Copy | undefined, headers: AnswerHeaders = {}): number {
  if (copy === undefined) return 0;
  let bytes = COPY_BYTES + copy.body.length + (copy.sha256 === undefined ? 0 : DIGEST_BYTES);
  // Those of the answer that brought the copy are the same strings.
  for (const name of ['etag', 'lastModified', 'contentType'] as const)
    if (copy[name] !== headers[name]) bytes += STRING_BYTES + (copy[name]?.length ?? 0);
  return bytes;
}

function lastBytes(last: ConclusiveAnswer | Failure | undefined): number {
  if (last === undefined) return 0;
  let bytes = LAST_BYTES + STRING_BYTES + last.finalUrl.length;
  if (last.headers !== undefined) {
    bytes += HEADERS_BYTES;
    for (const field of Object.values(last.headers)) bytes += STRING_BYTES + field.length;
  }
  for (const { url, location } of last.redirects ?? [])
    bytes += REDIRECT_BYTES + url.length + location.length;
  return bytes;
}
