import type {
  RobotsResponseHeaders,
  ConclusiveResponse,
  Copy,
  Failure,
  OriginRecord,
  Profile,
} from '../lifecycle/index.ts';
import { KnownOrigin } from '../decision/index.ts';
import type { RobotsFile } from '../rules/index.ts';

/** An origin in memory, with an estimate of its size. */
export class CacheEntry extends KnownOrigin {
  /** The value of {@link sizeBytes} when the cache last read it. */
  countedBytes = 0;
  #countedChanges: number | undefined;
  readonly #recordBytes: number;

  constructor(record: OriginRecord, profile: Profile, previous?: CacheEntry) {
    super(record, profile, previous);
    this.#recordBytes = bytesOf(record);
  }

  /** Stores {@link sizeBytes} and returns it. */
  updateSize(): number {
    this.#countedChanges = this.parsed?.changes;
    return (this.countedBytes = this.sizeBytes);
  }

  /** Whether {@link sizeBytes} may have changed since {@link updateSize}. */
  get hasChanged(): boolean {
    return this.parsed?.changes !== this.#countedChanges;
  }

  /** Estimated memory of the entry. It grows when the file is parsed and when rules are compiled. */
  get sizeBytes(): number {
    const { parsed } = this;
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
 * The memory of these in V8, in bytes; `npm run bench -- memory` compares it with the memory of the process. The
 * size of an entry includes its slot in the cache.
 */
const ENTRY_BYTES = 300;
const COPY_BYTES = 355;
const LAST_BYTES = 125;
const HEADERS_BYTES = 32;
const FIELD_BYTES = 10;
const STRING_BYTES = 20;
const DIGEST_BYTES = 84;
const REDIRECT_BYTES = 60;

/** Length of the header fields kept with the file. They are bounded, but a hostile server uses all of the bound. */
function bytesOf({ origin, answer, failure, copy }: OriginRecord): number {
  return (
    ENTRY_BYTES + origin.length + copyBytes(copy, answer?.headers) + lastBytes(answer) + lastBytes(failure)
  );
}

function copyBytes(copy: Copy | undefined, headers: RobotsResponseHeaders = {}): number {
  if (copy === undefined) return 0;
  let bytes = COPY_BYTES + copy.body.length + (copy.sha256 === undefined ? 0 : DIGEST_BYTES);
  // The response that brought the copy shares these strings.
  for (const name of ['etag', 'lastModified', 'contentType'] as const)
    if (copy[name] !== headers[name]) bytes += STRING_BYTES + (copy[name]?.length ?? 0);
  return bytes;
}

function lastBytes(last: ConclusiveResponse | Failure | undefined): number {
  if (last === undefined) return 0;
  let bytes = LAST_BYTES + STRING_BYTES + last.finalUrl.length;
  if (last.headers !== undefined) {
    bytes += HEADERS_BYTES;
    for (const field of Object.values(last.headers)) bytes += FIELD_BYTES + STRING_BYTES + field.length;
  }
  for (const { url, location } of last.redirects ?? [])
    bytes += REDIRECT_BYTES + url.length + location.length;
  return bytes;
}

/*
 * The memory that V8 uses for these objects and their fields, in bytes. `npm run bench -- memory` compares the sum with
 * the memory of the process.
 */
const FILE_BYTES = 230;
const AGENTS_BYTES = 200;
const AGENT_BYTES = 40;
const RULESET_BYTES = 330;
const GROUP_BYTES = 230;

/** Estimated memory of a file in bytes, body included. It changes with `file.changes`. */
export function heldBytes(file: RobotsFile): number {
  const { bytes, ruleset, rulesets } = file;
  let held = FILE_BYTES + bytes.length;
  if (rulesets !== undefined) held += AGENTS_BYTES + rulesets.size * AGENT_BYTES;
  // Agents that no group names share one ruleset.
  const different = new Set(rulesets?.values());
  if (ruleset !== undefined) different.add(ruleset);
  for (const each of different) held += rulesetBytes(each);
  return held;
}

function rulesetBytes({ byteLength, group }: NonNullable<RobotsFile['ruleset']>): number {
  return (
    RULESET_BYTES +
    byteLength +
    (group === undefined || Object.isFrozen(group) ? 0 : GROUP_BYTES + group.lines.length * 8)
  );
}
