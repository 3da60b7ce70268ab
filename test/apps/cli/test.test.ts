import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll, siteForAll } from '../../support/opened.ts';
import { cli, records } from './session.ts';

const ROBOTS = 'User-agent: *\nDisallow: /private\nAllow: /p\n\nUser-agent: GPTBot\nDisallow: /\n';

const folder = folderForAll();
const file = join(folder, 'robots.txt');
await writeFile(file, ROBOTS);
const site = await siteForAll({ '/robots.txt': { body: ROBOTS } });
const missing = await siteForAll({});
const broken = await siteForAll({ '/robots.txt': { status: 503 } });
const page = await siteForAll({
  '/robots.txt': { body: '<!doctype html><html><title>Shop</title></html>' },
});

/** Tests a robots.txt with the expectations on standard input. */
const test = (expectations: string, robots = file, ...options: string[]): ReturnType<typeof cli> =>
  cli(['test', robots, '--expect', '-', ...options], { stdin: expectations });

describe('test', () => {
  it('exits with 0 when every expectation is met, of a file and of an origin', async () => {
    const expectations = [
      '\uFEFF# what we promise',
      '',
      'allow ExampleBot /page\r',
      'disallow * /private/report  # nobody',
      ' DISALLOW\tMozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)   /x',
      'allow GPTBot /robots.txt',
      'allow ExampleBot /a#b',
    ].join('\n');
    for (const robots of [file, site.origin]) {
      expect(await test(expectations, robots)).toEqual({
        code: 0,
        stdout: '5 expectations met\n',
        stderr: '',
      });
    }
  });

  it('exits with 1, and shows the line that decides, when one is not', async () => {
    const list = join(folder, 'robots.expect');
    await writeFile(
      list,
      'allow ExampleBot /page\nallow ExampleBot /private/a\ndisallow Other /x\ndisallow * /robots.txt\n',
    );
    const { code, stdout, stderr } = await cli(['test', file, '-e', list]);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.split('\n')).toEqual([
      `FAILED  ${list}:2  allow ExampleBot /private/a`,
      '  agent   ExampleBot → group "*" at line 1',
      '  rule    line 2  Disallow: /private',
      `  robots  ${file}`,
      `FAILED  ${list}:3  disallow Other /x`,
      '  agent   Other → group "*" at line 1',
      '  rule    no rule matches, so the URL is allowed',
      `  robots  ${file}`,
      `FAILED  ${list}:4  disallow * /robots.txt`,
      '  agent   *',
      '  why     /robots.txt itself may always be fetched',
      `  robots  ${file}`,
      '3 of 4 expectations not met',
      '',
    ]);
  });

  it('reads by the dialect of the profile', async () => {
    const robots = join(folder, 'star.txt');
    await writeFile(robots, 'User-agent: *\nDisallow: /*.pdf$\n');
    expect((await test('disallow * /a.pdf', robots)).code).toBe(0);
    expect((await test('disallow * /a.pdf', robots, '--profile', 'koster-1996')).code).toBe(1);
  });

  it('allows everything where there is no robots.txt, and says so', async () => {
    expect((await test('allow * /x', missing.origin)).code).toBe(0);
    const { code, stdout } = await test('disallow * /x', missing.origin);
    expect(code).toBe(1);
    expect(stdout).toContain(`  why     ${missing.origin}: robots.txt is unavailable (404), so everything`);
    expect(stdout).not.toContain('agent ');
  });

  it('exits with 3 when robots.txt is unreachable, whatever is expected', async () => {
    for (const expectation of ['allow * /x', 'disallow * /x']) {
      const { code, stdout, stderr } = await test(expectation, broken.origin);
      expect([code, stdout]).toEqual([3, '']);
      expect(stderr).toContain('robots.txt is unreachable (503)');
    }
  });

  it('warns of a file that is a page, or longer than what crawlers read', async () => {
    expect((await test('allow * /x', page.origin)).stderr).toContain(
      'looks like a web page rather than a robots.txt',
    );
    const long = join(folder, 'long.txt');
    await writeFile(
      long,
      `User-agent: *\n${'Disallow: /aaaaaaaaaaaaaaaaaa\n'.repeat(20_000)}Disallow: /late\n`,
    );
    const { code, stderr } = await test('disallow * /late', long);
    expect(code).toBe(1);
    expect(stderr).toContain('long.txt is longer than crawlers must read');
  });
});

describe('what is no expectation is told with its line, and exits with 2', () => {
  it.each([
    [
      'no expectation',
      '# none yet\n',
      'Expected lines such as "allow Googlebot /p" in standard input, got none',
    ],
    ['no agent', 'allow /x\n', 'Expected "allow AGENT URL" or "disallow AGENT URL" on line 1'],
    ['an agent without a token', 'allow ??? /x\n', 'got "allow ??? /x"'],
    ['a path without a slash', '\nallow * x\n', 'got "x" on line 2 of standard input'],
    [
      'a line without end',
      `allow * /${'x'.repeat(70_000)}\n`,
      'on line 1 of standard input, got "allow * /xx',
    ],
    ['a terminal escape', 'allow \u001B[31m /x\n', String.raw`got "allow \x1b[31m /x"`],
  ])('%s', async (_, expectations, message) => {
    const { code, stdout, stderr } = await test(expectations);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^canfetch: .*\n$/);
    expect(stderr).toContain(message);
  });

  it('a URL of another origin than the one that is tested, but not of one that has only a file', async () => {
    const { code, stderr } = await test('allow * https://elsewhere.example/x', site.origin);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `Expected a path, or a URL of ${site.origin}, got "https://elsewhere.example/x" on line 1`,
    );
    expect((await test(`allow * ${site.url('/x')}`, site.origin)).code).toBe(0);
    expect((await test('allow * https://elsewhere.example/x')).code).toBe(0);
  });
});

describe('for programs', () => {
  it('is a line of JSON an expectation, met or not', async () => {
    const { code, stdout } = await test(
      'allow ExampleBot /page\nallow ExampleBot /private/a\n',
      file,
      '--json',
    );
    expect(code).toBe(1);
    const common = { schemaVersion: 1, file: '-', expected: 'allow', agent: 'ExampleBot', robots: file };
    expect(records(stdout)).toMatchObject([
      { ...common, line: 1, input: '/page', met: true, allowed: true, rule: { line: 3 } },
      { ...common, line: 2, input: '/private/a', met: false, allowed: false, rule: { line: 2 } },
    ]);
  });
});
