import { type ProfileName, profiles, recordedAt, retentionMs } from '../../lifecycle/index.ts';
import { isExpired, promisedOrigins, type RestoreRejection } from '../../cache/index.ts';
import { type CacheNamespace, namespaceKey, storeKey } from '../../store/index.ts';
import type { CommandStore } from './command-store.ts';

/** Counts of imported and rejected snapshot lines. */
export interface Imported {
  readonly imported: number;
  readonly rejected: number;
  readonly reasons: Readonly<Partial<Record<RestoreRejection, number>>>;
  /** Records that the snapshot header announced but the snapshot does not contain. */
  readonly missing: number;
}

/** Imports the lines of a snapshot into a store. A record in the store that is at least as new is kept. */
export async function importSnapshot(
  lines: AsyncIterable<string>,
  { store, codec }: CommandStore,
  { namespace, profile }: { readonly namespace: CacheNamespace; readonly profile: ProfileName },
): Promise<Imported> {
  const reasons: Partial<Record<RestoreRejection, number>> = {};
  let [imported, rejected, promised] = [0, 0, 0];

  const take = async (line: string): Promise<RestoreRejection | undefined> => {
    const now = Date.now();
    const { record, rejected: why } = await codec.decode(line, now);
    if (record === undefined) return why ?? 'damaged';
    if (isExpired(record, profiles[profile], now)) return 'expired';
    const key = storeKey('record', namespaceKey(namespace), record.origin);
    const { record: known } = await codec.decode(await store.get(key), now, record.origin);
    if (known !== undefined && recordedAt(known) >= recordedAt(record)) return 'older';
    const ttlMs = Math.max(1, retentionMs(record, profiles[profile], now));
    await store.set(key, codec.encode(record), { ttlMs });
    return undefined;
  };

  for await (const text of lines) {
    const line = text.trimEnd();
    const header = promisedOrigins(line);
    promised += header ?? 0;
    if (line === '' || header !== undefined) continue;
    const reason = await take(line);
    if (reason === undefined) imported++;
    else {
      rejected++;
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
  }
  return { imported, rejected, reasons, missing: Math.max(0, promised - imported - rejected) };
}
