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

/** Result codes of SQLite (`sqlite3.h`), with their names. */
export const SQLITE_BUSY = [5, 'SQLITE_BUSY'] as const;
export const SQLITE_CORRUPT = [11, 'SQLITE_CORRUPT'] as const;
export const SQLITE_NOTADB = [26, 'SQLITE_NOTADB'] as const;

/**
 * Whether an error has a result code, or an extended form of it. `node:sqlite` gives the number as `errcode`,
 * `bun:sqlite` as `errno`, `better-sqlite3` the name as `code`.
 */
export function hasCode(error: unknown, [code, name]: readonly [code: number, name: string]): boolean {
  const {
    errcode,
    errno,
    code: given,
  }: Partial<Record<'errcode' | 'errno' | 'code', unknown>> = Object(error);
  const number = errcode ?? errno;
  // The low byte of an extended code is the code.
  if (typeof number === 'number') return (number & 0xff) === code;
  return typeof given === 'string' && given.startsWith(name);
}
