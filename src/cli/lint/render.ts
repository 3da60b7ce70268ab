import type { LoadedRobots } from '../../report/input/index.ts';
import type { LintLine } from '../../report/schema.ts';
import { count, fileName, type Palette, printable, wrap } from '../../report/text/index.ts';
import { type Dialect, lint, parseRobots, type Severity } from '../../rules/index.ts';
import { describeDiagnostic } from '../../rules/lint/describe-diagnostic.ts';

/** A diagnostic with its message. */
export type Finding = Omit<LintLine, 'schemaVersion'>;

/** The findings for one operand. */
export interface LintedFile {
  readonly loaded: LoadedRobots;
  /** The octets that were linted. */
  readonly bytes: Uint8Array;
  readonly findings: readonly Finding[];
}

/** Lints a file. A missing robots.txt has no findings. */
export function lintLoaded(loaded: LoadedRobots, dialect: Dialect): LintedFile {
  if (loaded.kind === 'none') return { loaded, bytes: new Uint8Array(0), findings: [] };
  const file = parseRobots(loaded.body, { dialect });
  const findings = lint(file).map((diagnostic): Finding => {
    const { message, hint } = describeDiagnostic(diagnostic);
    return { file: loaded.name, ...diagnostic, message, hint };
  });
  return { loaded, bytes: file.bytes, findings };
}

/** Bounds a message, which quotes up to 100 octets of the file and adds a sentence or two. */
const MAX_SENTENCE = 1_000;

/** Renders the findings of one file for people, as `FILE:LINE:COLUMN`, which editors and terminals turn into links. */
export function renderFile({ findings }: LintedFile, colours: Palette, width: number | undefined): string {
  return findings.map((finding) => renderFinding(finding, colours, width)).join('');
}

function renderFinding(finding: Finding, colours: Palette, width: number | undefined): string {
  const { file, line, column, severity, code, message, hint } = finding;
  const style = styles[severity];
  const place = colours.strong(`${fileName(file)}:${line}:${column}`);
  const room = width === undefined ? undefined : Math.max(24, width - 2);
  const text = [message, hint].flatMap((sentence) => wrap(printable(sentence, MAX_SENTENCE), room));
  return `${[
    `${place}  ${colours[style](severity)}  ${colours.faint(code)}`,
    ...text.map((each) => `  ${each}`),
  ].join('\n')}\n`;
}

const styles: Readonly<Record<Severity, 'bad' | 'unsure' | 'faint'>> = {
  error: 'bad',
  warning: 'unsure',
  info: 'faint',
};

/** Renders the number of findings by severity, and the number of files. */
export function renderSummary(linted: readonly LintedFile[]): string {
  const files = linted.filter(({ loaded }) => loaded.kind === 'file').length;
  if (files === 0) return '';
  const tally: Record<Severity, number> = { error: 0, warning: 0, info: 0 };
  for (const { findings } of linted) {
    for (const { severity, omitted = 0 } of findings) tally[severity] += 1 + omitted;
  }
  const { error, warning, info } = tally;
  return `${count(error, 'error')}, ${count(warning, 'warning')}, ${count(info, 'note')} in ${count(files, 'file')}\n`;
}
