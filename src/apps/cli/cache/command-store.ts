import { existsSync } from 'node:fs';
import {
  type OriginRecord,
  profiles,
  type ProfileName,
  recordedAt,
  retentionMs,
} from '../../../core/lifecycle/index.ts';
import {
  type CacheNamespace,
  readRecordKey,
  type Rejection,
  namespaceKey,
  storeKey,
  RecordCodec,
} from '../../../core/store/record/record-codec.ts';
import { DEFAULT_MAX_BODY_BYTES, mapConcurrent, quoted } from '../../../core/base/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { openStore, type OpenedStore } from '../frame/open-client.ts';
import { isRedisUrl } from '../frame/store-option.ts';
import { UsageError } from '../../answers/session.ts';
import { readProfile, readStore } from '../frame/settings.ts';
import { type RestoreRejection, SnapshotReader } from '../../../core/cache/snapshot.ts';

/** An entry of a store whose key names a record. `record` is absent when its value cannot be read. */
export interface StoredItem {
  readonly key: string;
  readonly namespace: CacheNamespace;
  readonly origin: string;
  readonly expiresAt: number;
  readonly record: OriginRecord | undefined;
  /** Why a client would reject the record. */
  readonly rejected: Rejection | undefined;
}

/** An open store, with the codec of its records. */
export interface CommandStore extends AsyncDisposable {
  readonly store: OpenedStore['store'];
  readonly codec: RecordCodec;
  /** The record that is written in a value, or why a client would reject it. */
  decode(value: unknown, origin?: string): ReturnType<RecordCodec['decode']>;
  /**
   * @param whose Restricts the records to namespaces with these fields.
   * @param origins Restricts the records to these origins; none: to all.
   */
  records(
    whose: Partial<CacheNamespace>,
    origins: readonly string[],
    signal: AbortSignal,
  ): AsyncIterable<StoredItem>;
}

/**
 * Opens the store that `--store` names.
 *
 * @param access What the command does. One that reads never creates, renames or replaces a database.
 * @throws UsageError when `--store` is absent or of an unknown kind, or when the file does not exist and must not be created.
 */
export async function openCommandStore(
  given: ParsedArguments,
  access: 'read' | 'write' | 'create',
): Promise<CommandStore> {
  const named = readStore(given);
  if (named === undefined) {
    throw new UsageError(
      'Expected --store STORE, got none; give the file that is the `path` of sqliteStore(), or redis://HOST:PORT',
    );
  }
  if (!isRedisUrl(named) && access !== 'create' && !existsSync(named)) {
    throw new UsageError(`Expected --store to be an existing file, got ${quoted(named)}; check the path`);
  }
  const profile = profiles[readProfile(given)];
  const { store, close } = await openStore(named, access === 'read' ? 'throw' : 'rename');
  const codec = new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf: () => profile });
  const decode: CommandStore['decode'] = (value, origin) => codec.decode(value, Date.now(), origin);
  return {
    store,
    codec,
    decode,
    async *records(whose, origins, signal) {
      const wanted = new Set(origins);
      const isWanted = (key: string): boolean => {
        const { origin, token, addressPolicy } = readRecordKey(key) ?? {};
        if (origin === undefined || (wanted.size > 0 && !wanted.has(origin))) return false;
        return (whose.token ?? token) === token && (whose.addressPolicy ?? addressPolicy) === addressPolicy;
      };
      for await (const { key, value, expiresAt } of store.entries(isWanted)) {
        signal.throwIfAborted();
        const named = readRecordKey(key);
        if (named === undefined) continue;
        const { origin, ...namespace } = named;
        const { record, rejected } = decode(value, origin);
        yield { key, namespace, origin, expiresAt, record, rejected };
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Counts of imported and rejected snapshot lines. */
export interface Imported {
  readonly imported: number;
  readonly rejected: number;
  readonly reasons: Readonly<Partial<Record<RestoreRejection, number>>>;
  /** Records that the snapshot header announced but the snapshot does not contain. */
  readonly missing: number;
  /** The error of the store that ended the import. */
  readonly error?: unknown;
}

/** SQLite writes so many in one transaction. */
const CONCURRENCY = 256;

/** Imports the lines of a snapshot into a store. A record in the store that is at least as new is kept. */
export async function importSnapshot(
  lines: AsyncIterable<string>,
  { codec, decode, store }: CommandStore,
  { namespace, profile: name }: { readonly namespace: CacheNamespace; readonly profile: ProfileName },
): Promise<Imported> {
  const profile = profiles[name];
  /** The error of the store, as opposed to one of the lines. */
  let refusal: { readonly error: unknown } | undefined;
  const keep = async (record: OriginRecord): Promise<boolean> => {
    try {
      const key = storeKey('record', namespaceKey(namespace), record.origin);
      const { record: known } = decode(await store.get(key), record.origin);
      if (known !== undefined && recordedAt(known) >= recordedAt(record)) return false;
      const ttlMs = Math.max(1, retentionMs(record, profile, Date.now()));
      // A snapshot may have an origin twice: the store keeps the later response.
      await store.set(key, codec.encode(record), { ttlMs, recordedAt: recordedAt(record) });
      return true;
    } catch (error) {
      refusal ??= { error };
      throw error;
    }
  };
  const reader = new SnapshotReader({ codec, profileOf: () => profile, now: Date.now, keep });
  const readLine = (line: string): Promise<void> => reader.read(line.trimEnd());
  try {
    for await (const isRead of mapConcurrent(lines, { concurrency: CONCURRENCY }, readLine)) void isRead;
  } catch (error) {
    if (refusal === undefined) throw error;
  }
  const { kept: imported, ...counts } = reader.counts;
  return { imported, ...counts, ...refusal };
}
