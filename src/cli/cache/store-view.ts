import { existsSync } from 'node:fs';
import { type OriginRecord, profiles } from '../../lifecycle/index.ts';
import { type LmdbStore, lmdbStore } from '../../store/lmdb/lmdb.ts';
import { type Asker, readRecordKey, RecordCodec, type Rejection } from '../../store/index.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../base/index.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { quoted } from '../../report/text/index.ts';
import { readProfile } from '../frame/settings.ts';
import { UsageError } from '../../report/index.ts';

/** An entry of a store that is a record, or should be one. */
export interface Kept {
  readonly key: string;
  readonly asker: Asker;
  readonly origin: string;
  readonly expiresAt: number;
  readonly record: OriginRecord | undefined;
  /** Why a client would not take it. */
  readonly rejected: Rejection | undefined;
}

/** A store, and how its records are read. */
export interface StoreView extends AsyncDisposable {
  readonly store: LmdbStore;
  readonly codec: RecordCodec;
  /** @param whose Only those of such askers. */
  records(whose: Partial<Asker>): AsyncIterable<Kept>;
}

/** @throws UsageError when there is none, unless it is to be made. */
export function openStoreView(given: ParsedArguments, mayBeMade: boolean): StoreView {
  const path = given.values.get('store')?.[0];
  if (path === undefined) {
    throw new UsageError(
      'Expected --store FOLDER, got none; name the folder that lmdbStore({ path }) is given',
    );
  }
  if (!mayBeMade && !existsSync(path)) {
    throw new UsageError(
      `Expected --store to be the folder of a store, got ${quoted(path)}; there is no such`,
    );
  }
  const profile = profiles[readProfile(given)];
  const store = lmdbStore({ path });
  const codec = new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf: () => profile });
  return {
    store,
    codec,
    async *records(whose) {
      for await (const { key, value, expiresAt } of store.entries()) {
        const named = readRecordKey(key);
        if (named === undefined) continue;
        const { origin, ...asker } = named;
        if ((whose.token ?? asker.token) !== asker.token) continue;
        if ((whose.addressPolicy ?? asker.addressPolicy) !== asker.addressPolicy) continue;
        const { record, rejected } = await codec.decode(value, Date.now(), origin);
        yield { key, asker, origin, expiresAt, record, rejected };
      }
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}
