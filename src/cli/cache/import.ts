import { mapConcurrent } from '../../base/index.ts';
import { type RestoreRejection, SnapshotReader } from '../../cache/snapshot.ts';
import {
  type OriginRecord,
  type ProfileName,
  profiles,
  recordedAt,
  retentionMs,
} from '../../lifecycle/index.ts';
import { type CacheNamespace, namespaceKey, storeKey } from '../../store/index.ts';
import type { CommandStore } from './command-store.ts';

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

/** As many as an embedded store writes in one transaction. */
const CONCURRENCY = 256;

/** Imports the lines of a snapshot into a store. A record in the store that is at least as new is kept. */
export async function importSnapshot(
  lines: AsyncIterable<string>,
  { codec, read, write }: CommandStore,
  { namespace, profile: name }: { readonly namespace: CacheNamespace; readonly profile: ProfileName },
): Promise<Imported> {
  const profile = profiles[name];
  const put = async (record: OriginRecord): Promise<boolean> => {
    const key = storeKey('record', namespaceKey(namespace), record.origin);
    const { record: known } = await read(key, record.origin);
    if (known !== undefined && recordedAt(known) >= recordedAt(record)) return false;
    await write(key, record, Math.max(1, retentionMs(record, profile, Date.now())));
    return true;
  };
  /** The work under way, by origin: a snapshot may have an origin twice. */
  const underWay = new Map<string, Promise<boolean>>();
  const keep = (record: OriginRecord): Promise<boolean> => {
    const { origin } = record;
    const before = underWay.get(origin);
    const work = before === undefined ? put(record) : before.then(() => put(record));
    underWay.set(origin, work);
    return work.finally(() => underWay.get(origin) === work && underWay.delete(origin));
  };
  let refusal: { readonly error: unknown } | undefined;
  const keepOrNote = async (record: OriginRecord): Promise<boolean> => {
    try {
      return await keep(record);
    } catch (error) {
      refusal ??= { error };
      throw error;
    }
  };
  const reader = new SnapshotReader({ codec, profileOf: () => profile, now: Date.now, keep: keepOrNote });
  const readLine = (line: string): Promise<void> => reader.read(line.trimEnd());
  try {
    for await (const isRead of mapConcurrent(lines, { concurrency: CONCURRENCY }, readLine)) void isRead;
  } catch (error) {
    if (refusal === undefined) throw error;
  }
  const { kept: imported, ...counts } = reader.counts;
  return { imported, ...counts, ...refusal };
}
