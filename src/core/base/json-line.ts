/**
 * Version of the JSON output. It is raised when a field changes its meaning or is removed, not when a field is added.
 */
export const SCHEMA_VERSION = 1;

/** Characters that JSON allows but terminals may interpret: DEL, C1 controls, format characters, line ends. */
const UNPRINTABLE = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu;

interface Versioned {
  readonly schemaVersion: 1;
}

/** The fields of a line without its version. JSON leaves out fields that are undefined. */
export type Unversioned<Line> = Line extends unknown
  ? { [Name in keyof Line as Exclude<Name, 'schemaVersion'>]: Line[Name] | MayLack<Line, Name> }
  : never;
type MayLack<Line, Name extends keyof Line> = object extends Pick<Line, Name> ? undefined : never;

/**
 * Renders a line of NDJSON that starts with `schemaVersion`. Its escapes are safe for terminals and keep the data. The
 * type of the line must be given: `apps/answers/schema.ts` describes those of the command.
 */
export function jsonLine<Line extends Versioned = never>(record: NoInfer<Unversioned<Line>>): string {
  const text = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...record });
  return `${escapeForTerminal(text)}\n`;
}

/** Escapes the characters of JSON that a terminal may interpret. They occur only in strings, so escapes are valid. */
export function escapeForTerminal(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
