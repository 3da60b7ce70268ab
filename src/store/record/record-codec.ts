import { crc32 } from 'node:zlib';
import {
  noLaterThan,
  validateRecord,
  type RecordFault,
  type OriginRecord,
  type Profile,
} from '../../lifecycle/index.ts';
import { originOf } from '../../url/index.ts';
import type { StoredEntry } from './record-schema.ts';

/** Raised whenever an older reader would misread what a newer one writes. Also part of every key. */
export const RECORD_VERSION = 2;

/**
 * Why an entry is not taken. `damaged`: it is not what was written, or was never a record; `version`: of another
 * version of this package; `origin`: about another origin; `too-large`: more than a file may have, or cut at a lower
 * limit than ours.
 */
export type Rejection = 'damaged' | 'version' | 'origin' | 'too-large' | RecordFault;

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
    const { keepCopyOnUnavailableMs } = profileOf(record.origin);
    const { copy } = record;
    const stored =
      copy === undefined ? record : { ...record, copy: { ...copy, body: storedBody(copy.body) } };
    const rest = JSON.stringify({ record: stored, maxBodyBytes, keepCopyOnUnavailableMs }).slice(1);
    return `{"v":${RECORD_VERSION},"sum":${crc32(rest)},${rest}`;
  }

  /**
   * Reads an entry about `origin`, or about whichever origin it names. What is not quite right is rejected. The first
   * call loads the schema, and zod with it.
   */
  async decode(entry: unknown, now: number, origin?: string): Promise<Decoded> {
    if (typeof entry !== 'string') return { rejected: 'damaged' };
    if (entry.length > this.maxLength) return { rejected: 'too-large' };
    const head = HEAD.exec(entry);
    if (head === null) return { rejected: versionOf(entry) === undefined ? 'damaged' : 'version' };
    if (Number(head[1]) !== RECORD_VERSION) return { rejected: 'version' };
    const rest = entry.slice(head[0].length);
    if (crc32(rest) !== Number(head[2])) return { rejected: 'damaged' };
    const { storedEntry } = await (schemaModule ??= import('./record-schema.ts'));
    const stored = storedEntry.safeParse(parseJson(`{${rest}`)).data;
    if (stored === undefined) return { rejected: 'damaged' };
    const { record } = stored;
    const named = record.origin;
    if (named !== (origin ?? canonicalOrigin(named))) return { rejected: 'origin' };
    const rejected = this.reject(stored) ?? validateRecord(record, this.options.profileOf(named), now);
    return rejected === undefined ? { record: noLaterThan(record, now) } : { rejected, origin: named };
  }

  /** What a record does not show by itself. */
  private reject({ record, ...writer }: StoredEntry): Rejection | undefined {
    const { maxBodyBytes, profileOf } = this.options;
    const { origin, answer, copy } = record;
    // With a lower limit than ours a rule may have been left out that we would have read.
    const isCutEarly = copy?.truncated === true && writer.maxBodyBytes < maxBodyBytes;
    if (isCutEarly || (copy?.body.length ?? 0) > maxBodyBytes) return 'too-large';
    // Whoever wrote it may have thrown a copy away that the profile here would go on using.
    const { keepCopyOnUnavailableMs } = profileOf(origin);
    const keptShorter = writer.keepCopyOnUnavailableMs < keepCopyOnUnavailableMs;
    return answer?.kind === 'unavailable' && keptShorter ? 'profile' : undefined;
  }
}

/** Loaded when the first entry is read: a client without a store and snapshots never needs it. */
let schemaModule: Promise<typeof import('./record-schema.ts')> | undefined;

/** A BOM is part of the file. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text where it is no longer than base64, after what JSON escapes; a store may compress it. */
function storedBody(body: Uint8Array): string | { readonly base64: string } {
  const base64Length = Math.ceil(body.length / 3) * 4 + 2;
  try {
    const text = utf8.decode(body);
    if (Buffer.byteLength(JSON.stringify(text)) <= base64Length) return text;
  } catch {
    // Octets that are no UTF-8.
  }
  return { base64: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64') };
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
