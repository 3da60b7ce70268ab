import type { Command } from '../command.ts';
import { cacheCommand } from './cache.ts';
import { check } from './check.ts';
import { completionCommand } from './completion.ts';
import { diffCommand } from './diff.ts';
import { explainCommand } from './explain.ts';
import { lintCommand } from './lint.ts';
import { policyCommand } from './policy.ts';
import { prefetchCommand } from './prefetch.ts';
import { profilesCommand } from './profiles.ts';
import { serveCommand } from './serve.ts';

/** Every command, in the order `--help` lists them. */
export const commands: readonly Command[] = [
  check,
  explainCommand,
  policyCommand,
  lintCommand,
  diffCommand,
  prefetchCommand,
  profilesCommand,
  cacheCommand,
  serveCommand,
  completionCommand,
];

/** What runs when the first argument names no command: `canfetch https://example.com/`. */
export const defaultCommand: Command = check;
