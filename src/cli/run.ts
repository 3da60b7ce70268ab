import { isNear, isRobotsError, VERSION } from '../base/index.ts';
import { readArguments } from './frame/arguments.ts';
import type { Command } from './frame/command.ts';
import { commands, defaultCommand } from './commands.ts';
import { type ExitCode, exitCode } from './frame/exit-code.ts';
import { commandHelp, programHelp } from './frame/help.ts';
import { BrokenPipeError, Output, printable, quoted, widthOf } from '../report/text/index.ts';
import type { Session } from '../report/index.ts';
import { UsageError } from '../report/usage-error.ts';

/** Runs `canfetch` with the arguments of `session`. Never rejects: it reports errors and resolves with an exit code. */
export async function run(session: Session): Promise<ExitCode> {
  // A closed standard error must not end the run.
  session.stderr.on('error', () => undefined);
  try {
    return await dispatch(session);
  } catch (error) {
    if (session.signal.aborted) return exitCode.interrupted;
    if (error instanceof BrokenPipeError) return exitCode.brokenPipe;
    session.stderr.write(`canfetch: ${explain(error)}\n`);
    return isUsage(error) ? exitCode.usage : exitCode.failure;
  }
}

async function dispatch(session: Session): Promise<ExitCode> {
  const [first = '', ...rest] = session.argv;
  const named = commands.find(({ name }) => name === first);
  if (named === undefined && /^[a-z][a-z-]*$/i.test(first)) throw unknownCommand(first);
  const command = named ?? defaultCommand;
  const given = readArguments(command, named === undefined ? session.argv : rest);
  if (given.switches.has('help')) return print(session, helpFor(named, widthOf(session.stdout)));
  if (given.switches.has('version')) return print(session, `${VERSION}\n`);
  return command.run(given, session, { commands, defaultCommand });
}

function helpFor(named: Command | undefined, width: number | undefined): string {
  return named === undefined ? programHelp(commands, defaultCommand, width) : commandHelp(named, width);
}

async function print({ stdout }: Session, text: string): Promise<ExitCode> {
  const output = new Output(stdout);
  await output.write(text);
  await output.release();
  return exitCode.success;
}

function unknownCommand(word: string): UsageError {
  const names = commands.map(({ name }) => name);
  const near = names.find((name) => isMeant(word.toLowerCase(), name));
  const todo = near === undefined ? 'canfetch --help shows how it is used' : `did you mean ${near}?`;
  return new UsageError(
    `Expected a command (${names.join(', ')}) or an absolute URL, got ${quoted(word)}; ${todo}`,
  );
}

/** Whether `word` is a prefix of `name`, or `name` with one typing error. */
function isMeant(word: string, name: string): boolean {
  return (word.length >= 2 && name.startsWith(word)) || isNear(word, name, 1);
}

function isUsage(error: unknown): boolean {
  return error instanceof UsageError || (isRobotsError(error) && error.code === 'ERR_ROBOTS_INVALID_OPTIONS');
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A system error, such as a full disk, is not a bug: its stack trace would not help.
  if (isUsage(error) || 'syscall' in error) return printable(error.message);
  return error.stack ?? error.message;
}
