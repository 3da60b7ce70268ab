import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/apps/cli/commands.ts';
import { commonOptions } from '../../../src/apps/cli/frame/command.ts';
import { VERSION } from '../../../src/core/base/values.ts';
import { cli } from './session.ts';

const URL_GIVEN = 'https://example.com/';

/** What is written after `canfetch`, and a part of what it says. */
const WRONG = `
check                             | Expected at least one URL, or "-" to read them from standard input, got none
check - -                         | Expected "-" once
check --purpose ai-train /a       | got "ai-train"; did you mean train-ai?
check --robots x --evidence y /a  | Expected either --evidence or --robots, got both
check --store cache/ /a           | Expected --store to be a file of SQLite, got a folder; write --store "cache/robots.sqlite"
check --store file://h/x /a       | got another URL; write redis:// for Valkey too
--robot-file /a                   | got "--robot-file"; canfetch check --help lists them
--agnet X /a                      | got "--agnet"; did you mean --agent?
--JSON /a                         | got "--JSON"; did you mean --json?
-agent X /a                       | Expected two dashes before the long name of an option, got "-agent"; did you mean --agent?
-x /a                             | Expected an option that \`check\` has, got "-x"
/a --agent                        | Expected a value after --agent, got none
--json=yes /a                     | Expected --json without a value, got "yes"
--robots=a --robots=b /           | Expected --robots once, got it again; leave one of them out
--profile bing /a                 | Expected --profile to be one of rfc9309, google
--profile RFC9309 /a              | did you mean rfc9309?
--format xml /a                   | Expected --format to be one of text, json, got "xml"
--deadline-ms 10s /a              | whole number from 1 to 2147483647, got "10s"
-a (+https://a.example) /a        | Expected --agent to hold a product token
explian /a                        | Expected an absolute URL, or a command (check, explain,
frobnicate                        | got "frobnicate"; canfetch --help shows how it is used
help lnt                          | got "lnt"; did you mean lint?
lint --json --format text -       | Expected either --json or --format text, got both
diff a b                          | got "diff"; canfetch --help shows how it is used
explain example.com/a             | did you mean "https://example.com/a"?
explain --page --robots - /a      | --page without --robots
lint                              | Expected a file, an origin, or "-" for standard input, got none
lint /nowhere/robots.txt          | Expected FILE to name a robots.txt file, got "/nowhere/robots.txt" (no such file)
explain nope                      | Expected an absolute http, https or ftp URL, got "nope"
lint http://[x                    | Expected an absolute http, https or ftp URL, got "http://[x"
test --expect -                   | Expected a file, an origin, or "-" for standard input, got nothing
test robots.txt                   | Expected --expect with the file of expectations, got none
test robots.txt -e /nowhere       | Expected a file of expectations, got "/nowhere" (no such file)
prefetch                          | Expected a file of URLs, or "-" for standard input, got nothing
prefetch --concurrency 0 -        | whole number from 1 to 1024, got "0"
replay --since yesterday log      | --since to be a date, got "yesterday"; write 2026-11-23
replay --origin example log       | Expected an absolute http, https or ftp URL, got "example"
replay --versions --conduct log   | Expected one of
replay --purpose search log       | Expected --list or --url
replay --body 123 log             | 8 digits
cache                             | Expected an action (ls
cache eat                         | Expected an action (ls
cache ls                          | Expected --store STORE
cache ls --store no-such-file     | Expected --store to be an existing file, got "no-such-file"
cache ls --store . https://a.test | Expected nothing after ls
cache show --store .              | Expected a URL after show
serve --port 70000                | from 0 to 65535
serve x                           | no operand
serve --allow-host http://x/      | --allow-host to be the name of a host, got "http://x/"; write x
`;

describe('wrong usage is told with what was expected, what came, and what to do, and exits with 2', () => {
  const rows = WRONG.trim()
    .split('\n')
    .map((row): [string[], string] => {
      const [line = '', message = ''] = row.split(/ +\| /);
      return [line.split(' '), message];
    });
  it.each([...rows, [['-a', 'Bot\r\nX: y', '/a'], 'got "Bot\\x0d\\x0aX: y"'] as const])(
    '%j',
    async (argv, message) => {
      const { code, stdout, stderr } = await cli(argv);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^canfetch: .*\n$/);
      expect(stderr).toContain(message);
    },
  );
});

describe('passwords are not shown in what is told of', () => {
  const twice = ['--store', 'redis://:secret@cache.example'];
  it.each([
    ['an operand too many', ['serve', 'redis://user:secret@cache.example:6379']],
    ['a store without its two slashes', ['check', '--store', 'redis:/user:secret@cache.example', URL_GIVEN]],
    ['the URL of another store', ['cache', 'ls', '--store', 'redis+tls://user:secret@cache.example']],
    ['a store given twice', ['check', ...twice, ...twice, URL_GIVEN]],
    ['a store without a slash', ['check', '--store', 'redis:user:secret@cache.example', URL_GIVEN]],
    ['a raw slash in a password', ['policy', 'redis://user:a/secret@cache.example']],
    ['a URL of another kind', ['check', 'socks5://user:secret@proxy.example']],
    ['an unknown option', ['check', '--storage=redis://user:secret@cache.example', URL_GIVEN]],
    ['a file that is none', ['lint', 'rediss://user:secret@cache.example']],
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

  it('is also what a bare `canfetch` prints, and then no script may take it for "allowed"', async () => {
    const { stdout } = await cli(['--help']);
    expect(await cli([])).toEqual({ code: 2, stdout, stderr: '' });
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

  it('is at most 80 wide, but for commands to copy', async () => {
    const copied = new Set(
      commands.flatMap(({ examples }) => Object.keys(examples).map((line) => `  ${line}`)),
    );
    const widths: number[] = [];
    for (const argv of [['help'], ...commands.map(({ name }) => ['help', name])]) {
      const lines = (await cli(argv)).stdout.split('\n').filter((line) => !copied.has(line));
      widths.push(...lines.map((line) => line.length));
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
    }
    expect(Math.max(...widths)).toBeGreaterThan(76);
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
  const answering = commands.filter(({ name }) => !['serve', 'mcp', 'help'].includes(name));

  it.each(answering.map((command) => [command.name, command] as const))('%s', (_, { options }) => {
    const format = options.find(({ name }) => name === 'format');
    expect(format?.choices?.slice(0, 2)).toEqual(['text', 'json']);
    expect(options.find(({ name }) => name === 'json')?.help).toBe('the same as --format json');
  });

  it('--json is short for --format json', async () => {
    for (const argv of [
      ['check', '--robots', '-', '/a'],
      ['lint', '-'],
    ]) {
      const stdin = 'User-agent: *\nDisalow: /a\n';
      const short = await cli([...argv, '--json'], { stdin });
      expect(short.stdout).toMatch(/^\{"schemaVersion":1,/);
      expect(await cli([...argv, '--format', 'json'], { stdin })).toEqual(short);
      expect((await cli([...argv, '--format=text'], { stdin })).stdout).not.toContain('schemaVersion');
    }
  });
});
