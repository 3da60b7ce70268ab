import type { Answer } from './answer.ts';

/** Version of the shape below; raised when a field changes its meaning or goes away, not when one is added. */
export const SCHEMA_VERSION = 1;

/**
 * An answer as a line of NDJSON: `schemaVersion`, `input` (the URL as it was written), `line` when it came from
 * standard input, and then either all fields of the decision or `error: { code, message }`.
 */
export function renderRecord(answer: Answer): string {
  const { input, line } = answer.target;
  const head = { schemaVersion: SCHEMA_VERSION, input, ...(line === undefined ? {} : { line }) };
  const record = 'error' in answer ? { ...head, error: answer.error } : { ...head, ...answer.ruling };
  return `${JSON.stringify(record)}\n`;
}
