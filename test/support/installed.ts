import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Where a server that tests need is installed. Without it they are skipped with a line that says so; where `CI` is
 * `true` they fail instead.
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
