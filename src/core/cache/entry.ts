import { KnownOrigin } from '../decision/index.ts';
import type { RobotsFile } from '../rules/index.ts';

/** An origin in memory, with an estimate of its size. */
export class CacheEntry extends KnownOrigin {
  #countedChanges: number | undefined;

  /** Estimated memory of the entry in bytes. It grows when the file is parsed and when rules are compiled. */
  countBytes(): number {
    const { parsed } = this;
    this.#countedChanges = parsed?.changes;
    const recordBytes = SLOT_BYTES + bytesOf(this.record);
    if (parsed === undefined) return recordBytes;
    // A body in UTF-16 is held beside its transcoding.
    const transcoded = parsed.bytes === this.record.copy?.body ? 0 : parsed.bytes.length;
    return recordBytes + transcoded + rulesBytes(parsed);
  }

  /** Whether the estimate may have changed since {@link countBytes}. */
  get hasChanged(): boolean {
    return this.parsed?.changes !== this.#countedChanges;
  }
}

/*
 * What engines need beside texts and bytes, more or less. `npm run bench -- memory` compares the sum with the memory of the
 * process.
 */
const SLOT_BYTES = 300;
const OBJECT_BYTES = 90;
const STRING_BYTES = 24;
const FILE_BYTES = 230;
const RULESET_BYTES = 500;

/** The texts and bytes in an object. Texts are bounded, but a hostile server uses all of the bound. */
function bytesOf(part: object): number {
  if (part instanceof Uint8Array) return 2 * OBJECT_BYTES + part.length;
  let bytes = OBJECT_BYTES;
  for (const value of Object.values(part)) {
    if (typeof value === 'string') bytes += STRING_BYTES + value.length;
    else if (typeof value === 'object') bytes += bytesOf(value);
  }
  return bytes;
}

/** The compiled rules. Agents that no group names share theirs. */
function rulesBytes({ ruleset, rulesets }: RobotsFile): number {
  let bytes = FILE_BYTES;
  for (const each of new Set([ruleset, ...(rulesets?.values() ?? [])]))
    if (each !== undefined) bytes += RULESET_BYTES + each.byteLength;
  return bytes;
}
