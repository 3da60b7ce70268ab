import { describe, expect, it } from 'vitest';
import { cli } from '../../cli/session.ts';

const ROBOTS = 'User-agent: *\nDisallow: /private\n';
const GREEN = '\u001B[32m';
const args = ['--robots', '-', '/a'];

describe('colour', () => {
  it.each<[string, Record<string, string>, boolean, boolean]>([
    ['a terminal', {}, true, true],
    ['no terminal', {}, false, false],
    ['NO_COLOR on a terminal', { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR', { NO_COLOR: '' }, true, true],
    ['FORCE_COLOR without terminal', { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR over NO_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, false],
    ['a dumb terminal', { TERM: 'dumb' }, true, false],
  ])('%s', async (_name, env, stdoutIsTTY, expected) => {
    const { stdout } = await cli(args, { stdin: ROBOTS, env, stdoutIsTTY });
    expect(stdout.includes(GREEN)).toBe(expected);
  });

  it('is never in JSON', async () => {
    const { stdout } = await cli([...args, '--json'], {
      stdin: ROBOTS,
      env: { FORCE_COLOR: '1' },
      stdoutIsTTY: true,
    });
    expect(stdout).not.toContain('\u001B');
  });
});
