import { setMaxListeners } from 'node:events';
import { ignore, isRobotsError, VERSION, printable, withoutUserinfo } from '../../core/base/index.ts';
import { notAmong, readArguments } from './frame/arguments.ts';
import { type Command, type ExitCode, exitCode, type ParsedArguments, stackOf } from './frame/command.ts';
import { commandHelp, programHelp } from './frame/help.ts';
import { BrokenPipeError, write, type Session, UsageError } from '../answers/session.ts';
import { commands, defaultCommand } from './commands.ts';

/** Runs `canfetch` with the arguments of `session`. Never rejects: it reports errors and resolves with an exit code. */
export async function run(session: Session): Promise<ExitCode> {
  // A closed standard error must not end the run. What writes to standard output waits for its errors.
  session.stderr.on('error', ignore);
  session.stdout.on('error', ignore);
  try {
    return await dispatch(session);
  } catch (error) {
    if (session.signal.aborted) return exitCode.interrupted;
    if (error instanceof BrokenPipeError) return exitCode.brokenPipe;
    // The wrong value may be the URL of a proxy or of a store, with a password.
    session.stderr.write(`canfetch: ${withoutUserinfo(explain(error))}\n`);
    return isUsage(error) ? exitCode.usage : exitCode.failure;
  }
}

async function dispatch(session: Session): Promise<ExitCode> {
  const { stdout } = session;
  const argv = session.argv[0] === 'help' ? [...session.argv.slice(1), '--help'] : session.argv;
  const [first = '', ...rest] = argv;
  const named = commands.find(({ name }) => name === first);
  if (named === undefined && /^[a-z][a-z-]*$/i.test(first)) throw unknownCommand(first);
  const command = named ?? defaultCommand;
  if (argv.length === 0) {
    await write(stdout, programHelp(commands, defaultCommand));
    // 0 would mean "allowed" to a script whose list of URLs turned out empty.
    return exitCode.usage;
  }
  const given = readArguments(command, named === undefined ? argv : rest);
  if (given.switches.has('help')) {
    await write(stdout, named === undefined ? programHelp(commands, defaultCommand) : commandHelp(named));
    return exitCode.success;
  }
  if (given.switches.has('version')) {
    await write(stdout, `${await versionLine()}\n`);
    return exitCode.success;
  }
  return runCommand(command, given, session);
}

/**
 * Runs a command with a signal that aborts on Ctrl-C, and when the command has ended: then nothing, such as a standard
 * input that has not ended, keeps the process alive.
 */
async function runCommand(command: Command, given: ParsedArguments, session: Session): Promise<ExitCode> {
  session.signal.throwIfAborted();
  const ended = new AbortController();
  const signal = AbortSignal.any([session.signal, ended.signal]);
  // Every URL in progress listens to the signal, so many listeners are not a leak.
  setMaxListeners(0, signal);
  session.stdin.on('error', ignore);
  signal.addEventListener('abort', () => void session.stdin.destroy());
  try {
    const code = await command.run(given, { ...session, signal });
    session.signal.throwIfAborted();
    return code;
  } finally {
    ended.abort();
  }
}

/** The version, with what it runs on: `canfetch 0.1.0 (Node 20.20.2, undici 7.30.0)`. For reports of bugs. */
async function versionLine(): Promise<string> {
  const { platform } = await import('#platform');
  // Bun and Deno also name the version of Node that they stand for.
  const { bun, deno, node } = process.versions;
  const runtime = bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : `Node ${node}`;
  return `canfetch ${VERSION} (${runtime}, ${platform.describe()})`;
}

function unknownCommand(word: string): UsageError {
  const names = commands.map(({ name }) => name);
  return notAmong('an absolute URL, or a command', names, word, 'canfetch --help shows how it is used');
}

function isUsage(error: unknown): boolean {
  if (!isRobotsError(error)) return error instanceof UsageError;
  return error.code === 'ERR_ROBOTS_INVALID_OPTIONS' || error.code === 'ERR_ROBOTS_EVIDENCE';
}

function explain(error: unknown): string {
  // A system error, such as a full disk, is not a bug: its stack trace would not help.
  const isKnown = error instanceof Error && (isUsage(error) || 'syscall' in error);
  return isKnown ? printable(error.message) : stackOf(error);
}
