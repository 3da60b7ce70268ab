import { describe, expect, it, vi } from 'vitest';
import { afterEachTest } from '../../support/after-each-test.ts';
import { siteForAll } from '../../support/opened.ts';
import { movedTo, startSite } from '../../support/site.ts';
import { cli, records } from './session.ts';

const ROBOTS = `User-agent: *
Disallow: /private
Allow: /private/open

User-agent: ExampleBot
Crawl-delay: 2
Disallow: /only-example
`;

const site = await siteForAll({ '/robots.txt': { body: ROBOTS } });
const moved = await siteForAll({ '/robots.txt': movedTo(site.url('/robots.txt'), 301) });
const missing = await siteForAll({});
const broken = await siteForAll({ '/robots.txt': { status: 503, headers: { 'retry-after': '120' } } });
const hanging = await siteForAll(() => undefined);

describe('exit code', () => {
  it('is 0 when every URL is allowed', async () => {
    expect((await cli(['check', site.url('/'), site.url('/private/open')])).code).toBe(0);
  });

  it('is 1 when one is disallowed', async () => {
    expect((await cli(['check', site.url('/'), site.url('/private')])).code).toBe(1);
  });

  it('is 3 when one is undecided, also beside a disallowed one', async () => {
    expect((await cli([site.url('/private'), broken.url('/')])).code).toBe(3);
  });

  it('is 2 when one is no URL, whatever the others are, and they are answered', async () => {
    const { code, stdout, stderr } = await cli([
      broken.url('/'),
      'mailto:a@example.com',
      site.url('/private'),
    ]);
    expect(code).toBe(2);
    expect(stdout).toContain(`UNDECIDED   ${broken.url('/')}`);
    expect(stdout).toContain(`DISALLOWED  ${site.url('/private')}`);
    expect(stderr).toBe(
      'canfetch: Expected an absolute http, https or ftp URL, got "mailto:a@example.com"\n',
    );
  });

  it('is 1 for a site whose robots.txt is restricted under a profile that says so', async () => {
    await using closed = await startSite({ '/robots.txt': { status: 403 } });
    const { code, stdout } = await cli(['--profile', 'koster-1996', closed.url('/')]);
    expect(code).toBe(1);
    expect(stdout).toContain('access to robots.txt is restricted (403)');
  });
});

describe('for people', () => {
  it('shows the verdict, the group, the deciding line, and where the rules come from', async () => {
    const { stdout, stderr } = await cli([site.url('/private/a')]);
    expect(stdout.split('\n')).toEqual([
      `DISALLOWED  ${site.url('/private/a')}`,
      '  agent   canfetch → group "*" at line 1',
      '  rule    line 2  Disallow: /private',
      `  robots  ${site.url('/robots.txt')}  200`,
      expect.stringMatching(/^ {2}cache {3}fetched just now, fresh for 2[1-4] h$/),
      '',
    ]);
    expect(stderr).toBe('');
  });

  it('shows redirects of robots.txt', async () => {
    const { stdout } = await cli([moved.url('/')]);
    expect(stdout).toContain(
      `robots  ${site.url('/robots.txt')}  200  1 redirect from ${moved.url('/robots.txt')}`,
    );
  });

  it('says that rules may lie beyond the limit, and that the file is a page', async () => {
    const body = `${ROBOTS}${'# and so on\n'.repeat(50_000)}`;
    const page = '<!doctype html><title>Home</title>';
    await using long = await startSite({ '/robots.txt': { body } });
    await using home = await startSite({ '/robots.txt': { body: page } });
    expect((await cli(['check', long.url('/a')])).stdout).toMatch(
      /^ALLOWED [^]*\n {2}file +is longer than what is read; rules after that limit are ignored\n/,
    );
    expect((await cli(['check', home.url('/a')])).stdout).toMatch(
      /^ALLOWED [^]*\n {2}looks +like a web page rather than a robots.txt\n/,
    );
    expect(records((await cli(['check', '--json', long.url('/a'), home.url('/a')])).stdout)).toMatchObject([
      { allowed: true, robots: { truncated: true } },
      { allowed: true, robots: { suspect: 'html' } },
    ]);
    const honest = (await cli(['check', site.url('/a')])).stdout;
    expect(honest).not.toMatch(/ {2}(?:looks|file) /);

    const list = await cli(['check', home.url('/a'), home.url('/b')]);
    expect(list.stdout.match(/^ALLOWED .*; robots\.txt looks like a web page$/gm)).toHaveLength(2);

    const fromFile = await cli(['check', '--robots', '-', '/a'], { stdin: page });
    expect(fromFile.stdout).toContain('like a web page rather than a robots.txt');
    expect((await cli(['explain', '--robots', '-', '/a'], { stdin: page })).stdout).toContain(
      'like a web page',
    );
    const record = (await cli(['check', '--json', '--robots', '-', '/a'], { stdin: body })).stdout;
    expect(records(record)).toMatchObject([{ robots: { file: '-', truncated: true, source: 'file' } }]);
  });

  it('says why everything is allowed', async () => {
    expect((await cli([missing.url('/')])).stdout).toContain(
      'why     robots.txt is unavailable (404), so everything is allowed',
    );
    expect((await cli([site.url('/robots.txt')])).stdout).toContain(
      '/robots.txt itself may always be fetched',
    );
  });

  it('says why nothing is allowed, and when the next attempt is due', async () => {
    const { stdout } = await cli([broken.url('/')]);
    expect(stdout).toContain('robots.txt is unreachable (503)');
    expect(stdout).toMatch(/retry {3}next try in 2 min \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\)/);
  });

  it('ends an attempt at the deadline', async () => {
    const { code, stdout } = await cli(['--deadline-ms', '100', hanging.url('/')]);
    expect(code).toBe(3);
    expect(stdout).toContain('the server took too long to respond, ERR_ROBOTS_DEADLINE');
  });
});

describe('several URLs', () => {
  it('are a line each: verdict, URL, reason', async () => {
    const list = [
      [site.url('/private/a'), 'DISALLOWED  ', '  line 2  Disallow: /private'],
      [site.url('/'), 'ALLOWED     ', '  no rule matches'],
      [site.url('/robots.txt'), 'ALLOWED     ', '  /robots.txt itself may always be fetched'],
      [missing.url('/'), 'ALLOWED     ', '  unavailable: 404'],
      [broken.url('/'), 'UNDECIDED   ', '  unreachable: 503'],
    ] as const;
    const expected = list.map(([url, verdict, reason]) => `${verdict}${url}${reason}\n`).join('');
    const urls = list.map(([url]) => url);
    const terminal = { stdoutIsTTY: true, columns: 100, env: { NO_COLOR: '1' } };
    expect((await cli(['check', ...urls])).stdout).toBe(expected);
    expect((await cli(['check', ...urls], terminal)).stdout).toBe(expected);
    expect((await cli(['check', '-'], { ...terminal, stdin: urls.join('\n') })).stdout).toBe(expected);
    // A list may turn out to have one line only.
    expect((await cli(['check', '-'], { stdin: urls[0] ?? '' })).stdout).toBe(expected.split(/(?<=\n)/)[0]);
  });
});

describe('agent', () => {
  it('is the first of several that a group names, in the case it was given', async () => {
    const { stdout, code } = await cli([
      '-a',
      'Unheard',
      '--agent=EXAMPLEBOT/2.1 (+https://e.example)',
      site.url('/only-example'),
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain('agent   EXAMPLEBOT → group "ExampleBot" at line 5');
    expect(stdout).toContain('delay   Crawl-delay 2 s (guards with `pacing` keep it)');
  });

  it('signs the request for robots.txt', async () => {
    await using seen = await startSite({});
    await cli(['-a', 'ExampleBot/2.1', seen.url('/')]);
    expect(seen.requests.map(({ headers }) => headers['user-agent'])).toEqual(['ExampleBot/2.1']);
  });
});

describe('--json', () => {
  it('is a decision with a schema version on each line, in the order of the URLs', async () => {
    const { stdout, stderr } = await cli([
      '--json',
      site.url('/private/a'),
      broken.url('/'),
      'nonsense:',
      missing.url('/'),
    ]);
    const [disallowed, undecided, invalid, allowed] = records(stdout);
    expect(stderr).toBe('');
    expect(disallowed).toMatchObject({
      schemaVersion: 1,
      input: site.url('/private/a'),
      url: site.url('/private/a'),
      origin: site.origin,
      agent: 'canfetch',
      profile: 'rfc9309',
      state: 'rules',
      allowed: false,
      reason: 'rule',
      rule: { directive: 'disallow', pattern: '/private', line: 2 },
      group: { agent: '*', lines: [1] },
      robots: { url: site.url('/robots.txt'), hops: 0, status: 200, source: 'network' },
    });
    expect(undecided).toMatchObject({ allowed: false, reason: 'unreachable', retryAt: expect.any(Number) });
    expect(invalid).toEqual({
      schemaVersion: 1,
      input: 'nonsense:',
      error: {
        code: 'ERR_ROBOTS_INVALID_URL',
        message: 'Expected an absolute http, https or ftp URL, got "nonsense:"',
      },
    });
    expect(allowed).toMatchObject({ allowed: true, reason: 'unavailable', state: 'allow-all' });
  });
});

describe('an agent that names no bot', () => {
  it('is warned of, without a client too', async () => {
    vi.resetModules();
    const session = await import('./session.ts');
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    afterEachTest(() => warn.mockRestore());
    await session.cli(['check', '--robots', '-', '-a', 'My Bot/1.0', '/'], { stdin: ROBOTS });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('robots.txt is checked for "My"'),
      expect.objectContaining({ code: 'CANFETCH_AGENT_UNNAMED' }),
    );
  });
});
