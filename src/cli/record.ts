import type { Answer } from '../report/ruling.ts';
import { jsonLine } from '../report/text/json.ts';

/**
 * An answer as a line of NDJSON: `schemaVersion`, `input` (the URL as it was written), `line` when it came from
 * standard input, and then either all fields of the decision or `error: { code, message }`.
 */
export function renderRecord(answer: Answer): string {
  const { input, line } = answer.target;
  const head = { input, ...(line === undefined ? {} : { line }) };
  return jsonLine('error' in answer ? { ...head, error: answer.error } : { ...head, ...answer.ruling });
}
