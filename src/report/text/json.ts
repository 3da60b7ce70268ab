import type { Answer } from '../answer.ts';

/**
 * An answer as a line of NDJSON: `schemaVersion`, `input` (the URL as it was written), `line` when it came from
 * standard input, and then either all fields of the decision or `error: { code, message }`.
 */
export function renderRecord(answer: Answer): string {
  const { input, line } = answer.target;
  const inputJson = textJson(input);
  const head = `{"schemaVersion":${SCHEMA_VERSION},"input":${inputJson}${line === undefined ? '' : `,"line":${line}`}`;
  if ('error' in answer) return `${head},"error":${objectJson(answer.error)}}\n`;
  return `${head}${fieldsJson(answer.decision, input, inputJson)}}\n`;
}

/** The fields of `record`, each behind a comma. `known` is a value that stands there often; its JSON is at hand. */
function fieldsJson<Fields extends object>(record: Fields, known: string, knownJson: string): string {
  let json = '';
  for (const name in record) {
    const value: unknown = record[name];
    if (value !== undefined) json += `,"${name}":${value === known ? knownJson : valueJson(value)}`;
  }
  return json;
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

/** Characters that stand in JSON, and before a terminal, as they are. */
const PLAIN = /^[ !#-[\]-~]*$/;

function textJson(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : escapeForTerminal(JSON.stringify(text));
}

function valueJson(value: unknown): string {
  if (typeof value === 'string') return textJson(value);
  return typeof value === 'object' && value !== null ? keptJson(value) : JSON.stringify(value);
}

/**
 * What decisions of an origin share is one object: its rule, its group, where its robots.txt came from. It is written as
 * JSON once, and its text goes when it does.
 */
const kept = new WeakMap<object, string>();

function keptJson(value: object): string {
  let json = kept.get(value);
  if (json === undefined) kept.set(value, (json = objectJson(value)));
  return json;
}

function objectJson(value: object): string {
  return escapeForTerminal(JSON.stringify(value));
}
