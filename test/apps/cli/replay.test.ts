import { createHash } from 'node:crypto';
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { guardFetch, RobotsClient, type RobotsClientOptions, type RobotsInit } from '../../../src/index.ts';
import { type EvidenceFile, evidenceFile } from '../../../src/extras/evidence/index.ts';
import { evidenceLines } from '../../../src/apps/cli/replay/evidence-source.ts';
import { Replay } from '../../../src/extras/evidence/replay.ts';
import { HOUR, START } from '../../support/client.ts';
import { Moment } from '../../support/moment.ts';
import { folderForAll, siteForAll } from '../../support/opened.ts';
import { startService } from '../serve/service.ts';
import { cli, records } from './session.ts';
import { eventually } from '../../support/eventually.ts';

const FORBIDS = 'User-agent: *\nDisallow: /private\n\nUser-agent: OtherBot\nDisallow: /\n';

const folder = folderForAll();

/** The evidence of what a client was made to do. */
async function evidenceOf(
  name: string,
  options: RobotsClientOptions,
  work: (client: RobotsClient, evidence: EvidenceFile) => Promise<unknown>,
): Promise<string> {
  const path = join(folder, `${name}.ndjson`);
  const evidence = await evidenceFile(path);
  const clock = { now: () => START };
  const client = new RobotsClient({ agent: 'ExampleBot/1.0', clock, evidence, ...options });
  await work(client, evidence);
  await client.close();
  await evidence.close();
  return path;
}

/** A crawl in virtual time that starts at `from`. */
function crawl(name: string, from: number): Promise<string> {
  let now = from;
  let status = 200;
  const fetch = async () => new Response(status === 200 ? FORBIDS : null, { status });
  const options = { clock: { now: () => now }, random: () => 0, transport: { fetch } };
  return evidenceOf(name, options, async (client) => {
    await client.check('https://a.example/private');
    await client.check('https://a.example/page');
    now += 25 * HOUR;
    status = 503;
    await client.check('https://a.example/private');
    status = 403;
    await client.check('https://b.example/page');
  });
}

const file = await crawl('evidence', START);
const later = await crawl('later', START + HOUR);

/** A copy with some text replaced. */
function doctored(from: string, to: string): string {
  const path = join(folder, `doctored-${from.length}-${to.length}.ndjson`);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
  return path;
}

describe('replay', () => {
  it('says that all is as recorded', async () => {
    const { code, stdout, stderr } = await cli(['replay', file]);
    expect([code, stderr, stdout]).toEqual([0, '', '4 decisions of 1 run: all as recorded\n']);
  });

  it('reads standard input, and says so in JSON', async () => {
    const { code, stdout } = await cli(['replay', '--json', '-'], { stdin: readFileSync(file, 'utf8') });
    expect(code).toBe(0);
    expect(records(stdout)).toEqual([
      {
        schemaVersion: 1,
        kind: 'report',
        entries: 9,
        runs: 1,
        unfinished: 0,
        skipped: 0,
        decisions: 4,
        flipped: 0,
        changed: 0,
        faults: 0,
      },
    ]);
  });

  it('takes several files as one log, in the order of time, however they are cut into chunks', async () => {
    const chunks = readFileSync(later, 'utf8').match(/.{1,7}\n?/gs) ?? [];
    const { code, stdout } = await cli(['replay', '--json', '--profile', 'koster-1996', file, '-'], {
      stdin: chunks,
    });
    expect(code).toBe(1);
    const listed = records(stdout);
    expect(listed.at(-1)).toMatchObject({ kind: 'report', runs: 2, decisions: 8 });
    const at = listed.slice(0, -1).map((record) => [record['file'], record['at'], record['url']]);
    expect(at).toEqual([
      [file, START + 25 * HOUR, 'https://b.example/page'],
      ['-', START + 26 * HOUR, 'https://b.example/page'],
    ]);
  });

  it('takes a file without lines, as a rotation makes it, beside others', async () => {
    const empty = doctored(readFileSync(file, 'utf8'), '');
    const { code, stdout } = await cli(['replay', file, empty]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('4 decisions of 1 run: all as recorded')]);
  });

  describe('of a run that was rotated over three files', () => {
    let parts: string[];
    beforeAll(async () => {
      const path = join(folder, 'three.ndjson');
      const transport = { fetch: async () => new Response(FORBIDS) };
      await evidenceOf('three', { transport }, async (client, evidence) => {
        const rotate = (name: string): void => {
          evidence.reopen();
          renameSync(path, `${path}.${name}`);
          evidence.reopen();
        };
        await client.check('https://a.example/private');
        rotate('1');
        await client.check('https://b.example/page');
        rotate('2');
        await client.check('https://a.example/page');
      });
      parts = [`${path}.1`, `${path}.2`, path];
    });

    /** The report of some of the files, read as several and as one. */
    const bothWays = async (...which: readonly number[]): Promise<unknown[]> => {
      const files = which.map((index) => parts[index] ?? '');
      const oneLog = files.map((path) => readFileSync(path, 'utf8')).sort(byFirstNumber);
      const several = await cli(['replay', '--json', ...files]);
      const joined = await cli(['replay', '--json', '-'], { stdin: oneLog.join('') });
      const [ours, theirs] = [several, joined].map(({ code, stdout }) => ({
        code,
        report: records(stdout).at(-1),
      }));
      return [ours, theirs];
    };
    const firstNumber = (text: string): number => Number(/"from":(\d+)/.exec(text)?.[1] ?? 0);
    const byFirstNumber = (one: string, other: string): number => firstNumber(one) - firstNumber(other);

    it('counts one run, in whatever order the files are named', async () => {
      for (const order of [
        [0, 1, 2],
        [2, 1, 0],
      ]) {
        const [several, joined] = await bothWays(...order);
        expect(several).toEqual(joined);
        expect(several).toMatchObject({
          code: 0,
          report: { runs: 1, unfinished: 0, decisions: 3, faults: 0 },
        });
      }
    });

    it('misses no line where a file is there twice', async () => {
      const [first = '', second = '', last = ''] = parts;
      const { code, stdout } = await cli(['replay', '--json', first, second, second, last]);
      expect([code, records(stdout)]).toMatchObject([0, [{ runs: 1, unfinished: 0, faults: 0 }]]);
    });

    it('says that lines are missing when a file in between is, and where', async () => {
      const [several, joined] = await bothWays(0, 2);
      expect(several).toEqual(joined);
      expect(several).toMatchObject({ code: 1, report: { runs: 1, decisions: 2, faults: 1 } });
      const [first = '', , last = ''] = parts;
      expect((await cli(['replay', last, first])).stdout).toMatch(
        /^DOES NOT FIT {2}\S*three\.ndjson, line 1, .*\n {2}lines are missing before it\n2 decisions of 1 run: .*; 1 entry does not fit\n$/,
      );
    });
  });

  it('lists a doctored decision with both reasons', async () => {
    const path = doctored(
      '"allowed":true,"state":"rules","reason":"no-rule"',
      '"allowed":false,"state":"rules","reason":"no-rule"',
    );
    const { code, stdout } = await cli(['replay', path]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^DIFFERENT {2}https:\/\/a\.example\/page {2}.*line 4, 2026-01-15 12:00:00Z$/m);
    expect(stdout).toMatch(
      /^ {2}recorded {2}DISALLOWED for ExampleBot under rfc9309: no rule matches, sha256/m,
    );
    expect(stdout).toMatch(/^ {2}replayed {2}ALLOWED for ExampleBot under rfc9309: no rule matches, sha256/m);
    expect(stdout).toMatch(
      /^4 decisions of 1 run: 1 different, 0 for another reason; 1 entry does not fit$/m,
    );
  });

  it.each([
    [
      'bytes that do not fit their digest',
      () => doctored('Disallow: /private', 'Disallow: /privatf'),
      /line 2.*digest/,
    ],
    ['a last line that begins as none does', () => doctored('\n{"type":"end"', '\n{"typo":"end'), /line 9/],
    ['another file', () => new URL('./session.ts', import.meta.url).pathname, /line 1/],
    ['an empty file', () => doctored(readFileSync(file, 'utf8'), ''), /empty/],
    ['no file', () => join(folder, 'none'), /evidence/],
  ])('refuses %s, and names the file', async (_, path, message) => {
    const { code, stderr } = await cli(['replay', path()]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toContain(path().split('/').at(-1));
  });

  it.each([
    ['all but its first character', (end: string) => end.slice(0, 1)],
    ['its newline and a bracket', (end: string) => end.slice(0, -2)],
  ])('skips a last line from which a crash tore %s: the run has no end', async (_, tear) => {
    const torn = join(folder, 'torn.ndjson');
    writeFileSync(torn, readFileSync(file, 'utf8').replace(/\{"type":"end".*\n$/, tear));
    const { code, stdout, stderr } = await cli(['replay', torn]);
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      '4 decisions of 1 run: all as recorded; 1 run without an end: still running, or cut off\n',
    ]);
    const both = await cli(['replay', torn, later]);
    expect([both.code, both.stdout]).toEqual([
      0,
      expect.stringMatching(/^8 decisions of 2 runs: .*; 1 run without/),
    ]);
  });

  it('refuses a line that is too long, and does not end quietly before it', async () => {
    const [run = ''] = readFileSync(file, 'utf8').split('\n');
    const stream = Readable.from([`${run}\n`, 'z'.repeat(2_000), 'z\n', `${run}\n`]);
    const lines = evidenceLines('long.ndjson', stream, new Replay({}), 1_000);
    expect((await lines.next()).value).toMatchObject({ entry: { type: 'run' } });
    await expect(lines.next()).rejects.toMatchObject({
      message: 'long.ndjson: Expected lines of up to 1000 characters, got a longer one',
    });
  });

  it('lists what flips under another agent, and counts every change', async () => {
    const flips = await cli(['replay', '--json', '-a', 'OtherBot/2', file]);
    expect(flips.code).toBe(1);
    expect(records(flips.stdout).map((record) => record['url'])).toEqual([
      'https://a.example/page',
      undefined,
    ]);
    expect(records(flips.stdout).at(-1)).toMatchObject({ decisions: 4, flipped: 1, changed: 3 });
  });

  it.each([
    [[], 'a file of evidence'],
    [['--url', '/page', 'FILE'], 'URL'],
    [['-a', '???', 'FILE'], 'product token'],
  ])('refuses the arguments %j', async (argv, message) => {
    const { code, stderr } = await cli(['replay', ...argv.map((word) => (word === 'FILE' ? file : word))]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('a file that is named twice', () => {
  it('counts once, by whatever path, and standard input, too', async () => {
    const link = join(folder, 'link.ndjson');
    symlinkSync(file, link);
    const [once] = records((await cli(['replay', '--json', file])).stdout);
    expect(once).toMatchObject({ decisions: 4 });
    expect(records((await cli(['replay', '--json', file, link, file])).stdout)).toEqual([once]);
    const stdin = readFileSync(file, 'utf8');
    expect(records((await cli(['replay', '--json', '-', '-'], { stdin })).stdout)).toEqual([once]);
  });
});

describe('replay --list', () => {
  const USAGE = 'User-agent: *\nDisallow: /private\nContent-Usage: /art train-ai=n\nCrawl-delay: 60\n';
  let listed: string;
  beforeAll(async () => {
    const header = { 'content-usage': 'train-ai=n' };
    const site = async (url: string, _init?: RequestInit & RobotsInit): Promise<Response> => {
      if (url.endsWith('/lost')) throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      return new Response('a page', url.endsWith('/own') ? { headers: header } : {});
    };
    const transport = { fetch: async () => new Response(USAGE) };
    listed = await evidenceOf('listed', { transport }, async (client) => {
      const get = guardFetch(site, client, { purpose: 'train-ai' });
      const paths = ['/private', '/art', '/own', '/lost', '/=1+1,"x"'];
      for (const path of paths) await get(`https://a.example${path}`).catch(() => undefined);
      const paced = guardFetch(site, client, { pacing: { defaultDelayMs: 60_000, maxDelayMs: 1 } });
      for (const path of ['/first', '/second'])
        await paced(`https://a.example${path}`).catch(() => undefined);
      await get('https://b.example/x', { robots: { ignore: true, because: 'ours' } });
    });
  });

  it('says each decision in words, and what became of the request', async () => {
    const { code, stdout } = await cli(['replay', '--list', listed]);
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((row) => row.replace(/^2026-01-15 12:00:00Z {2}/, ''));
    const sent = 'requested at 2026-01-15T12:00:00.000Z';
    const agent = (label: string, path: string): string => `${label}  ExampleBot  https://a.example${path}  `;
    expect(rows).toEqual([
      `${agent('DISALLOWED', '/private')}line 2  Disallow: /private; not requested: refused`,
      `${agent('NOT WANTED', '/art')}no rule matches; train-ai: not wanted, by line 3  Content-Usage: /art train-ai=n; not requested: refused`,
      `${agent('ALLOWED', '/own')}no rule matches; ${sent}, 200, refused by its header fields (ERR_ROBOTS_USAGE)`,
      `${agent('ALLOWED', '/lost')}no rule matches; ${sent}, failed: ECONNRESET`,
      `${agent('ALLOWED', '/=1+1,%22x%22')}no rule matches; ${sent}, 200`,
      expect.stringMatching(/^ALLOWED .*\/first .*deferred until .* \(Crawl-delay\)$/),
      expect.stringMatching(/^ALLOWED .*\/second .*deferred until .* \(Crawl-delay\)$/),
      expect.stringMatching(/^NOT CHECKED .*b\.example\/x {2}because: ours; requested .*, 200$/),
      '',
    ]);
  });

  it('is a table for spreadsheets, too', async () => {
    const { stdout } = await cli(['replay', '--list', '--format', 'csv', listed]);
    const [head, first, second] = stdout.split('\n');
    expect(head).toBe('time,url,agent,profile,decision,why,rule,line,preference,sha256,outcome');
    expect(first).toMatch(
      /^2026-01-15 12:00:00Z,https:\/\/a\.example\/private,ExampleBot,rfc9309,disallowed,line 2 {2}Disallow: \/private,disallow: \/private,2,,[0-9a-f]{64},not requested: refused$/,
    );
    expect(second).toContain(',"allowed, but not wanted",');
  });

  it('asks the recorded bytes about a purpose', async () => {
    const { stdout } = await cli(['replay', '--list', '--purpose', 'train-ai', listed]);
    expect(stdout).toMatch(
      /^.*DISALLOWED.*train-ai: no preference is implied for a disallowed page; not requested/,
    );
  });

  it('calls a decision as `check` does, without a robots.txt, too', async () => {
    const busy = async (_url: string, _init?: RobotsInit) => new Response(null, { status: 503 });
    const path = await evidenceOf(
      'undecided',
      { transport: { fetch: (url) => busy(url) } },
      async (client) => {
        await client.check('https://a.example/');
        const robots = { ignore: true, because: 'ours' } as const;
        await guardFetch(busy, client)('https://a.example/b', { robots });
      },
    );
    const { stdout } = await cli(['replay', '--list', path]);
    expect(stdout).toMatch(
      / {2}UNDECIDED {2}ExampleBot {2}https:\/\/a\.example\/ {2}robots\.txt is unreachable/,
    );
    expect(stdout).toContain('because: ours; undecided: robots.txt is unreachable (503); requested at');
    expect((await cli(['replay', '--list', '--format', 'csv', path])).stdout).toContain(',undecided,');
    // What was not checked is no decision.
    expect(await cli(['replay', '--until', '2020-01-01', path])).toMatchObject({ code: 2, stdout: '' });
    expect(
      (await cli(['replay', '-a', 'OtherBot', '--profile', 'robotstxt-1994', path])).stdout,
    ).not.toContain('DISALLOWED');
  });

  it('says beside words which status decided', async () => {
    const { stdout } = await cli(['replay', '--list', file]);
    expect(stdout).toMatch(
      /ALLOWED .*b\.example\/page {2}robots\.txt is unavailable \(403\); no request in the log$/m,
    );
  });
});

describe('a question to which the log has nothing', () => {
  it.each([
    ['a time before it', ['--until', '2020-01-01'], 'decisions'],
    ['an origin that is not in it', ['--origin', 'https://a.exampel'], 'decisions'],
    ['a page that is not in it', ['--url', 'https://c.example/'], 'decisions'],
    ['requests, where none was sent', ['--conduct'], 'requests'],
    ['versions of another origin', ['--versions', '--origin', 'https://c.example'], 'versions'],
  ])('is no answer: %s', async (_, argv, subject) => {
    const { code, stdout, stderr } = await cli(['replay', ...argv, file]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`Expected ${subject} to judge, got none; --summary shows what the log has`);
  });
});

describe('replay --versions and --body', () => {
  it('lists the versions of each file, and writes one', async () => {
    const listed = await cli(['replay', '--versions', file]);
    const [, digest = ''] = /([0-9a-f]{64})/.exec(listed.stdout) ?? [];
    expect([listed.code, listed.stdout]).toEqual([
      0,
      `2026-01-15 12:00:00Z to 2026-01-16 13:00:00Z  https://a.example  ${digest}  67 bytes\n` +
        '2026-01-16 13:00:00Z to 2026-01-16 13:00:00Z  https://b.example  unavailable (403)\n',
    ]);
    expect(await cli(['replay', '--body', digest, file])).toMatchObject({ code: 0, stdout: FORBIDS });
    expect(await cli(['replay', '--body', digest.slice(0, 12).toUpperCase(), file])).toMatchObject({
      code: 0,
      stdout: FORBIDS,
    });
    const json = await cli(['replay', '--versions', '--json', '--origin', 'https://a.example/x', file]);
    expect(records(json.stdout)).toEqual([
      {
        schemaVersion: 1,
        kind: 'version',
        origin: 'https://a.example',
        from: START,
        until: START + 25 * HOUR,
        sha256: digest,
      },
    ]);
  });

  it('tells one status from another where there was no file', async () => {
    const later = START + 48 * HOUR;
    let now = START;
    const transport = { fetch: async () => new Response(null, { status: now === START ? 404 : 410 }) };
    const options = { clock: { now: () => now }, transport };
    const path = await evidenceOf('without-file', options, async (client) => {
      for (now of [START, later]) await client.check('https://a.example/page');
    });
    const { stdout } = await cli(['replay', '--versions', '--json', path]);
    expect(records(stdout)).toMatchObject([
      { from: START, until: START, outcome: 'unavailable', status: 404 },
      { from: later, until: later, outcome: 'unavailable', status: 410 },
    ]);
  });

  it('refuses a digest that no version has', async () => {
    const { code, stderr } = await cli(['replay', '--body', '0'.repeat(64), file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no version has')]);
  });
});

describe('a view of a log from which a line was removed', () => {
  const FAULT = /^DOES NOT FIT {2}.*line 3.*\n {2}lines are missing before it$/m;
  const cut = join(folder, 'without-decision.ndjson');
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(cut, lines.filter((_, index) => index !== 2).join('\n'));

  it.each([
    ['the decisions about the page of that line', ['--url', 'https://a.example/private'], '(last good copy)'],
    ['the versions', ['--versions'], 'https://a.example'],
  ])('lists %s, and says that lines are missing', async (_, argv, shown) => {
    const { code, stdout } = await cli(['replay', ...argv, cut]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(FAULT)]);
    expect(stdout).toContain(shown);
    const { stdout: json } = await cli(['replay', '--json', ...argv, cut]);
    expect(records(json)[0]).toMatchObject({ file: cut, kind: 'entry', line: 3, fault: 'missing-lines' });
  });

  it('writes the bytes of a version alone, and says so on standard error', async () => {
    const digest = createHash('sha256').update(FORBIDS).digest('hex');
    const { code, stdout, stderr } = await cli(['replay', '--body', digest, cut]);
    expect([code, stdout, stderr]).toEqual([1, FORBIDS, expect.stringMatching(FAULT)]);
  });
});

describe('replay --conduct', () => {
  const SLOW = 'User-agent: *\nDisallow: /private\nCrawl-delay: 10\n';

  /** A crawl of pages at these seconds. */
  async function crawlAt(seconds: readonly number[], text = SLOW): Promise<string> {
    let now = START;
    const options = { clock: { now: () => now }, transport: { fetch: async () => new Response(text) } };
    return evidenceOf(`conduct-${seconds.join('-')}-${text.length}`, options, async (client) => {
      const get = guardFetch(async (_url: string) => new Response('a page'), client);
      for (const second of seconds) {
        now = START + second * 1_000;
        await get(`https://a.example/${second}`);
      }
    });
  }
  const early = async (path: string): Promise<unknown[]> => {
    const { code, stdout } = await cli(['replay', '--conduct', '--json', path]);
    const lines = records(stdout);
    expect(lines.at(-1)).toMatchObject({ kind: 'conduct', early: lines.length - 1 });
    expect(code).toBe(lines.length > 1 ? 1 : 0);
    return lines
      .slice(0, -1)
      .map(({ url, reason, earliestAt }) => [url, reason, (Number(earliestAt) - START) / 1_000]);
  };

  it('finds nothing where the crawler waited', async () => {
    const { code, stdout } = await cli(['replay', '--conduct', await crawlAt([0, 10, 20, 30.001])]);
    expect([code, stdout]).toEqual([0, '4 requests: none too early\n']);
  });

  it('lists each start that was too early for Crawl-delay or Request-rate', async () => {
    expect(await early(await crawlAt([0, 4, 14, 15]))).toEqual([
      ['https://a.example/4', 'crawl-delay', 10],
      ['https://a.example/15', 'crawl-delay', 24],
    ]);
    const rate = 'User-agent: *\nRequest-rate: 1/20\n';
    expect(await early(await crawlAt([0, 12, 32], rate))).toEqual([
      ['https://a.example/12', 'request-rate', 20],
    ]);
    const { stdout } = await cli(['replay', '--conduct', await crawlAt([0, 4])]);
    expect(stdout).toMatch(
      /^TOO EARLY {2}https:\/\/a\.example\/4 {2}.*line 7\n {2}sent at .*, 6 s before the end of Crawl-delay$/m,
    );
    expect(stdout).toMatch(/^2 requests: 1 too early$/m);
  });

  it('checks a request after a rotation against the one before it', async () => {
    const path = join(folder, 'rotated.ndjson');
    let now = START;
    const options = { clock: { now: () => now }, transport: { fetch: async () => new Response(SLOW) } };
    await evidenceOf('rotated', options, async (client, evidence) => {
      const responded = new Moment();
      const page = async (url: string): Promise<Response> => {
        if (url.endsWith('/private')) await responded.come;
        return new Response('a page');
      };
      const get = guardFetch(page, client, { mode: 'report' });
      await get('https://a.example/first');
      now += 20_000;
      const refused = get('https://a.example/private');
      await setImmediate();
      renameSync(path, `${path}.1`);
      evidence.reopen();
      responded.now();
      await refused;
      now += 4_000;
      await get('https://a.example/second');
    });
    const { stdout: part } = await cli(['replay', '--conduct', path]);
    expect(part).toMatch(/^2 requests: 1 too early; of 1 the site’s rules and delay are not known\n$/m);
    const { stdout } = await cli(['replay', '--conduct', '--json', path, `${path}.1`]);
    expect(records(stdout)).toMatchObject([
      { kind: 'although-refused', file: path, line: 2, decisionFile: `${path}.1`, refusal: 'disallowed' },
      { kind: 'early', file: path, url: 'https://a.example/second', reason: 'crawl-delay' },
      { kind: 'conduct', requests: 3, early: 1, refused: 1, unknown: 0 },
    ]);
  });

  it('says which delay of the crawler’s own was not kept', async () => {
    const path = await crawlAt([0, 10], 'User-agent: *\n');
    const claiming = join(folder, 'claiming.ndjson');
    const pacing = '"startedAt":$1,"pacing":{"defaultDelayMs":500,"minDelayMs":30000}';
    writeFileSync(claiming, readFileSync(path, 'utf8').replace(/"startedAt":(\d+)/g, pacing));
    const { stdout } = await cli(['replay', '--conduct', claiming]);
    expect(stdout).toContain(', 20 s before the end of `minDelayMs`\n');
    expect(stdout).toMatch(/^2 requests: 1 too early$/m);
  });
});

const site = await siteForAll({ '/robots.txt': { body: FORBIDS } });

describe('--evidence', () => {
  it.each([
    ['check', (path: string) => ['check', '--evidence', path, '-a', 'ExampleBot', site.url('/private')], 1],
    ['prefetch', (path: string) => ['prefetch', '--evidence', path, '-'], 0],
  ])('of %s is replayed', async (name, argv, code) => {
    const path = join(folder, `${name}.ndjson`);
    expect((await cli(argv(path), { stdin: `${site.origin}\n` })).code).toBe(code);
    const replayed = await cli(['replay', path]);
    expect(replayed).toMatchObject({ code: 0, stdout: '1 decision of 1 run: all as recorded\n' });
  });

  it('that cannot be written ends the command before it asks or answers anything', async () => {
    const path = join(folder, 'none', 'evidence.ndjson');
    const before = site.requests.length;
    for (const argv of [
      ['check', site.url('/page')],
      ['prefetch', '-'],
      ['serve', '--port', '0'],
    ]) {
      const [name = '', ...rest] = argv;
      const run = await cli([name, '--evidence', path, ...rest], { stdin: site.origin });
      expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('ENOENT') });
    }
    expect(site.requests).toHaveLength(before);
  });

  it('of the service starts a new file on SIGHUP', async () => {
    const path = join(folder, 'served.ndjson');
    const service = await startService(['--allow-private', '--evidence', path]);
    const ask = async (): Promise<number> =>
      (await fetch(`${service.origin}/v1/check?url=${encodeURIComponent(site.url('/private'))}`)).status;
    expect(await ask()).toBe(200);
    await eventually(() => expect(readFileSync(path, 'utf8')).toContain('"type":"decision"'));
    renameSync(path, `${path}.1`);
    service.hangUp();
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(await ask()).toBe(200);
    expect(await service.terminate()).toBe(0);
    for (const file of [`${path}.1`, path]) {
      expect(await cli(['replay', file])).toMatchObject({
        code: 0,
        stdout: '1 decision of 1 run: all as recorded\n',
      });
    }
  });
});
