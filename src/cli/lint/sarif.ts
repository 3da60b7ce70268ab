import { VERSION } from '../../base/index.ts';
import { absenceOf, type LoadedRobots } from '../../report/input/index.ts';
import { escapeForTerminal } from '../../report/text/index.ts';
import type { Severity } from '../../rules/index.ts';
import { describeDiagnostic } from '../../rules/lint/describe-diagnostic.ts';
import type { Finding, LintedFile } from './render.ts';
import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const LF = 0x0a;

const CR = 0x0d;

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Converts columns counted in octets to UTF-16 code units. Callers must ask for lines in ascending order. */
class Utf16Columns {
  private readonly bytes: Uint8Array;
  private line = 1;
  private start: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    // Columns of the first line start after a byte order mark.
    this.start = BYTE_ORDER_MARK.every((octet, index) => bytes[index] === octet) ? BYTE_ORDER_MARK.length : 0;
  }

  /** Converts a column; both numbers are 1-based. `line` must not be less than in the call before. */
  of(line: number, column: number): number {
    for (; this.line < line && this.start < this.bytes.length; this.start++) {
      const octet = this.bytes[this.start];
      if (octet === LF || (octet === CR && this.bytes[this.start + 1] !== LF)) this.line++;
    }
    return decoder.decode(this.bytes.subarray(this.start, this.start + column - 1)).length + 1;
  }
}

/** Renders findings as a SARIF 2.1.0 log (OASIS standard of 2020), the format of code scanning services. */
export function sarifLog(linted: readonly LintedFile[]): string {
  const rules = rulesOf(linted);
  const files = linted.filter(({ loaded }) => loaded.kind === 'file');
  const failures = linted.flatMap(({ loaded }) => {
    const failed = loaded.kind === 'none' && loaded.policy.reason === 'unreachable';
    return failed ? [{ level: 'error', message: { text: absenceOf(loaded) ?? '' } }] : [];
  });
  const run = {
    tool: { driver: { name: 'canfetch', version: VERSION, rules } },
    invocations: [
      {
        executionSuccessful: failures.length === 0,
        ...(failures.length === 0 ? {} : { toolExecutionNotifications: failures }),
      },
    ],
    // SARIF §3.14.17: columns are counted in UTF-16 code units, as editors do.
    columnKind: 'utf16CodeUnits',
    artifacts: files.map(({ loaded }) => ({ location: { uri: uriOf(loaded) } })),
    results: files.flatMap((file, index) =>
      resultsOf(
        file,
        index,
        rules.map(({ id }) => id),
      ),
    ),
  };
  const log = { $schema: SCHEMA, version: '2.1.0', runs: [run] };
  return `${escapeForTerminal(JSON.stringify(log, undefined, 2))}\n`;
}

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
};

/** The diagnostic codes among the findings, each with its description. */
function rulesOf(linted: readonly LintedFile[]): { readonly id: string; readonly fullDescription: object }[] {
  const first = new Map<string, Finding>();
  for (const { findings } of linted) {
    for (const finding of findings) if (!first.has(finding.code)) first.set(finding.code, finding);
  }
  return [...first].map(([id, finding]) => ({
    id,
    shortDescription: { text: sentence(id) },
    fullDescription: { text: describeDiagnostic(finding).explanation },
    defaultConfiguration: { level: levels[finding.severity] },
  }));
}

/** `forgiven-key` → `Forgiven key`. */
function sentence(code: string): string {
  return `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('-', ' ')}`;
}

function resultsOf(
  { loaded, bytes, findings }: LintedFile,
  index: number,
  ruleIds: readonly string[],
): object[] {
  const columns = new Utf16Columns(bytes);
  return findings.map(({ code, severity, line, column, text, message, hint }) => {
    const startColumn = columns.of(line, column);
    const region = {
      startLine: line,
      startColumn,
      ...(text === '' ? {} : { endColumn: startColumn + text.length }),
    };
    return {
      ruleId: code,
      ruleIndex: ruleIds.indexOf(code),
      level: levels[severity],
      message: { text: `${message} ${hint}` },
      locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(loaded), index }, region } }],
    };
  });
}

/**
 * The URI reference of a file. It is relative for files below the working directory, because code scanning services
 * match it with paths of the repository.
 */
function uriOf(loaded: LoadedRobots): string {
  if (loaded.kind === 'file' && loaded.url !== undefined) return loaded.url;
  if (loaded.name === '-') return 'stdin';
  const path = relative(process.cwd(), loaded.name);
  if (path.startsWith('..') || isAbsolute(path)) return pathToFileURL(loaded.name).href;
  return path.split(sep).map(encodeURIComponent).join('/');
}
