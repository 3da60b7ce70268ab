import { createRequire } from 'node:module';
import Libsql from 'libsql';
import type { SqliteDatabase } from '../../src/stores/sqlite/sqlite.ts';

/** Whether this Node.js has `node:sqlite`. */
export const hasNodeSqlite: boolean = process.getBuiltinModule('node:sqlite') !== undefined;

/** For processes that use `node:sqlite`: Node.js calls it experimental on stderr. */
export const quietEnv = { NODE_NO_WARNINGS: '1' } as const;

/** A connection of our own to a database, with the library that the store uses here. */
export function openSqlite(path: string): SqliteDatabase {
  if (!hasNodeSqlite) return new Libsql(path);
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite');
  return new DatabaseSync(path);
}
