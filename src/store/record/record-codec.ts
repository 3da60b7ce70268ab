import { crc32 } from 'node:zlib';
import {
  noLaterThan,
  objection,
  type Objection,
  type OriginRecord,
  type Profile,
} from '../../lifecycle/index.ts';
import { originOf } from '../../url/index.ts';
import { readStoredRecord, type StoredRecord } from './stored-record.ts';
import { toRecord, toStored } from './convert.ts';

/** Raised whenever an older reader would misread what a newer one writes. Also part of every key. */
export const RECORD_VERSION = 1;

/**
 * Why an entry is not taken. `damaged`: it is not what was written, or was never a record; `version`: of another
 * version of this package; `origin`: about another origin; `too-large`: more than a file may have, or cut at a lower
 * limit than ours.
 */
export type Rejection = 'damaged' | 'version' | 'origin' | 'too-large' | Objection;

export type Decoded =
  | { readonly record: OriginRecord; readonly rejected?: undefined }
  | { readonly record?: undefined; readonly rejected: Rejection; readonly origin?: string };

export interface RecordCodecOptions {
  readonly maxBodyBytes: number;
  readonly profileOf: (origin: string) => Profile;
}

/** Of everything in a record but the file. */
const MAX_REST_LENGTH = 256 * 1_024;
const HEAD = /^\{"v":(\d{1,9}),"sum":(\d{1,10}),/;

/**
 * Origin records as text: JSON, headed by its version and a checksum of what follows. The checksum does not make it
 * safe from those who mean harm; but a value that was cut, transcoded or mixed up on the way would otherwise be a
 * robots.txt that nobody wrote, and may well allow what the site's own does not.
 */
export class RecordCodec {
  private readonly options: RecordCodecOptions;
  private readonly maxLength: number;

  constructor(options: RecordCodecOptions) {
    this.options = options;
    // Text is only chosen where it is shorter than base64.
    this.maxLength = Math.ceil((options.maxBodyBytes * 4) / 3) + MAX_REST_LENGTH;
  }

  encode(record: OriginRecord): string {
    const { maxBodyBytes, profileOf } = this.options;
    const keptMs = profileOf(record.origin).keepCopyOnUnavailableMs;
    const rest = JSON.stringify(toStored(record, { maxBodyBytes, keptMs })).slice(1);
    return `{"v":${RECORD_VERSION},"sum":${crc32(rest)},${rest}`;
  }

  /** Reads an entry about `origin`, or about whichever origin it names. What is not quite right is rejected. */
  decode(entry: unknown, now: number, origin?: string): Decoded {
    if (typeof entry !== 'string') return { rejected: 'damaged' };
    if (entry.length > this.maxLength) return { rejected: 'too-large' };
    const head = HEAD.exec(entry);
    if (head === null) return { rejected: versionOf(entry) === undefined ? 'damaged' : 'version' };
    if (Number(head[1]) !== RECORD_VERSION) return { rejected: 'version' };
    const rest = entry.slice(head[0].length);
    if (crc32(rest) !== Number(head[2])) return { rejected: 'damaged' };
    const stored = readStoredRecord(parseJson(`{${rest}`));
    if (stored === undefined) return { rejected: 'damaged' };
    const named = stored.origin;
    if (named !== (origin ?? canonicalOrigin(named))) return { rejected: 'origin' };
    const rejected = this.reject(stored);
    if (rejected !== undefined) return { rejected, origin: named };
    const record = toRecord(stored);
    if (record === undefined) return { rejected: 'damaged', origin: named };
    const against = objection(record, this.options.profileOf(named), now);
    return against === undefined
      ? { record: noLaterThan(record, now) }
      : { rejected: against, origin: named };
  }

  /** What a record does not show by itself. */
  private reject({ origin, answer, copy, keptMs = 0 }: StoredRecord): Rejection | undefined {
    const { maxBodyBytes } = this.options;
    // With a lower limit than ours a rule may have been left out that we would have read.
    if (copy !== undefined && (copy.octets > maxBodyBytes || (copy.cutAt ?? Infinity) < maxBodyBytes)) {
      return 'too-large';
    }
    // Whoever wrote it may have thrown a copy away that the profile here would go on using.
    const { keepCopyOnUnavailableMs } = this.options.profileOf(origin);
    return answer?.kind === 'unavailable' && keptMs < keepCopyOnUnavailableMs ? 'profile' : undefined;
  }
}

function versionOf(entry: string): number | undefined {
  const value = parseJson(entry);
  const version: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'v') : undefined;
  return typeof version === 'number' && version !== RECORD_VERSION ? version : undefined;
}

function canonicalOrigin(text: string): string | undefined {
  try {
    return originOf(text);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
