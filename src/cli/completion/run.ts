import type { Session } from '../../report/index.ts';
import { Output } from '../../report/text/index.ts';
import type { ParsedArguments, Program } from '../frame/command.ts';
import { type ExitCode, exitCode } from '../frame/exit-code.ts';
import { notAmong } from '../frame/suggestion.ts';
import { shells } from '../frame/options.ts';
import { type Offer, offersFor } from './offers.ts';
import { stubs } from './stubs.ts';

type Shell = (typeof shells)[number];

/** Prints the script of a shell, or, behind the shell's name, what may complete the words of a command line. */
export async function printCompletion(
  { operands }: ParsedArguments,
  session: Session,
  program: Program,
): Promise<ExitCode> {
  const [wanted, ...words] = operands;
  const shell = shells.find((each) => each === wanted);
  if (shell === undefined) throw notAmong('a shell', shells, wanted);
  const output = new Output(session.stdout);
  await output.write(words.length === 0 ? stubs[shell] : answer(shell, offersFor(words, program)));
  await output.release();
  return exitCode.success;
}

function answer(shell: Shell, offers: readonly Offer[] | 'files'): string {
  if (offers === 'files') return ':files\n';
  return offers.map((offer) => `${lineOf[shell](offer)}\n`).join('');
}

/** How each shell reads a word and its description. */
const lineOf: Readonly<Record<Shell, (offer: Offer) => string>> = {
  bash: ({ word }) => word,
  zsh: ({ word, help }) => word.replaceAll(':', String.raw`\:`) + (help === undefined ? '' : `:${help}`),
  fish: ({ word, help }) => (help === undefined ? word : `${word}\t${help}`),
};
