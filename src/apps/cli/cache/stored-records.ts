import { existsSync } from 'node:fs';
import { DEFAULT_MAX_BODY_BYTES, quoted } from '../../../core/base/index.ts';
import { type OriginRecord, profiles, type ProfileName } from '../../../core/lifecycle/index.ts';
import {
  type CacheNamespace,
  readRecordKey,
  RecordCodec,
  type Rejection,
} from '../../../core/store/record/record-codec.ts';
import { UsageError } from '../../answers/session.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { openStore, type OpenedStore } from '../frame/open-client.ts';
import { readStore } from '../frame/settings.ts';
import { isRedisUrl } from '../frame/store-option.ts';

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

/**
 * Opens the store that `--store` names.
 *
 * @param onDamage A command that only reads never renames a database.
 * @throws UsageError when `--store` is absent or of an unknown kind, or when the file does not exist.
 */
export async function openNamedStore(
  given: ParsedArguments,
  onDamage: 'rename' | 'throw',
): Promise<OpenedStore> {
  const named = readStore(given);
  if (named === undefined) {
    throw new UsageError(
      'Expected --store STORE, got none; give the file that is the `path` of sqliteStore(), or redis://HOST:PORT',
    );
  }
  if (!isRedisUrl(named) && !existsSync(named)) {
    throw new UsageError(`Expected --store to be an existing file, got ${quoted(named)}; check the path`);
  }
  return openStore(named, onDamage);
}

export interface Selection {
  /** Restricts the records to namespaces with these fields. */
  readonly whose: Partial<CacheNamespace>;
  /** Restricts the records to these origins; none: to all. */
  readonly origins: readonly string[];
  /** Decides whether a client would reject a record. */
  readonly profile: ProfileName;
}

/** The records of a store. */
export async function* storedRecords(
  store: OpenedStore['store'],
  { whose, origins, profile }: Selection,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const codec = new RecordCodec({
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    profileOf: () => profiles[profile],
  });
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
    const { record, rejected } = codec.decode(value, Date.now(), origin);
    yield { key, namespace, origin, expiresAt, record, rejected };
  }
}
