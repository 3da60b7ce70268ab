import type { Session } from '../../report/index.ts';
import { Output } from '../../report/text/index.ts';
import { shells } from '../frame/choices.ts';
import type { ParsedArguments, Program } from '../frame/command.ts';
import { type ExitCode, exitCode } from '../frame/exit-code.ts';
import { onlyOperand } from '../frame/settings.ts';
import { notAmong } from '../frame/suggestion.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const scripts: Readonly<Record<(typeof shells)[number], (program: Program) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Prints the completion script of a shell. */
export async function printCompletion(
  given: ParsedArguments,
  session: Session,
  program: Program,
): Promise<ExitCode> {
  const wanted = onlyOperand(given, `a shell (${shells.join(', ')})`);
  const shell = shells.find((each) => each === wanted);
  if (shell === undefined) throw notAmong('a shell', shells, wanted);
  const output = new Output(session.stdout);
  await output.write(scripts[shell](program));
  await output.release();
  return exitCode.success;
}
