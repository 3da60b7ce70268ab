import { type OriginRecord, profiles } from '../../lifecycle/index.ts';
import type { EmbeddedStore } from '../../store/lmdb/lmdb.ts';
import { type CacheNamespace, readRecordKey, RecordCodec, type Rejection } from '../../store/index.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../base/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { openPathStore, storeExists, urlScheme } from '../frame/path-store.ts';
import { quoted } from '../../report/text/index.ts';
import { readProfile } from '../frame/settings.ts';
import { UsageError } from '../../report/index.ts';

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

/** An open store, with the codec that reads its records. */
export interface CommandStore extends AsyncDisposable {
  readonly store: EmbeddedStore;
  readonly codec: RecordCodec;
  /** @param whose Restricts the records to namespaces with these fields. */
  records(whose: Partial<CacheNamespace>): AsyncIterable<StoredItem>;
}

/**
 * Opens the store that `--store` names.
 *
 * @param mayBeMade Whether to create the folder when it does not exist.
 * @throws UsageError when `--store` is absent, or when the folder does not exist and must not be created.
 */
export async function openCommandStore(given: ParsedArguments, mayBeMade: boolean): Promise<CommandStore> {
  const path = given.values.get('store')?.[0];
  if (path === undefined) {
    throw new UsageError(
      'Expected --store STORE, got none; give the folder that is the `path` of lmdbStore(), or sqlite:FILE',
    );
  }
  const scheme = urlScheme(path);
  if (scheme !== undefined) {
    throw new UsageError(
      `Expected --store to be a folder or sqlite:FILE, got a URL (${scheme}://); \`cache\` works on stores of this machine`,
    );
  }
  if (!mayBeMade && !storeExists(path)) {
    throw new UsageError(
      `Expected --store to be an existing folder, or sqlite: and an existing file, got ${quoted(path)}; check the path`,
    );
  }
  const profile = profiles[readProfile(given)];
  const store = await openPathStore(path);
  const codec = new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf: () => profile });
  return {
    store,
    codec,
    async *records(whose) {
      for await (const { key, value, expiresAt } of store.entries()) {
        const named = readRecordKey(key);
        if (named === undefined) continue;
        const { origin, ...namespace } = named;
        if ((whose.token ?? namespace.token) !== namespace.token) continue;
        if ((whose.addressPolicy ?? namespace.addressPolicy) !== namespace.addressPolicy) continue;
        const { record, rejected } = await codec.decode(value, Date.now(), origin);
        yield { key, namespace, origin, expiresAt, record, rejected };
      }
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}
