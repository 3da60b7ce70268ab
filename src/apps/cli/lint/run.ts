import { layoutOf, onlineSettings, readFormat } from '../frame/settings.ts';
import { profiles } from '../../../core/lifecycle/index.ts';
import { absenceOf, type LoadedRobots, assertStdinOnce } from '../../answers/input/load-robots.ts';
import { type Session, UsageError, write } from '../../answers/session.ts';
import { type Palette, wrap } from '../../answers/text/layout.ts';
import { fileName, jsonLine, printable, count } from '../../../core/base/index.ts';
import {
  type Diagnostic,
  type Dialect,
  lint,
  parseRobots,
  type Severity,
} from '../../../core/rules/index.ts';
import {
  type ResultExitCode,
  type ExitCode,
  exitCode,
  mostSevere,
  type ParsedArguments,
} from '../frame/command.ts';
import { loadRobots } from '../frame/open-client.ts';
import { WHOLE_FILE } from '../../../core/rules/lint/diagnostic.ts';
import { describeDiagnostic, type DiagnosticDescription } from '../../../core/rules/lint/findings.ts';

/** The worst first. */
const styles = { error: 'bad', warning: 'unsure', info: 'faint' } as const;

/** Ten times the bytes that crawlers read. Linting more would only repeat for each line that crawlers ignore it. */
const LINTED_BYTES = 5_120_000;

/** Lints each file in turn, and prints its findings. */
export async function lintFiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const { operands } = given;
  if (operands.length === 0) {
    throw new UsageError('Expected a file, an origin, or "-" for standard input, got none');
  }
  const format = readFormat(given);
  const settings = onlineSettings(given);
  const { dialect } = profiles[settings.profile];
  const { colours, width } = layoutOf(session);
  assertStdinOnce(operands);
  const { stdout } = session;
  const linted: LintedFile[] = [];
  for (const operand of operands) {
    const file = lintLoaded(await loadRobots(operand, settings, session, LINTED_BYTES), dialect);
    linted.push(file);
    const absence = absenceOf(file.loaded);
    if (absence !== undefined) session.stderr.write(`canfetch: ${absence}\n`);
    if (format === 'text') await write(stdout, renderFile(file, colours, width));
    if (format === 'json') for (const finding of file.findings) await write(stdout, jsonLine(finding));
  }
  if (format === 'text') await write(stdout, renderSummary(linted));
  return codeOf(linted);
}

function codeOf(linted: readonly LintedFile[]): ResultExitCode {
  let code: ResultExitCode = exitCode.success;
  for (const { loaded, findings } of linted) {
    if (findings.some(({ severity }) => severity !== 'info')) code = mostSevere(code, exitCode.negative);
    if (loaded.kind === 'none' && loaded.policy.reason === 'unreachable')
      code = mostSevere(code, exitCode.undecided);
  }
  return code;
}

/** A diagnostic with its message. */
type Finding = Diagnostic & Pick<DiagnosticDescription, 'message' | 'hint'> & { readonly file: string };

/** The findings for one operand. */
interface LintedFile {
  readonly loaded: LoadedRobots;
  readonly findings: readonly Finding[];
}

/** Lints a file. A missing robots.txt has no findings. */
function lintLoaded(loaded: LoadedRobots, dialect: Dialect): LintedFile {
  if (loaded.kind === 'none') return { loaded, findings: [] };
  const file = parseRobots(loaded.body, { dialect });
  const findings = lint(file).map((diagnostic): Finding => {
    const { message, hint } = describeDiagnostic(diagnostic);
    return { file: loaded.name, ...diagnostic, message, hint };
  });
  return { loaded, findings };
}

/** Bounds a message, which quotes up to 100 bytes of the file and adds a sentence or two. */
const MAX_SENTENCE = 1_000;

/** Findings with one hint that are shown one by one. Of the others the lines are listed. */
const MAX_OF_A_KIND = 2;
const MAX_LINES = 20;

/**
 * Renders the findings of one file as text, as `FILE:LINE:COLUMN`, which editors and terminals turn into links: what the
 * file comes to first, then by severity, then by line.
 */
function renderFile({ findings }: LintedFile, colours: Palette, width: number | undefined): string {
  const rank = ({ code, severity }: Finding): number =>
    WHOLE_FILE.has(code) ? -1 : Object.keys(styles).indexOf(severity);
  const sorted = [...findings].sort((a, b) => rank(a) - rank(b));
  const kinds = new Map<string, Finding[]>();
  for (const finding of sorted) {
    const kind = kindOf(finding);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, [finding]);
    else known.push(finding);
  }
  return sorted
    .flatMap((finding) => {
      const kind = kinds.get(kindOf(finding)) ?? [];
      const at = kind.indexOf(finding);
      if (at < MAX_OF_A_KIND) return [renderFinding(finding, colours, width)];
      return at === MAX_OF_A_KIND ? [renderOthers(kind.slice(at), colours, width)] : [];
    })
    .join('');
}

/** Findings that say the same: what is left out of the others is no more than their places. */
const kindOf = ({ severity, code, hint }: Finding): string => `${severity} ${code} ${hint}`;

function renderOthers(findings: readonly Finding[], colours: Palette, width: number | undefined): string {
  const [first, ...others] = findings;
  if (first === undefined) return '';
  if (others.length === 0) return renderFinding(first, colours, width);
  const total = findings.reduce((sum, { omitted = 0 }) => sum + 1 + omitted, 0);
  const lines = findings.slice(0, MAX_LINES).map(({ line }) => line);
  const more = total > lines.length ? ' …' : '';
  const text = `The same ${count(total, 'time')} more, on lines ${lines.join(', ')}${more}`;
  return renderFinding(first, colours, width, [text]);
}

function renderFinding(
  { file, line, column, severity, code, message, hint }: Finding,
  colours: Palette,
  width: number | undefined,
  sentences: readonly string[] = [message, hint],
): string {
  const place = colours.strong(`${fileName(file)}:${line}:${column}`);
  const room = width === undefined ? undefined : Math.max(24, width - 2);
  const text = sentences.flatMap((sentence) => wrap(printable(sentence, MAX_SENTENCE), room));
  return `${[
    `${place}  ${colours[styles[severity]](severity)}  ${colours.faint(code)}`,
    ...text.map((each) => `  ${each}`),
  ].join('\n')}\n`;
}

/** Renders the number of findings by severity, and the number of files. */
function renderSummary(linted: readonly LintedFile[]): string {
  const files = linted.filter(({ loaded }) => loaded.kind === 'file').length;
  if (files === 0) return '';
  const tally: Record<Severity, number> = { error: 0, warning: 0, info: 0 };
  for (const { findings } of linted) {
    for (const { severity, omitted = 0 } of findings) tally[severity] += 1 + omitted;
  }
  const { error, warning, info } = tally;
  return `${count(error, 'error')}, ${count(warning, 'warning')}, ${count(info, 'note')} in ${count(files, 'file')}\n`;
}
