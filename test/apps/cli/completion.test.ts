import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commonOptions } from '../../../src/apps/cli/frame/options.ts';
import { commands } from '../../../src/apps/cli/commands.ts';
import { cli } from './session.ts';

const execute = promisify(execFile);

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await cli(['completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** What the program offers to a shell after these words, the last of which is being written. */
async function answered(shell: string, ...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await cli(['completion', shell, '--', ...words]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

describe('the program', () => {
  it('offers every command, and of each command every option, choice and operand', async () => {
    expect(await answered('bash', '')).toEqual(commands.map(({ name }) => name));
    for (const { name, options, operandChoices, operands } of commands) {
      const offered = await answered('bash', name, '-');
      for (const option of [...options, ...commonOptions]) {
        expect(offered).toContain(`--${option.name}`);
        if (option.short !== undefined) expect(offered).toContain(`-${option.short}`);
        const values = option.value === 'FILE' ? [':files'] : (option.choices ?? []);
        if (option.value === undefined) continue;
        expect(await answered('bash', name, `--${option.name}`, '')).toEqual(values);
      }
      const expected = operandChoices ?? (operands.includes('FILE') ? [':files'] : []);
      expect(await answered('bash', name, '')).toEqual(expected);
    }
  });

  it('describes them to zsh and fish, which replace `--option=value` as one word', async () => {
    expect(await answered('zsh', 'lin')).toEqual([
      `lint:${commands.find(({ name }) => name === 'lint')?.summary}`,
    ]);
    expect(await answered('fish', 'check', '--js')).toEqual(['--json\tthe same as --format json']);
    expect(await answered('zsh', '--color=a')).toEqual(['--color=auto', '--color=always']);
    expect(await answered('fish', 'explain', '--robots=')).toEqual([':files']);
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

  /** What bash would offer after these words, the last of which is being written. */
  async function offered(...words: string[]): Promise<string[]> {
    // The stub asks the program, which is asked here in this process, and then a program that says the same.
    await writeFile(join(folder, 'answer'), '');
    await ask(words);
    const asked = (await readFile(join(folder, 'asked'), 'utf8')).split('\0').slice(0, -1);
    const { code, stdout } = await cli(asked);
    expect(code).toBe(0);
    await writeFile(join(folder, 'answer'), stdout);
    return ask(words);
  }

  /** Calls the stub. */
  async function ask(words: readonly string[]): Promise<string[]> {
    const script = [
      'canfetch() { printf "%s\\0" "$@" > asked; cat answer; }',
      'source "$1"; shift',
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _canfetch',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const args = ['--norc', '-c', script, 'bash', join(folder, 'completion.bash'), 'canfetch', ...words];
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
    ['a value after "="', ['check', '--color', '=', 'a'], ['auto', 'always']],
    ['a file for an option', ['explain', '--robots', 'my'], ['my robots.txt']],
    ['a file', ['lint', 'my'], ['my robots.txt']],
    ['a choice', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['nothing where any value is possible', ['check', '--agent', ''], []],
  ])('offers %s', async (_, words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });
});
