import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';

/**
 * `describe`, if the program is installed. Else what it describes is skipped, with a line that says so; under
 * `CI=true` it fails, so that nobody takes a suite that did not run for one that passed.
 */
export function describeWith(program: string): typeof describe | typeof describe.skip {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return describe;
  if (process.env['CI'] === 'true') throw new Error(`${program} is not installed, and CI runs every test`);
  console.warn(`Skipped: ${program} is not installed`);
  return describe.skip;
}
