import { isRobotsError } from '../errors.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { commands, defaultCommand } from './commands/index.ts';
import { type ExitCode, exitCode } from './exit-code.ts';
import { commandHelp, programHelp } from './help.ts';
import { BrokenPipeError, Output } from './output.ts';
import { printable, quoted } from './printable.ts';
import type { Session } from './session.ts';
import { UsageError } from './usage-error.ts';

/** Runs `canfetch` with the arguments of `session`. Never rejects: what goes wrong is told, and is an exit code. */
export async function run(session: Session): Promise<ExitCode> {
  // Diagnostics that nobody reads are no reason to stop.
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
  if (given.switches.has('help')) return print(session, helpFor(named));
  if (given.switches.has('version')) return print(session, `${await version()}\n`);
  return command.run(given, session);
}

function helpFor(named: Command | undefined): string {
  return named === undefined ? programHelp(commands, defaultCommand) : commandHelp(named);
}

async function version(): Promise<string> {
  const { VERSION } = await import('../version.ts');
  return VERSION;
}

async function print({ stdout }: Session, text: string): Promise<ExitCode> {
  const output = new Output(stdout);
  await output.write(text);
  await output.release();
  return exitCode.allowed;
}

function unknownCommand(word: string): UsageError {
  const names = commands.map(({ name }) => name).join(', ');
  return new UsageError(
    `Expected a command (${names}) or an absolute URL, got ${quoted(word)}; canfetch --help shows how it is used`,
  );
}

function isUsage(error: unknown): boolean {
  return error instanceof UsageError || (isRobotsError(error) && error.code === 'ERR_ROBOTS_INVALID_OPTIONS');
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A full disk is no bug: where in the code it was met helps nobody.
  if (isUsage(error) || 'syscall' in error) return printable(error.message);
  return error.stack ?? error.message;
}
