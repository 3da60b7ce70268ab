import { type Diagnostic, type Dialect, lint, parseRobots } from '../../rules/index.ts';
import { describeDiagnostic } from '../../rules/lint/describe-diagnostic.ts';
import type { LoadedRobots } from '../../report/input/load-robots.ts';

/** A diagnostic in words, in the file it is about. */
export interface Finding extends Diagnostic {
  readonly file: string;
  readonly message: string;
  readonly hint: string;
}

/** What came of one operand. */
export interface LintedFile {
  readonly loaded: LoadedRobots;
  /** The octets that were read. */
  readonly bytes: Uint8Array;
  readonly findings: readonly Finding[];
}

/** What is the matter with a file; with none that there is not. */
export function lintLoaded(loaded: LoadedRobots, dialect: Dialect): LintedFile {
  if (loaded.kind === 'none') return { loaded, bytes: new Uint8Array(0), findings: [] };
  const file = parseRobots(loaded.body, { dialect });
  const findings = lint(file).map((diagnostic): Finding => {
    const { message, hint } = describeDiagnostic(diagnostic);
    return { file: loaded.name, ...diagnostic, message, hint };
  });
  return { loaded, bytes: file.bytes, findings };
}
