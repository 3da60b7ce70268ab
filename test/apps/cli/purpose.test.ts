import { describe, expect, it } from 'vitest';
import { siteForAll } from '../../support/opened.ts';
import { startSite } from '../../support/site.ts';
import { cli, records } from './session.ts';

const ROBOTS = `User-agent: *
Allow: /
Disallow: /off
Content-Usage: /no/ train-ai=n
Content-Signal: ai-train=yes
`;

const site = await siteForAll({ '/robots.txt': { body: ROBOTS } });

const check = (...argv: readonly string[]): ReturnType<typeof cli> =>
  cli(['check', '--purpose', 'train-ai', ...argv]);

describe('check --purpose', () => {
  it('exits with 1 when the site does not want the page used so, and shows the line', async () => {
    const { code, stdout } = await check(site.url('/no/a'));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^NOT WANTED {2}http\S+\/no\/a\n/);
    expect(stdout).toContain('\n  use     train-ai: not wanted, by line 4  Content-Usage: /no/ train-ai=n\n');
  });

  it.each(['Content-Usage: ai=n', 'Content-Usage: foo=n', 'Content-Signal: ai=no'])(
    'calls %s unreadable, as lint does',
    async (line) => {
      const stdin = `User-agent: *\n${line}\n`;
      const { stdout } = await cli(['check', '--purpose', 'train-ai', '--robots', '-', '/a'], { stdin });
      expect(stdout).toContain(`train-ai: the site does not say; in part not understood: line 2  ${line}\n`);
      expect((await cli(['lint', '-'], { stdin })).stdout).toContain(
        `The format, a label or a value of "${line.split(': ')[1]}" is unknown.`,
      );
    },
  );

  it('says what is not understood, and keeps to what can be read of a "no"', async () => {
    const ask = (statement: string): ReturnType<typeof cli> =>
      cli(['check', '--purpose', 'search', '--robots', '-', '/a'], {
        stdin: `User-agent: *\nContent-Signal: ${statement}\n`,
      });
    expect((await ask('search: perhaps')).stdout).toContain(
      'search: the site does not say; in part not understood: line 2  Content-Signal: search: perhaps\n',
    );
    expect((await ask('ai-train=no; search=no')).stdout).toContain('search: not wanted, by line 2');
  });

  it('exits with 0 when it does, and when it does not say', async () => {
    const welcome = await check(site.url('/a'));
    expect(welcome).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  use     train-ai: welcome, by line 5  Content-Signal: ai-train=yes'),
    });
    expect(await cli(['check', '--purpose', 'search', site.url('/no/a')])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  use     search: the site does not say\n'),
    });
  });

  it('a page that may not be fetched is disallowed, and robots.txt itself never unwanted', async () => {
    const disallowed = await check(site.url('/off'));
    expect(disallowed).toMatchObject({ code: 1, stdout: expect.stringMatching(/^DISALLOWED/) });
    expect(disallowed.stdout).not.toContain('  use ');
    const text = 'User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n';
    await using everywhere = await startSite({ '/robots.txt': { body: text } });
    expect((await check(everywhere.url('/robots.txt'))).code).toBe(0);
    expect((await check(everywhere.url('/'))).code).toBe(1);
  });

  it('JSON has the statement, and `allowed` as without a purpose', async () => {
    const { code, stdout } = await check('--json', site.url('/no/a'));
    expect(code).toBe(1);
    expect(records(stdout)).toMatchObject([
      {
        allowed: true,
        usage: { purpose: 'train-ai', preference: 'disallow', source: { line: 4, value: 'train-ai=n' } },
      },
    ]);
    expect(records((await cli(['check', '--json', site.url('/no/a')])).stdout)[0]).not.toHaveProperty(
      'usage',
    );
  });

  it('does not send control characters of a file to the terminal', async () => {
    const stdin = 'User-agent: *\nAllow: /\nContent-Usage: train-ai=n, \u001B[31m\u202Ex=y\n';
    for (const form of [[], ['--json']]) {
      const { stdout } = await cli(['check', '--purpose', 'train-ai', '--robots', '-', ...form, '/a'], {
        stdin,
      });
      expect(stdout).not.toMatch(/[\u001B\u202E]/);
    }
  });
});

describe('explain --purpose', () => {
  it('is a no where robots.txt does not want the page used so, from a site and from a file', async () => {
    const served = await cli(['explain', '--purpose', 'train-ai', site.url('/no/a')]);
    const read = await cli(['explain', '--purpose', 'train-ai', '--robots', '-', '/no/a'], { stdin: ROBOTS });
    for (const { code, stdout } of [served, read]) {
      expect(code).toBe(1);
      expect(stdout).toMatch(/^NOT WANTED {2}/);
      expect(stdout).toMatch(
        /\n {2}purpose +train-ai: not wanted, by line 4  Content-Usage: \/no\/ train-ai=n\n/,
      );
    }
    const welcome = await cli(['explain', '--purpose', 'train-ai', '--json', site.url('/a')]);
    expect(welcome.code).toBe(0);
    expect(records(welcome.stdout)).toMatchObject([{ usage: { purpose: 'train-ai', preference: 'allow' } }]);
    expect(records((await cli(['explain', '--json', site.url('/a')])).stdout)[0]).not.toHaveProperty('usage');
  });
});
