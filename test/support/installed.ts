import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

/**
 * Where a program that tests need is installed. Without it they are skipped with a line that says so; where `CI` is
 * `true` they fail instead, so that a suite that did not run is not taken for one that passed.
 */
export function installed(command: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const path = folders.map((folder) => join(folder, command)).find((candidate) => existsSync(candidate));
  if (path !== undefined) return path;
  if (process.env['CI'] === 'true')
    throw new Error(`Expected \`${command}\` to be installed where CI is true`);
  process.stderr.write(`Skipped: ${command} is not installed\n`);
  return undefined;
}

/** `describe`, if the program is {@link installed}. */
export function describeWith(command: string): typeof describe | typeof describe.skip {
  return installed(command) === undefined ? describe.skip : describe;
}
