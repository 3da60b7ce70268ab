import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION, escapeForTerminal } from '../../../core/base/index.ts';

/** The content of a SARIF log that depends on the command. */
export interface SarifRun {
  readonly rules: readonly SarifRule[];
  /** URIs of the files that the results are about. */
  readonly artifacts: readonly string[];
  readonly results: readonly object[];
  /** Reasons why a file could not be examined. */
  readonly failures: readonly string[];
}

export interface SarifRule {
  readonly id: string;
  readonly explanation: string;
  readonly level: 'error' | 'warning' | 'note';
}

/** Renders a SARIF 2.1.0 log (OASIS standard of 2020), the format of code scanning services. */
export function sarifLog({ rules, artifacts, results, failures }: SarifRun): string {
  const run = {
    tool: { driver: { name: 'canfetch', version: VERSION, rules: rules.map(reportingDescriptor) } },
    invocations: [
      {
        executionSuccessful: failures.length === 0,
        ...(failures.length === 0
          ? {}
          : {
              toolExecutionNotifications: failures.map((text) => ({ level: 'error', message: { text } })),
            }),
      },
    ],
    // SARIF §3.14.17: columns are counted in UTF-16 code units, as editors do.
    columnKind: 'utf16CodeUnits',
    artifacts: artifacts.map((uri) => ({ location: { uri } })),
    results,
  };
  const log = { $schema: SCHEMA, version: '2.1.0', runs: [run] };
  return `${escapeForTerminal(JSON.stringify(log, undefined, 2))}\n`;
}

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/** SARIF §3.49: the description of a rule. */
function reportingDescriptor({ id, explanation, level }: SarifRule): object {
  return {
    id,
    shortDescription: { text: sentence(id) },
    fullDescription: { text: explanation },
    defaultConfiguration: { level },
  };
}

/** `forgiven-key` → `Forgiven key`. */
function sentence(code: string): string {
  return `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('-', ' ')}`;
}

/**
 * The URI reference of a file. It is relative for files below the working directory, because code scanning services
 * match it with paths of the repository.
 *
 * @param name A path, or `-` for standard input.
 * @param url The URL that the file was fetched from.
 */
export function artifactUri({ name, url }: { readonly name: string; readonly url?: string }): string {
  if (url !== undefined) return url;
  if (name === '-') return 'stdin';
  const path = relative(process.cwd(), name);
  if (path.startsWith('..') || isAbsolute(path)) return pathToFileURL(name).href;
  return path.split(sep).map(encodeURIComponent).join('/');
}
