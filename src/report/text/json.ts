import type { Answer } from '../ruling.ts';

/**
 * An answer as a line of NDJSON: `schemaVersion`, `input` (the URL as it was written), `line` when it came from
 * standard input, and then either all fields of the decision or `error: { code, message }`.
 */
export function renderRecord(answer: Answer): string {
  const { input, line } = answer.target;
  const head = { input, ...(line === undefined ? {} : { line }) };
  return jsonLine('error' in answer ? { ...head, error: answer.error } : { ...head, ...answer.ruling });
}

/**
 * Version of what the command prints as JSON; raised when a field changes its meaning or goes away, not when one is
 * added.
 */
const SCHEMA_VERSION = 1;

/** What JSON may hold as it is, and a terminal had better not: DEL, C1 controls, format characters, line ends. */
const UNPRINTABLE = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A line of NDJSON, headed by the version of its shape. Harmless to a terminal, and the same data as without. */
export function jsonLine(record: object): string {
  const text = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...record });
  return `${escapeForTerminal(text)}\n`;
}

/** The same JSON without characters that a terminal would act on: they stand in strings only. */
export function escapeForTerminal(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
