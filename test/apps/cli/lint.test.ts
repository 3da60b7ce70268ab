import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll, siteForAll } from '../../support/opened.ts';
import { cli, records } from './session.ts';

const BAD = 'User-agent: *\nDissalow: /private\nDisallow: nowhere\nAllow: /ä\n';

const bad = join(folderForAll(), 'bad robots.txt');
await writeFile(bad, BAD);
const site = await siteForAll({ '/robots.txt': { body: BAD } });
const broken = await siteForAll({ '/robots.txt': { status: 503 } });
const missing = await siteForAll({});

describe('for people', () => {
  it('says where, what, and what to do', async () => {
    const { code, stdout, stderr } = await cli(['lint', bad]);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.split('\n')).toEqual([
      `${bad}:3:11  error  rule-never-matches`,
      '  "nowhere" matches nothing, because paths start with "/".',
      expect.stringMatching(/^ {2}Start the pattern with/),
      `${bad}:2:1  warning  forgiven-key`,
      '  "Dissalow" is read as "disallow".',
      expect.stringMatching(/^ {2}Write "disallow"/),
      `${bad}:4:8  info  raw-letters`,
      expect.stringMatching(/^ {2}"\/ä" has letters outside/),
      expect.any(String),
      '1 error, 1 warning, 1 note in 1 file',
      '',
    ]);
  });

  it('says what the file comes to first, and lists the lines of what is there often', async () => {
    const stdin = 'User-agent: *\nDisallow: a\nDisallow: b\nDisallow: c\nDisallow: d\nDisallow: /\n';
    const { stdout } = await cli(['lint', '-'], { stdin });
    expect(stdout.split('\n').filter((line) => !line.startsWith('  ') || line.includes('The same'))).toEqual([
      'standard input:6:11  info  site-closed',
      'standard input:2:11  error  rule-never-matches',
      'standard input:3:11  error  rule-never-matches',
      'standard input:4:11  error  rule-never-matches',
      '  The same 2 times more, on lines 4, 5',
      '4 errors, 0 warnings, 1 note in 1 file',
      '',
    ]);
  });

  it('shows each finding whose hint is another one', async () => {
    const stdin = 'User-agent: *\nDisallow: /ä\nDisallow: /ö\nDisallow: /ü\nDisallow: /é\n';
    const { stdout } = await cli(['lint', '-'], { stdin });
    expect(stdout).not.toContain('The same');
    expect(stdout).toContain('Write "/%C3%A9"');
  });

  it('wraps on a narrow terminal, and colours by severity', async () => {
    const { stdout } = await cli(['lint', '-'], {
      stdin: BAD,
      stdoutIsTTY: true,
      columns: 40,
    });
    expect(stdout).toContain('\u001B[31merror');
    expect(stdout).toContain('standard input:3:11');
    const text = stdout.split('\n').filter((line) => line.startsWith('  '));
    expect(Math.max(...text.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it('reads by the dialect of the profile', async () => {
    const stdin = 'User-agent: *\n\nDisallow: /a\n';
    expect((await cli(['lint', '-'], { stdin })).code).toBe(0);
    const { code, stdout } = await cli(['lint', '--profile', 'koster-1996', '-'], { stdin });
    expect(code).toBe(1);
    expect(stdout).toContain('rule-outside-group');
  });

  it('looks past the limit of crawlers', async () => {
    const stdin = `User-agent: *\n${'Disallow: /aaaaaaaaaaaaaaaaaa\n'.repeat(20_000)}`;
    const { code, stdout } = await cli(['lint', '-'], { stdin });
    expect(code).toBe(1);
    expect(stdout).toContain('past-size-limit');
  });
});

describe('exit code', () => {
  it.each([
    ['an error', 'User-agent: *\nDisallow: nowhere\n', 1],
    ['a warning', 'User-agent: *\nDissalow: /private\n', 1],
    ['a note', 'User-agent: *\nAllow: /ä\n', 0],
  ])('of %s: %j', async (_, stdin, code) => {
    expect((await cli(['lint', '-'], { stdin })).code).toBe(code);
  });

  it('is 3 when a site cannot be reached, beside a file with errors', async () => {
    const { code, stderr } = await cli(['lint', bad, broken.origin]);
    expect(code).toBe(3);
    expect(stderr).toBe(
      `canfetch: ${broken.origin}: robots.txt is unreachable (503), so nothing may be fetched until it is back\n`,
    );
  });

  it('is 0 when a site has no robots.txt', async () => {
    const { code, stdout, stderr } = await cli(['lint', missing.origin]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('robots.txt is unavailable (404)');
  });
});

describe('--format json', () => {
  it('is one diagnostic a line, in words too', async () => {
    const { stdout } = await cli(['lint', '--format', 'json', bad, site.origin]);
    const found = records(stdout);
    expect(found.map(({ file, code, line }) => [file, code, line])).toEqual(
      [bad, site.origin].flatMap((file) => [
        [file, 'forgiven-key', 2],
        [file, 'rule-never-matches', 3],
        [file, 'raw-letters', 4],
      ]),
    );
    expect(found[0]).toEqual({
      schemaVersion: 1,
      file: bad,
      code: 'forgiven-key',
      severity: 'warning',
      line: 2,
      column: 1,
      text: 'Dissalow',
      meant: 'disallow',
      message: '"Dissalow" is read as "disallow".',
      hint: expect.stringContaining('Write "disallow"'),
    });
  });
});
