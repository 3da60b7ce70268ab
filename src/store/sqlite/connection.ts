/** The part of a database connection that is used: of `node:sqlite`, `bun:sqlite` or a package with their interface. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): unknown;
}

export type SqliteValue = string | number | Uint8Array;

/** Opens a connection. */
export type Connect = (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
