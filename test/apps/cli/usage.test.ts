import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/apps/cli/commands.ts';
import { commonOptions } from '../../../src/apps/cli/frame/options.ts';
import { VERSION } from '../../../src/core/base/defaults.ts';
import { cli } from './session.ts';

const URL_GIVEN = 'https://example.com/';

describe('wrong usage is told with what was expected, what came, and what to do, and exits with 2', () => {
  it.each<[string, string[], string]>([
    ['no URL', ['check'], 'Expected at least one URL, or "-" to read them from standard input, got none'],
    ['an unknown option', ['--robot-file', URL_GIVEN], 'got "--robot-file"; canfetch help check lists them'],
    ['a shortened option', ['--age', 'X', URL_GIVEN], 'got "--age"; did you mean --agent?'],
    ['swapped letters', ['--agnet', 'X', URL_GIVEN], 'got "--agnet"; did you mean --agent?'],
    ['an option in other letter case', ['--JSON', URL_GIVEN], 'got "--JSON"; did you mean --json?'],
    ['an option that says more', ['--robots-txt=a', '/'], 'got "--robots-txt"; did you mean --robots?'],
    [
      'one dash before a long name',
      ['-agent', 'X', URL_GIVEN],
      'Expected two dashes before the long name of an option, got "-agent"; did you mean --agent?',
    ],
    ['one dash, with a value', ['-robots=a', '/'], 'got "-robots"; did you mean --robots?'],
    ['an unknown letter', ['-x', URL_GIVEN], 'Expected an option that `check` has, got "-x"'],
    ['an unknown command', ['explian', URL_GIVEN], 'Expected an absolute URL, or a command (check, explain,'],
    ['an option without its value', [URL_GIVEN, '--agent'], 'Expected a value after --agent, got none'],
    [
      'an option that swallows the next',
      ['-a', '--json', URL_GIVEN],
      'Expected a value after --agent, got none',
    ],
    ['a switch with a value', ['--json=yes', URL_GIVEN], 'Expected --json without a value, got "yes"'],
    [
      'an option given twice',
      ['--robots=a', '--robots=b', '/'],
      'Expected --robots once, got it again; leave one of them out',
    ],
    [
      'an unknown profile',
      ['--profile', 'bing', URL_GIVEN],
      'Expected --profile to be one of rfc9309, google',
    ],
    ['a value with another letter', ['--profile', 'gogle', URL_GIVEN], 'got "gogle"; did you mean google?'],
    ['a value in other letter case', ['--profile', 'RFC9309', URL_GIVEN], 'did you mean rfc9309?'],
    ['an operand with another letter', ['completion', 'zhs'], 'got "zhs"; did you mean zsh?'],
    ['help for no such command', ['help', 'lnt'], 'got "lnt"; did you mean lint?'],
    ['help for two commands', ['help', 'lint', 'diff'], 'Expected one command, got "diff" too'],
    [
      'a format that is none',
      ['--format', 'xml', URL_GIVEN],
      'Expected --format to be one of text, json, got "xml"',
    ],
    [
      'two formats',
      ['lint', '--json', '--format', 'sarif', '-'],
      'Expected either --json or --format sarif, got both',
    ],
    [
      'a deadline with a unit',
      ['--deadline-ms', '10s', URL_GIVEN],
      'whole number of milliseconds, at least 1, got "10s"',
    ],
    [
      'a date in words',
      ['replay', '--since', 'yesterday', 'log'],
      '--since to be a date, got "yesterday"; write 2026-11-23',
    ],
    [
      'a URL for a host',
      ['serve', '--allow-host', 'http://x/'],
      '--allow-host to be the name of a host, got "http://x/"; write x',
    ],
    ['a deadline of 0', ['--deadline-ms', '0', URL_GIVEN], 'at least 1, got "0"'],
    [
      'an agent without token',
      ['-a', '(+https://a.example)', URL_GIVEN],
      'Expected --agent to hold a product token',
    ],
    ['an agent with a line end', ['-a', 'Bot\r\nX: y', URL_GIVEN], 'got "Bot\\x0d\\x0aX: y"'],
    ['two ways to print', ['--json', '-q', URL_GIVEN], 'Expected either --format or --quiet, got both'],
    ['standard input twice', ['-', '-'], 'Expected "-" once'],
    [
      'a colour that is none',
      ['--color', 'blue', URL_GIVEN],
      'Expected --color to be one of auto, always, never',
    ],
    ['a command with swapped letters', ['explian'], 'got "explian"; did you mean explain?'],
    ['the beginning of a command', ['comp'], 'got "comp"; did you mean completion?'],
    ['a command with a letter too many', ['liint'], 'did you mean lint?'],
    ['a command with a letter too few', ['dif'], 'did you mean diff?'],
    ['a command with another letter', ['polizy'], 'did you mean policy?'],
    ['something else', ['frobnicate'], 'got "frobnicate"; canfetch help shows how it is used'],
  ])('%s', async (_name, argv, message) => {
    const { code, stdout, stderr } = await cli(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^canfetch: .*\n$/);
    expect(stderr).toContain(message);
  });
});

describe('passwords are not shown in what is told of', () => {
  it.each([
    ['an operand too many', ['serve', 'redis://user:secret@cache.example:6379']],
    ['a store without its two slashes', ['check', '--store', 'redis:/user:secret@cache.example', URL_GIVEN]],
    ['a store without a slash', ['check', '--store', 'redis:user:secret@cache.example', URL_GIVEN]],
    ['a raw slash in a password', ['policy', 'redis://user:a/secret@cache.example']],
    ['a URL of another kind', ['check', 'socks5://user:secret@proxy.example']],
    ['an unknown option', ['check', '--storage=redis://user:secret@cache.example', URL_GIVEN]],
    ['a file that is none', ['lint', 'rediss://user:secret@cache.example']],
    ['a command that is none', ['help', 'http://user:secret@proxy.example']],
  ])('%s', async (_name, argv) => {
    const { code, stdout, stderr } = await cli(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^canfetch: Expected .*\n$/);
    expect(stderr).not.toContain('secret');
  });
});

/** Text without its line breaks. */
const unwrapped = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('help', () => {
  it('lists every command', async () => {
    const { code, stdout, stderr } = await cli(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const { name, summary } of commands) expect(unwrapped(stdout)).toContain(` ${name} ${summary} `);
  });

  it('is short for a bare `canfetch`, and then no script may take it for "allowed"', async () => {
    const { code, stdout, stderr } = await cli([]);
    expect([code, stderr]).toEqual([2, '']);
    expect(stdout.split('\n').length).toBeLessThan(16);
    for (const { name } of commands) expect(stdout).toContain(name);
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    'of %s lists every option',
    async (name, command) => {
      const page = await cli(['help', name]);
      expect([page.code, page.stderr]).toEqual([0, '']);
      for (const flag of ['--help', '-h']) expect(await cli([name, flag])).toEqual(page);
      for (const option of [...command.options, ...commonOptions])
        expect(page.stdout).toContain(`--${option.name}`);
      for (const line of Object.keys(command.examples)) expect(page.stdout).toContain(`  ${line}\n`);
    },
  );

  it('has notes of whole sentences, so that no paragraph breaks within one', () => {
    for (const { notes = [] } of commands)
      for (const note of notes) expect(note).toMatch(/^[A-Z-].*(?:[.)]|@\S+)$/i);
  });

  it('of every command tells its exit codes, and has examples', async () => {
    for (const { name, exitCodes, examples } of commands) {
      expect(examples).not.toEqual({});
      const stdout = unwrapped((await cli([name, '--help'])).stdout);
      for (const [code, says] of Object.entries(exitCodes)) expect(stdout).toContain(` ${code} ${says} `);
      expect(stdout).toContain(' 130 interrupted by Ctrl-C ');
    }
  });

  it.each([
    [40, 60],
    [60, 60],
    [84, 84],
    [300, 100],
    [undefined, 80],
  ])('on a terminal of %s columns is at most %i wide, but for commands to copy', async (columns, most) => {
    const terminal = columns === undefined ? {} : { stdoutIsTTY: true, columns };
    const copied = new Set(
      commands.flatMap(({ examples }) => Object.keys(examples).map((line) => `  ${line}`)),
    );
    const widths: number[] = [];
    for (const argv of [['help'], ...commands.map(({ name }) => ['help', name])]) {
      const lines = (await cli(argv, terminal)).stdout.split('\n').filter((line) => !copied.has(line));
      widths.push(...lines.map((line) => line.length));
      expect(lines.filter((line) => line.length > most)).toEqual([]);
    }
    expect(Math.max(...widths)).toBeGreaterThan(most - 4);
  });

  it('wins over URLs', async () => {
    expect((await cli([URL_GIVEN, '-h'])).stdout).toContain('Usage:');
  });

  it('is beside the version, which names the runtime and the transport', async () => {
    const { version } = JSON.parse(await readFile('node_modules/undici/package.json', 'utf8'));
    const stdout = `canfetch ${VERSION} (Node ${process.versions.node}, undici ${version})\n`;
    for (const flag of ['--version', '-V']) {
      expect(await cli([flag])).toEqual({ code: 0, stdout, stderr: '' });
    }
  });
});

describe('the format of answers has one name in all commands', () => {
  const answering = commands.filter(({ name }) => !['serve', 'mcp', 'completion', 'help'].includes(name));

  it.each(answering.map((command) => [command.name, command] as const))('%s', (_, { options }) => {
    const format = options.find(({ name }) => name === 'format');
    expect(format?.choices?.slice(0, 2)).toEqual(['text', 'json']);
    expect(options.find(({ name }) => name === 'json')?.help).toBe('the same as --format json');
  });

  it('--json is short for --format json', async () => {
    for (const argv of [['profiles'], ['check', '--robots', '-', '/a'], ['lint', '-']]) {
      const stdin = 'User-agent: *\nDisalow: /a\n';
      const short = await cli([...argv, '--json'], { stdin });
      expect(short.stdout).toMatch(/^\{"schemaVersion":1,/);
      expect(await cli([...argv, '--format', 'json'], { stdin })).toEqual(short);
      expect((await cli([...argv, '--format=text'], { stdin })).stdout).not.toContain('schemaVersion');
    }
  });
});
