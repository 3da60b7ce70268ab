import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { printable, quoted } from '../../../core/base/index.ts';
import type { DamagedDatabase, RobotsStore, StoreEntry } from '../../../core/store/store.ts';
import { type Session, UsageError } from '../../answers/session.ts';

/** A store that `--store` names. */
export interface OpenedStore {
  readonly store: RobotsStore & {
    readonly damaged?: DamagedDatabase;
    entries(isWanted?: (key: string) => boolean): AsyncIterable<StoreEntry>;
    clear(): Promise<void>;
  };
  close(): Promise<void>;
}

/** Whether `--store` names a server instead of a file. */
export function isRedisUrl(store: string): boolean {
  return /^rediss?:\/\//i.test(store);
}

/** @throws UsageError for anything but a file, or the URL of a Redis or Valkey server. It may have a password, so it is not shown. */
export function assertStore(store: string): void {
  if (isRedisUrl(store)) return;
  // One letter is a drive of Windows. `redis:` counts without a slash too: a password shall not become a file.
  if (/^(?:(?:redis|valkey)s?:|[a-z][a-z0-9+.-]+:[/\\])/i.test(store)) {
    throw new UsageError(
      'Expected --store to be a file of SQLite or redis://HOST:PORT (rediss:// for TLS), got another URL; write redis:// for Valkey too',
    );
  }
  // With a slash behind it only a folder exists.
  if (/[/\\]$/.test(store) || existsSync(join(store, sep))) {
    throw new UsageError(
      `Expected --store to be a file of SQLite, got a folder; write --store ${quoted(join(store, 'robots.sqlite'))}`,
    );
  }
}

/** @param onDamage A command that reads never renames a database. */
export async function openStore(named: string, onDamage: 'rename' | 'throw'): Promise<OpenedStore> {
  if (isRedisUrl(named)) return (await import('./open-redis-store.ts')).openRedisStore(named);
  const { openSqliteStore } = await import('../../../stores/sqlite/sqlite.ts');
  const store = openSqliteStore(named, { onDamage });
  return { store, close: () => store.close() };
}

/** Warns that a damaged store was renamed, because its records are then missing. */
export function warnDamaged({ damaged }: OpenedStore['store'], session: Session): void {
  if (damaged === undefined) return;
  const { movedTo, reason } = damaged;
  session.stderr.write(
    `canfetch: the store was damaged (${printable(reason)}); it was renamed to ${printable(movedTo)}, and a new one was created\n`,
  );
}
