import { builtin } from '../../base/index.ts';
import {
  clampToNow,
  validateRecord,
  type RecordFault,
  type OriginRecord,
  type Profile,
} from '../../lifecycle/index.ts';
import { bodyJson, readStoredRecord, type StoredRecord } from './record-schema.ts';

/** Raise this with every change of what is written: of two versions under one key each would reject, and overwrite, the other's. */
export const RECORD_VERSION = 4;

/**
 * The key of a record or a lease: the record's version, the cache namespace, and the origin. Records and leases have
 * keys of their own, so that a store can keep both in the same way.
 */
export function storeKey(kind: 'record' | 'lease', namespace: string, origin: string): string {
  return `v${RECORD_VERSION}:${kind}:${namespace}:${origin}`;
}

/**
 * The key of the slots and pauses of a scope. All clients share them, whatever their namespace. They have a version of
 * their own: two keys are two schedules, so that a fleet which is half upgraded would ask a site too often. Raise it only
 * when their meaning changes.
 */
export function slotKey(scope: string): string {
  return `slot:v1:${scope}`;
}

/** The cache namespace: clients share records only if these are equal. */
export interface CacheNamespace {
  /** Product token of the requests. Sites respond to crawlers differently. */
  readonly token: string;
  /** A stricter policy must not use a response from an address that it would have refused. */
  readonly addressPolicy: string;
}

/** The namespace as a part of {@link storeKey}. */
export function namespaceKey({ token, addressPolicy }: CacheNamespace): string {
  return `${token.toLowerCase()}:${addressPolicy}`;
}

const RECORD_KEY = new RegExp(`^v${RECORD_VERSION}:record:([^:]*):([^:]*):(.+)$`, 's');

/** The namespace and the origin of a record's key; `undefined` for any other key or version. */
export function readRecordKey(key: string): (CacheNamespace & { readonly origin: string }) | undefined {
  const [, token, addressPolicy, origin] = RECORD_KEY.exec(key) ?? [];
  if (token === undefined || addressPolicy === undefined || origin === undefined) return undefined;
  return { token, addressPolicy, origin };
}

/**
 * The reason why an entry is rejected. `damaged`: it is not a record, or not as written. `version`: from another
 * version of this package. `origin`: about another origin. `too-large`: larger than the limit of a file, or cut at a
 * lower limit than ours.
 */
export type Rejection = 'damaged' | 'version' | 'origin' | 'too-large' | RecordFault;

export type Decoded =
  | { readonly record: OriginRecord; readonly rejected?: undefined }
  | { readonly record?: undefined; readonly rejected: Rejection };

export interface RecordCodecOptions {
  readonly maxBodyBytes: number;
  readonly profileOf: (origin: string) => Profile;
}

/** The most characters of a record without its file. */
const MAX_REST_LENGTH = 256 * 1_024;
/** The ends of a copy, a record and an entry. */
const ENDS = '}}}';
const HEAD = /^\{"v":(\d{1,9}),"sum":(\d{1,10}),/;

/**
 * Origin records as text: JSON after its version and a checksum. The checksum gives no protection against an
 * attacker. It finds values that were cut, transcoded or mixed up, which could otherwise allow what the site's file
 * disallows.
 */
export class RecordCodec {
  readonly #options: RecordCodecOptions;
  readonly #maxLength: number;

  constructor(options: RecordCodecOptions) {
    this.#options = options;
    // A body is stored as text only if that is shorter than base64.
    this.#maxLength = Math.ceil((options.maxBodyBytes * 4) / 3) + MAX_REST_LENGTH;
  }

  encode(record: OriginRecord): string {
    const { maxBodyBytes, profileOf } = this.#options;
    const { keepCopyOnUnavailableMs } = profileOf(record.origin);
    const writer = { maxBodyBytes, keepCopyOnUnavailableMs };
    const { copy, ...others } = record;
    if (copy === undefined) return summed(JSON.stringify({ ...writer, record: others }).slice(1));
    const { body, ...described } = copy;
    // The copy comes last, and its body last in the copy.
    const json = JSON.stringify({ ...writer, record: { ...others, copy: described } });
    return summed(`${json.slice(1, -ENDS.length)},"body":`, bodyJson(body), ENDS);
  }

  /** Decodes an entry about `origin`. Anything invalid is rejected. */
  decode(entry: unknown, now: number, origin: string): Decoded {
    if (typeof entry !== 'string') return { rejected: 'damaged' };
    if (entry.length > this.#maxLength) return { rejected: 'too-large' };
    const head = HEAD.exec(entry);
    if (head === null) return { rejected: versionOf(entry) === undefined ? 'damaged' : 'version' };
    if (Number(head[1]) !== RECORD_VERSION) return { rejected: 'version' };
    const rest = entry.slice(head[0].length);
    if (crc32(rest) !== Number(head[2])) return { rejected: 'damaged' };
    const stored = readStoredRecord(parseJson(`{${rest}`));
    if (stored === undefined) return { rejected: 'damaged' };
    const { record } = stored;
    if (record.origin !== origin) return { rejected: 'origin' };
    const rejected = this.#reject(stored) ?? validateRecord(record, this.#options.profileOf(origin), now);
    return rejected === undefined ? { record: clampToNow(record, now) } : { rejected };
  }

  /** Rejects records because of the settings of their writer. */
  #reject({ record, ...writer }: StoredRecord): Rejection | undefined {
    const { maxBodyBytes, profileOf } = this.#options;
    const { origin, answer, copy } = record;
    // Under a lower limit than ours, a rule may be missing that we would have read.
    const isCutEarly = copy?.truncated === true && writer.maxBodyBytes < maxBodyBytes;
    if (isCutEarly || (copy?.body.length ?? 0) > maxBodyBytes) return 'too-large';
    // The writer may have dropped a copy that our profile would still use.
    const { keepCopyOnUnavailableMs } = profileOf(origin);
    const keptShorter = writer.keepCopyOnUnavailableMs < keepCopyOnUnavailableMs;
    return answer?.kind === 'unavailable' && keptShorter ? 'profile' : undefined;
  }
}

/** An entry, of parts in JSON. Nothing is copied here: the text becomes one when it is converted to bytes. */
function summed(start: string, body = '', end = ''): string {
  const sum = crc32(end, crc32(body, crc32(start)));
  return `{"v":${RECORD_VERSION},"sum":${sum},${start}${body}${end}`;
}

function versionOf(entry: string): number | undefined {
  const value = parseJson(entry);
  const version: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'v') : undefined;
  return typeof version === 'number' && version !== RECORD_VERSION ? version : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The CRC-32 of a text in UTF-8 (ISO 3309, as in gzip and in zlib's `crc32`), or of a text after that with the sum
 * `before`.
 */
export const crc32: (text: string, before?: number) => number = builtin('node:zlib')?.crc32 ?? crc32OfText;

/** {@link crc32} for platforms without `node:zlib`. The polynomial is 0xEDB88320, with its bits reversed. */
export function crc32OfText(text: string, before = 0): number {
  let remainder = ~before;
  for (const byte of new TextEncoder().encode(text)) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ ((remainder & 1) * 0xedb88320);
  }
  return ~remainder >>> 0;
}
