import { createRequire } from 'node:module';
import { describe } from 'vitest';
import type { SqliteDatabase } from '../../src/stores/sqlite/sqlite.ts';

interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/** `node:sqlite`; `undefined` in Node.js before 22.13. */
export const nodeSqlite: NodeSqlite | undefined = loadSqlite();

function loadSqlite(): NodeSqlite | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 13)) {
    process.stderr.write(`Skipped: Node.js ${process.version} has no SQLite\n`);
    return undefined;
  }
  return createRequire(import.meta.url)('node:sqlite') as NodeSqlite;
}

/** `describe`, where Node.js has SQLite. CI runs these tests on the later lines of Node.js. */
export const describeWithSqlite: typeof describe | typeof describe.skip =
  nodeSqlite === undefined ? describe.skip : describe;

/** For processes that use `node:sqlite`: Node.js calls it experimental on stderr. */
export const quietEnv = { NODE_NO_WARNINGS: '1' } as const;

/** A connection of our own to a database. */
export function openSqlite(path: string): SqliteDatabase {
  if (nodeSqlite === undefined) throw new Error('Node.js has no SQLite');
  return new nodeSqlite.DatabaseSync(path);
}
