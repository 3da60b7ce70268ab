import type { Command } from '../command.ts';
import { check } from './check.ts';
import { explainCommand } from './explain.ts';
import { policyCommand } from './policy.ts';
import { profilesCommand } from './profiles.ts';
import { serveCommand } from './serve.ts';

/** Every command, in the order `--help` lists them. */
export const commands: readonly Command[] = [
  check,
  explainCommand,
  policyCommand,
  profilesCommand,
  serveCommand,
];

/** What runs when the first argument names no command: `canfetch https://example.com/`. */
export const defaultCommand: Command = check;
