import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../support/opened.ts';
import { cli, records } from './session.ts';

const folder = folderForAll();
const file = join(folder, 'robots.txt');
await writeFile(file, 'User-agent: ExampleBot\nCrawl-delay: 1.5\nAllow: /p\nDisallow: /private\n');

describe('--robots', () => {
  it('decides URLs and paths by the file', async () => {
    const targets = ['/private/a', 'https://example.com/page#x', '/robots.txt', '/other'];
    const { code, stdout } = await cli(['--json', '--robots', file, '-a', 'examplebot/2', ...targets]);
    expect(code).toBe(1);
    const group = { agent: 'ExampleBot', lines: [1] };
    const common = {
      schemaVersion: 1,
      agent: 'examplebot',
      profile: 'rfc9309',
      state: 'rules',
      robots: { file, source: 'file' },
    };
    const decided = { ...common, group, crawlDelayMs: 1_500 };
    expect(records(stdout)).toEqual([
      {
        ...decided,
        input: '/private/a',
        url: '/private/a',
        allowed: false,
        reason: 'rule',
        rule: { directive: 'disallow', pattern: '/private', line: 4 },
      },
      {
        ...decided,
        input: 'https://example.com/page#x',
        url: 'https://example.com/page#x',
        allowed: true,
        reason: 'rule',
        rule: { directive: 'allow', pattern: '/p', line: 3 },
      },
      { ...common, input: '/robots.txt', url: '/robots.txt', allowed: true, reason: 'robots-txt' },
      { ...decided, input: '/other', url: '/other', allowed: true, reason: 'no-rule' },
    ]);
  });

  it('reads the file in the dialect of the profile', async () => {
    const args = ['--robots', file, '-a', 'ExampleBot', '/private'];
    expect((await cli(args)).code).toBe(1);
    expect((await cli([...args, '--profile', 'koster-1996'])).code).toBe(0);
  });

  it('tells that no group is meant', async () => {
    const { code, stdout } = await cli(['--robots', file, '/private']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `ALLOWED     /private\n  agent   canfetch → no group names it, and there is no "*" group\n  robots  ${file}\n`,
    );
  });

  it('takes the file from standard input, or the targets, not both', async () => {
    const stdin = 'User-agent: *\nDisallow: /\n';
    const { code: fromStdin, stdout } = await cli(['--robots', '-', '/a'], { stdin });
    expect(fromStdin).toBe(1);
    expect(stdout).toContain('robots  standard input');
    expect((await cli(['--robots', file, '-'], { stdin: '/a\n/b\n' })).code).toBe(0);
    const { code, stderr } = await cli(['--robots', '-', '-'], { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain('Expected "-" either for --robots or for the URLs, got both');
  });

  it('reports a target that is neither URL nor path, and answers the rest', async () => {
    const { code, stdout, stderr } = await cli(['--robots', file, '-'], { stdin: 'private\n/a\n' });
    expect(code).toBe(2);
    expect(stdout).toContain('ALLOWED     /a  no ');
    expect(stderr).toContain(
      'line 1: Expected an absolute http, https or ftp URL, or a path that starts with "/", got "private"',
    );
  });

  it('says what is wrong with a file that cannot be read', async () => {
    const nowhere = join(folder, 'nowhere.txt');
    expect(await cli(['--robots', nowhere, '/a'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `canfetch: Expected --robots to name a robots.txt file, got "${nowhere}" (no such file); check the path\n`,
    });
    expect((await cli(['--robots', folder, '/a'])).stderr).toContain('(a directory)');
    const unmarked = join(folder, 'utf-16.txt');
    await writeFile(unmarked, 'User-agent: *\nDisallow: /a\n', 'utf16le');
    expect((await cli(['--robots', unmarked, '/a'])).stderr).toMatch(/; save it as text in UTF-8\n$/);
  });
});
