import { omitUndefined, escapeForTerminal, SCHEMA_VERSION } from '../../../core/base/index.ts';
import type { OriginPolicy, PolicyFile } from '../../../core/decision/index.ts';
import type { UrlExplanation } from '../explanation.ts';
import type { TargetResult } from '../input/targets.ts';

/**
 * Renders a result as a line of NDJSON: `schemaVersion`, `input` (the URL as written), `line` when it came from
 * standard input, and then either all fields of the decision or `error: { code, message }`.
 */
export function renderRecord(result: TargetResult): string {
  const { input, line } = result.target;
  const inputJson = textJson(input);
  const head = `{"schemaVersion":${SCHEMA_VERSION},"input":${inputJson}${line === undefined ? '' : `,"line":${line}`}`;
  if ('error' in result) return `${head},"error":${objectJson(result.error)}}\n`;
  return `${head}${fieldsJson(result.decision, input, inputJson)}}\n`;
}

/** The last value of each field, and its text. Results of a list share most values with the result before them. */
const lastTexts = new Map<string, { value: unknown; text: string }>();

/** Renders the fields of `record`, each after a comma. `knownJson` saves rendering the frequent value `known` again. */
function fieldsJson<Fields extends object>(record: Fields, known: string, knownJson: string): string {
  let json = '';
  for (const name in record) {
    const value: unknown = record[name];
    if (value === undefined) continue;
    if (value === known) {
      json += `,"${name}":${knownJson}`;
      continue;
    }
    const last = lastTexts.get(name);
    if (last?.value === value) {
      json += last.text;
      continue;
    }
    const text = `,"${name}":${name === 'rule' ? objectJson(value) : valueJson(value)}`;
    if (last === undefined) lastTexts.set(name, { value, text });
    else [last.value, last.text] = [value, text];
    json += text;
  }
  return json;
}

/** A policy as plain data: without the parsed file and its bytes. */
type PolicyData = Omit<OriginPolicy, 'rules' | 'file'> & {
  readonly dialect?: string;
  readonly file?: Omit<PolicyFile, 'body'>;
};

/** Converts a policy to plain data. */
export function policyRecord({ rules, file, ...policy }: OriginPolicy): PolicyData {
  const dialect = omitUndefined({ dialect: rules?.dialect });
  if (file === undefined) return { ...policy, ...dialect };
  const { body: _, ...described } = file;
  return { ...policy, ...dialect, file: described };
}

/** Converts an explanation to plain data. */
export function explanationRecord(input: string, explanation: UrlExplanation): object {
  const { decision, policy, file: _, ...circumstances } = explanation;
  return { input, ...decision, ...circumstances, policy: policy && policyRecord(policy) };
}

/** Text that needs no escape in JSON or for a terminal. */
const PLAIN = /^[ !#-[\]-~]*$/;

function textJson(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : escapeForTerminal(JSON.stringify(text));
}

function valueJson(value: unknown): string {
  if (typeof value === 'string') return textJson(value);
  return typeof value === 'object' && value !== null ? sharedJson(value) : JSON.stringify(value);
}

/**
 * JSON of the objects that decisions of an origin share: group and robots.txt source. Each object is rendered once. The
 * map is weak, so that the text is freed with its object. Each decision has a rule of its own.
 */
const sharedTexts = new WeakMap<object, string>();

function sharedJson(value: object): string {
  let json = sharedTexts.get(value);
  if (json === undefined) sharedTexts.set(value, (json = objectJson(value)));
  return json;
}

function objectJson(value: unknown): string {
  return escapeForTerminal(JSON.stringify(value));
}
