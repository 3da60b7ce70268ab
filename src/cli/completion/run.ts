import type { ParsedArguments } from '../command.ts';
import { shells } from '../commands/completion.ts';
import { commands, defaultCommand } from '../commands/index.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { Output } from '../output.ts';
import { quoted } from '../printable.ts';
import type { Session } from '../session.ts';
import { onlyOperand } from '../settings.ts';
import { UsageError } from '../usage-error.ts';
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
