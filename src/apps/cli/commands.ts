import { cacheCommand } from './cache/command.ts';
import { check } from './check/command.ts';
import { completionCommand } from './completion/command.ts';
import { diffCommand } from './diff/command.ts';
import { explainCommand } from './explain/command.ts';
import type { Command } from './frame/command.ts';
import { helpCommand } from './frame/help.ts';
import { lintCommand } from './lint/command.ts';
import { mcpCommand } from './mcp/command.ts';
import { policyCommand } from './policy/command.ts';
import { prefetchCommand } from './prefetch/command.ts';
import { profilesCommand } from './profiles/command.ts';
import { replayCommand } from './replay/command.ts';
import { serveCommand } from './serve/command.ts';
import { testCommand } from './test/command.ts';

const answering: readonly Command[] = [
  check,
  explainCommand,
  policyCommand,
  lintCommand,
  testCommand,
  diffCommand,
  prefetchCommand,
  profilesCommand,
  cacheCommand,
  replayCommand,
  serveCommand,
  mcpCommand,
  completionCommand,
];

/** Every command, in the order `--help` lists them. */
export const commands: readonly Command[] = [...answering, helpCommand(answering.map(({ name }) => name))];

/** The command that runs when the first argument names none: `canfetch https://example.com/`. */
export const defaultCommand: Command = check;
