import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RobotsClient } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.ts';
import { eventually } from '../../support/eventually.ts';
import { folderForAll, siteForAll } from '../../support/opened.ts';
import { startSite } from '../../support/site.ts';
import { cli, masked, records } from './session.ts';

const ROBOTS = `# rules
User-agent: *
Disallow: /private
Allow: /p

User-agent: OtherBot
Disallow: /
`;

const site = await siteForAll({ '/robots.txt': { body: ROBOTS } });
const folder = folderForAll();

async function file(text: string | Uint8Array): Promise<string> {
  const path = join(folder, 'robots.txt');
  await writeFile(path, text);
  return path;
}

/** The annotated file alone. */
const annotated = (stdout: string): string[] => stdout.split('\n').filter((line) => /[│┃⋮]/.test(line));

describe('explain', () => {
  it('tells a pause of page requests that another process of the fleet has begun, also in JSON', async () => {
    const store = sqliteStore({ path: join(folder, 'fleet.sqlite') });
    const [member, other] = [1, 2].map(() => new RobotsClient({ agent: 'canfetch', store })) as [
      RobotsClient,
      RobotsClient,
    ];
    const url = site.url('/page');
    const explain = (...more: string[]) =>
      cli(['explain', '--store', join(folder, 'fleet.sqlite'), ...more, url]);
    await member.check(url);
    expect((await explain()).stdout).not.toMatch(/paused/);
    const until = Date.now() + 3_600_000;
    member.report(url, { reachable: true, retryAfter: '3600' });
    await eventually(async () => expect(await other.policy(url)).toHaveProperty('pacing.pause'));
    const { stdout } = await explain();
    expect(stdout).toMatch(
      /^ {2}paused +the site asked for a pause \(incident 1\) that ends in .+ \(\d{4}-/m,
    );
    const [received] = records((await explain('--json')).stdout);
    expect(received).toMatchObject({
      policy: { pacing: { pause: { incident: 1, delayFrom: 'retry-after' } } },
    });
    const { pause } = (received as { policy: { pacing: { pause: { from: number; until: number } } } }).policy
      .pacing;
    expect(pause.until - pause.from).toBeGreaterThan(3_000_000);
    expect(Math.abs(pause.until - until)).toBeLessThan(300_000);
    for (const each of [member, other, store]) await each.close();
  });

  it('says that the length of a pause is a guess where the site named no time', async () => {
    const path = join(folder, 'guessed.sqlite');
    const store = sqliteStore({ path });
    const member = new RobotsClient({ agent: 'canfetch', store });
    const url = site.url('/page');
    const booking = await member.reserve(url);
    if (booking.status === 'booked') booking.done({ status: 503 });
    await eventually(async () =>
      expect((await cli(['explain', '--store', path, url])).stdout).toMatch(
        /^ {2}paused +the site named no time: a guessed pause \(incident 1\) that ends in /m,
      ),
    );
    for (const each of [member, store]) await each.close();
  });

  it('shows the file with the group, the deciding line and the one that lost', async () => {
    const { code, stdout, stderr } = await cli(['explain', site.url('/private/a')]);
    expect([code, stderr]).toEqual([1, '']);
    const lines = masked(stdout, site).split('\n');
    expect(lines.map((line) => line.replace(/^ {2}because .*/, '  because …'))).toEqual([
      'DISALLOWED  https://example.com/private/a',
      '  agent    canfetch → group "*" at line 2',
      '  rule     line 3  Disallow: /private',
      '  beats    line 4  Allow: /p, which is shorter',
      '  robots   https://example.com/robots.txt  200',
      '  fetched  just now (TIME)',
      '  fresh    until it ends in TIME (TIME)',
      '  because …',
      '  next     in TIME (TIME), before it is stale, at the next question',
      `  file     ${ROBOTS.length} bytes of the 512,000 that are read (0.02 %)`,
      '',
      '    1 │ # rules',
      '    2 ┃ User-agent: *',
      '  → 3 ┃ Disallow: /private  ← decides',
      '    4 ┃ Allow: /p  ← matches too',
      '    5 │',
      '    6 │ User-agent: OtherBot',
      '    7 │ Disallow: /',
      '',
    ]);
  });

  it('marks the group alone when no rule matches', async () => {
    const { code, stdout } = await cli(['explain', site.url('/other')]);
    expect(code).toBe(0);
    expect(annotated(stdout).filter((line) => line.includes('┃'))).toHaveLength(3);
    expect(stdout).not.toContain('←');
  });

  it('says why there is no file to show, and exits with 3 when it is unreachable', async () => {
    await using broken = await startSite({ '/robots.txt': { status: 503 } });
    const { code, stdout } = await cli(['explain', broken.url('/a')]);
    expect(code).toBe(3);
    expect(stdout).toContain('UNDECIDED');
    expect(annotated(stdout)).toEqual([]);
  });

  it.each<[string, string, string[], string]>([
    ['a tie', 'User-agent: *\nDisallow: /a\nAllow: /a', [], 'beats   line 2  Disallow: /a, which is as long'],
    [
      'the first match',
      'User-agent: *\nDisallow: /a\nAllow: /a/b',
      ['--profile', 'koster-1996'],
      'beats   line 3  Allow: /a/b, which comes later: the first match decides',
    ],
  ])('tells why the other rule lost: %s', async (_, text, argv, expected) => {
    const { stdout } = await cli(['explain', '--robots', await file(text), ...argv, '/a/b']);
    expect(stdout).toContain(expected);
  });

  it.each<[string, string[], string]>([
    [
      'what `*` would say',
      ['User-agent: *', 'Disallow: /admin', 'User-agent: GPTBot', 'Allow: /'],
      'but     "*" is disallowed, by line 2  Disallow: /admin; a group that names the agent replaces it',
    ],
    [
      'a group that runs on',
      ['User-agent: GPTBot', 'Crawl-delay: 5', 'User-agent: amazonbot', 'Disallow: /'],
      'group   it began on line 1: "Crawl-delay" on line 2 does not end a group',
    ],
    ['a near miss by case', ['User-agent: *', 'Disallow: /Admin'], 'Disallow: /Admin, but for the case'],
    ['… by a slash', ['User-agent: *', 'Disallow: /admin/'], 'Disallow: /admin/, but for the slash'],
    ['… by its start', ['User-agent: *', 'Disallow: /?b=9'], 'Disallow: /?b=9, but for what is before it'],
  ])('says under the decision: %s', async (_, lines, said) => {
    const path = said.includes('?') ? '/shop/?b=9' : '/admin';
    const stdin = lines.join('\n');
    const { stdout } = await cli(['explain', '-a', 'GPTBot', '--robots', '-', path], { stdin });
    expect(stdout).toContain(said);
    const other = await cli(['explain', '-a', 'GPTBot', '--robots', '-', '/other'], {
      stdin: 'User-agent: *\nDisallow: /admin\nUser-agent: GPTBot\nCrawl-delay: 5\nDisallow: /admin\n',
    });
    expect(other.stdout).not.toMatch(/^ {2}(?:but|group|close) /m);
  });

  it('asks for robots.txt once, and is one JSON object with the runner-up and the policy', async () => {
    const before = site.requests.length;
    const { stdout } = await cli(['explain', '--json', site.url('/private/a')]);
    expect(site.requests.length - before).toBe(1);
    expect(records(stdout)).toMatchObject([
      {
        schemaVersion: 1,
        allowed: false,
        runnerUp: { rule: { line: 4 }, lost: 'shorter' },
        policy: { state: 'rules' },
      },
    ]);
  });
});

describe('a long file', () => {
  const filler = (lines: number): string => '# filler\n'.repeat(lines);
  const text = `${filler(100)}User-agent: *\nDisallow: /x\n${filler(100)}Allow: /x/y\n${filler(100)}`;

  it('is shown where it matters', async () => {
    const { stdout } = await cli(['explain', '--robots', await file(text), '/x/y/z']);
    expect(annotated(stdout)).toEqual([
      '        ⋮ 98 lines',
      '     99 │ # filler',
      '    100 │ # filler',
      '    101 ┃ User-agent: *',
      '    102 ┃ Disallow: /x  ← matches too',
      '    103 │ # filler',
      '    104 │ # filler',
      '        ⋮ 96 lines',
      '    201 │ # filler',
      '    202 │ # filler',
      '  → 203 ┃ Allow: /x/y  ← decides',
      '    204 │ # filler',
      '    205 │ # filler',
      '        ⋮ 98 lines',
    ]);
  });

  it('is shown whole with --all', async () => {
    const { stdout } = await cli(['explain', '--all', '--robots', await file(text), '/x/y/z']);
    expect(annotated(stdout)).toHaveLength(303);
  });

  it('of a hundred thousand line ends is shown in time', async () => {
    const path = await file(`User-agent: *\nDisallow: /a${'\r'.repeat(100_000)}Allow: /a/b`);
    const { code, stdout } = await cli(['explain', '--all', '--robots', path, '/a/b']);
    expect(code).toBe(0);
    expect(stdout).toContain('→ 100002 ┃ Allow: /a/b');
  });
});

describe('on a terminal', () => {
  it('lines are cut to its width, notes stay', async () => {
    const path = await file(`User-agent: *\nDisallow: /${'a'.repeat(200)}\n`);
    const { stdout } = await cli(['explain', '--robots', path, `/${'a'.repeat(200)}`], {
      env: { NO_COLOR: '1' },
      stdoutIsTTY: true,
      columns: 50,
    });
    const decides = annotated(stdout)[1];
    expect(decides).toMatch(/^ {2}→ 2 ┃ Disallow: \/a+… {2}← decides$/);
    expect(decides).toHaveLength(50);
  });

  it('the deciding line is coloured by its verdict', async () => {
    const options = { stdoutIsTTY: true };
    const { stdout } = await cli(['explain', '--robots', await file(ROBOTS), '/private'], options);
    expect(stdout).toMatch(/\u001B\[31m→ 3 ┃ Disallow: \/private/);
  });
});
