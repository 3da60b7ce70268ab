import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commonOptions } from '../../src/cli/frame/options.ts';
import { commands } from '../../src/cli/commands.ts';
import { cli } from './session.ts';

const execute = promisify(execFile);

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await cli(['completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  it('knows every command, option and choice', async () => {
    const text = await script(shell);
    for (const { name, options, operandChoices = [] } of commands) {
      expect(text).toContain(name);
      for (const option of [...options, ...commonOptions]) {
        expect(text).toContain(shell === 'fish' ? `-l ${option.name}` : `--${option.name}`);
        for (const choice of option.choices ?? []) expect(text).toContain(choice);
      }
      for (const choice of operandChoices) expect(text).toContain(choice);
    }
  });
});

describe('bash', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'canfetch-completion-'));
    await writeFile(join(folder, 'completion.bash'), await script('bash'));
    await writeFile(join(folder, 'my robots.txt'), '');
  });

  afterAll(() => rm(folder, { recursive: true }));

  /** What bash would offer behind these words, the last of which is being written. */
  async function offered(...words: string[]): Promise<string[]> {
    const ask = [
      'source "$1"; shift',
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _canfetch',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const args = ['--norc', '-c', ask, 'bash', join(folder, 'completion.bash'), 'canfetch', ...words];
    const { stdout, stderr } = await execute('bash', args, { cwd: folder });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  }

  it.each<[string, string[], string[]]>([
    ['commands', [''], commands.map(({ name }) => name)],
    ['the beginning of a command', ['prof'], ['profiles']],
    ['an option of a command', ['lint', '--fail'], ['--fail-on']],
    ['an option without a command', ['--dead'], ['--deadline-ms']],
    ['no option of another command', ['profiles', '--dead'], []],
    ['a value', ['check', '--profile', 'goo'], ['google', 'google-legacy']],
    ['a value behind "="', ['check', '--color', '=', 'a'], ['auto', 'always']],
    ['a file for an option', ['explain', '--robots', 'my'], ['my robots.txt']],
    ['a file', ['lint', 'my'], ['my robots.txt']],
    ['a choice', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['nothing where nobody can tell', ['check', '--agent', ''], []],
  ])('offers %s', async (_, words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });
});

describe('completion', () => {
  it.each([
    [[], 'Expected a shell (bash, zsh, fish), got nothing'],
    [['tcsh'], 'Expected a shell (bash, zsh, fish), got "tcsh"'],
  ])('refuses %j', async (argv, message) => {
    const { code, stderr } = await cli(['completion', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
