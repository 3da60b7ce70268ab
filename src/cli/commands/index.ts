import type { Command } from '../command.ts';
import { check } from './check.ts';

/** Every command, in the order `--help` lists them. */
export const commands: readonly Command[] = [check];

/** What runs when the first argument names no command: `canfetch https://example.com/`. */
export const defaultCommand: Command = check;
