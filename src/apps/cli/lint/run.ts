import { layoutOf, readFormat, onlineSettings } from '../frame/settings.ts';
import { profiles } from '../../../core/lifecycle/index.ts';
import { absenceOf, readsStdin, RobotsLoader } from '../../answers/input/index.ts';
import { type Session, UsageError } from '../../answers/index.ts';
import type { LintLine } from '../../answers/schema.ts';
import { jsonLine, Output } from '../../answers/text/index.ts';
import type { Severity } from '../../../core/rules/index.ts';
import { severities } from '../frame/options.ts';
import {
  type ParsedArguments,
  type AnswerExitCode,
  type ExitCode,
  exitCode,
  mostSevere,
} from '../frame/command.ts';
import { interruptible } from '../frame/interruptible.ts';
import { openClient } from '../frame/open-client.ts';
import { renderFile, renderSummary, type LintedFile, lintLoaded, lintSarif } from './render.ts';

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
  const { colours, width } = layoutOf(given, session);
  return interruptible(session, { readsStdin: readsStdin(operands) }, async (signal) => {
    await using loader = new RobotsLoader({
      openClient: (maxBodyBytes) => openClient(settings, session, { maxBodyBytes }),
      session,
      signal,
      maxBytes: LINTED_BYTES,
    });
    const output = new Output(session.stdout);
    const linted: LintedFile[] = [];
    for (const operand of operands) {
      const file = lintLoaded(await loader.load(operand), dialect);
      linted.push(file);
      const absence = absenceOf(file.loaded);
      if (absence !== undefined && format !== 'sarif') session.stderr.write(`canfetch: ${absence}\n`);
      if (format === 'text') await output.write(renderFile(file, colours, width));
      if (format === 'json')
        for (const finding of file.findings) await output.write(jsonLine<LintLine>(finding));
    }
    if (format === 'text') await output.write(renderSummary(linted));
    if (format === 'sarif') await output.write(lintSarif(linted));
    await output.release();
    return codeOf(linted, given.values.get('fail-on')?.[0] ?? 'warning');
  });
}

function codeOf(linted: readonly LintedFile[], failOn: string): AnswerExitCode {
  const bad: readonly Severity[] =
    failOn === 'never' ? [] : severities.slice(0, severities.findIndex((each) => each === failOn) + 1);
  let code: AnswerExitCode = exitCode.success;
  for (const { loaded, findings } of linted) {
    if (findings.some(({ severity }) => bad.includes(severity))) code = mostSevere(code, exitCode.negative);
    if (loaded.kind === 'none' && loaded.policy.reason === 'unreachable')
      code = mostSevere(code, exitCode.undecided);
  }
  return code;
}
