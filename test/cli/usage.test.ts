import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { commonOptions } from '../../src/cli/frame/command.ts';
import { VERSION } from '../../src/base/version.ts';
import { cli } from './session.ts';

const URL_GIVEN = 'https://example.com/';

describe('wrong usage is told with what was expected, what came, and what to do, and exits with 2', () => {
  it.each<[string, string[], string]>([
    ['no URL', [], 'Expected at least one URL, or "-" to read them from standard input, got none'],
    ['no URL for check', ['check'], 'Expected at least one URL'],
    [
      'an unknown option',
      ['--robot-file', URL_GIVEN],
      'got "--robot-file"; canfetch check --help lists them',
    ],
    ['a shortened option', ['--age', 'X', URL_GIVEN], 'got "--age"; did you mean --agent?'],
    ['an unknown letter', ['-x', URL_GIVEN], 'Expected an option that `check` has, got "-x"'],
    [
      'an unknown command',
      ['explian', URL_GIVEN],
      'or an absolute URL, got "explian"; did you mean explain?',
    ],
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
      'Expected --robots once, got it again with "b"',
    ],
    [
      'an unknown profile',
      ['--profile', 'bing', URL_GIVEN],
      'Expected --profile to be one of rfc9309, google',
    ],
    [
      'a deadline with a unit',
      ['--deadline-ms', '10s', URL_GIVEN],
      'whole number of milliseconds, at least 1, got "10s"',
    ],
    ['a deadline of 0', ['--deadline-ms', '0', URL_GIVEN], 'at least 1, got "0"'],
    [
      'an agent without token',
      ['-a', '(+https://a.example)', URL_GIVEN],
      'Expected --agent to hold a product token',
    ],
    ['an agent with a line end', ['-a', 'Bot\r\nX: y', URL_GIVEN], 'got "Bot\\x0d\\x0aX: y"'],
    ['two ways to print', ['--json', '-q', URL_GIVEN], 'Expected either --json or --quiet, got both'],
    ['standard input twice', ['-', '-'], 'Expected "-" once'],
    [
      'a colour that is none',
      ['--color', 'blue', URL_GIVEN],
      'Expected --color to be one of auto, always, never',
    ],
    ['the beginning of a command', ['comp'], 'got "comp"; did you mean completion?'],
    ['a command with a letter too many', ['liint'], 'did you mean lint?'],
    ['a command with a letter too few', ['dif'], 'did you mean diff?'],
    ['a command with another letter', ['polizy'], 'did you mean policy?'],
    ['something else', ['frobnicate'], 'got "frobnicate"; canfetch --help shows how it is used'],
  ])('%s', async (_name, argv, message) => {
    const { code, stdout, stderr } = await cli(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^canfetch: .*\n$/);
    expect(stderr).toContain(message);
  });
});

describe('help', () => {
  it('lists every command', async () => {
    const { code, stdout, stderr } = await cli(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const { name, summary } of commands) expect(stdout).toMatch(new RegExp(`${name} .*${summary}`));
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    'of %s lists every option',
    async (name, command) => {
      for (const flag of ['--help', '-h']) {
        const { code, stdout } = await cli([name, flag]);
        expect(code).toBe(0);
        for (const option of [...command.options, ...commonOptions])
          expect(stdout).toContain(`--${option.name}`);
        for (const { line } of command.examples) expect(stdout).toContain(line);
      }
    },
  );

  it('of every command tells its exit codes, and has examples', async () => {
    for (const { name, exitCodes, examples } of commands) {
      expect(examples.length).toBeGreaterThan(0);
      const { stdout } = await cli([name, '--help']);
      for (const { code, says } of exitCodes)
        expect(stdout).toContain(`  ${String(code).padEnd(5)}${says}\n`);
      expect(stdout).toMatch(/^ {2}130 +interrupted by Ctrl-C$/m);
    }
  });

  it('fits the terminal', async () => {
    for (const argv of [['--help'], ['check', '--help'], ['diff', '--help']]) {
      const { stdout } = await cli(argv, { stdoutIsTTY: true, columns: 90 });
      const rows = stdout.split('\n').filter((line) => /^ {2}(?:-|\d| {3})/.test(line));
      expect(rows.length).toBeGreaterThan(5);
      expect(Math.max(...rows.map((line) => line.length))).toBeLessThanOrEqual(90);
    }
  });

  it('wins over URLs', async () => {
    expect((await cli([URL_GIVEN, '-h'])).stdout).toContain('Usage:');
  });

  it('is beside the version', async () => {
    expect(await cli(['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });
});
