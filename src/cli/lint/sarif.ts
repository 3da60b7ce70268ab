import { absenceOf } from '../../report/input/index.ts';
import type { Severity } from '../../rules/index.ts';
import { describeDiagnostic } from '../../rules/lint/describe-diagnostic.ts';
import { artifactUri, sarifLog, type SarifRule } from '../frame/sarif.ts';
import type { Finding, LintedFile } from './render.ts';

const LF = 0x0a;

const CR = 0x0d;

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Converts columns counted in octets to UTF-16 code units. Callers must ask for lines in ascending order. */
class Utf16Columns {
  readonly #bytes: Uint8Array;
  #line = 1;
  #start: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    // Columns of the first line start after a byte order mark.
    this.#start = BYTE_ORDER_MARK.every((octet, index) => bytes[index] === octet)
      ? BYTE_ORDER_MARK.length
      : 0;
  }

  /** Converts a column; both numbers are 1-based. `line` must not be less than in the call before. */
  of(line: number, column: number): number {
    for (; this.#line < line && this.#start < this.#bytes.length; this.#start++) {
      const octet = this.#bytes[this.#start];
      if (octet === LF || (octet === CR && this.#bytes[this.#start + 1] !== LF)) this.#line++;
    }
    return decoder.decode(this.#bytes.subarray(this.#start, this.#start + column - 1)).length + 1;
  }
}

/** Renders findings as a SARIF log. */
export function lintSarif(linted: readonly LintedFile[]): string {
  const rules = rulesOf(linted);
  const ruleIds = rules.map(({ id }) => id);
  const files = linted.filter(({ loaded }) => loaded.kind === 'file');
  return sarifLog({
    rules,
    artifacts: files.map(({ loaded }) => artifactUri(loaded)),
    results: files.flatMap((file, index) => resultsOf(file, index, ruleIds)),
    failures: linted.flatMap(({ loaded }) =>
      loaded.kind === 'none' && loaded.policy.reason === 'unreachable' ? [absenceOf(loaded) ?? ''] : [],
    ),
  });
}

const levels: Readonly<Record<Severity, SarifRule['level']>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
};

/** The diagnostic codes among the findings, each with its description. */
function rulesOf(linted: readonly LintedFile[]): readonly SarifRule[] {
  const first = new Map<string, Finding>();
  for (const { findings } of linted) {
    for (const finding of findings) if (!first.has(finding.code)) first.set(finding.code, finding);
  }
  return [...first].map(([id, finding]) => ({
    id,
    explanation: describeDiagnostic(finding).explanation,
    level: levels[finding.severity],
  }));
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
      locations: [{ physicalLocation: { artifactLocation: { uri: artifactUri(loaded), index }, region } }],
    };
  });
}
