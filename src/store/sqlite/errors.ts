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
  // The low octet of an extended code is the code.
  if (typeof number === 'number') return (number & 0xff) === code;
  return typeof given === 'string' && given.startsWith(name);
}
