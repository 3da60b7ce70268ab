import type { Session } from '../../report/session.ts';
import { Output } from '../../report/text/output.ts';
import { quoted } from '../../report/text/printable.ts';
import { UsageError } from '../../report/usage-error.ts';
import { commands, defaultCommand } from '../commands.ts';
import { shells } from '../frame/choices.ts';
import type { ParsedArguments } from '../frame/command.ts';
import { type ExitCode, exitCode } from '../frame/exit-code.ts';
import { onlyOperand } from '../frame/settings.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import type { CompletionTable } from './words.ts';
import { zshCompletion } from './zsh.ts';

const scripts: Readonly<Record<(typeof shells)[number], (table: CompletionTable) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Prints the script of a shell. */
export async function printCompletion(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const wanted = onlyOperand(given, `a shell (${shells.join(', ')})`);
  const shell = shells.find((each) => each === wanted);
  if (shell === undefined) {
    throw new UsageError(`Expected a shell (${shells.join(', ')}), got ${quoted(wanted)}`);
  }
  const output = new Output(session.stdout);
  await output.write(scripts[shell]({ commands, defaultCommand }));
  await output.release();
  return exitCode.success;
}
