import { eventually } from '../../support/eventually.ts';
import { folderForAll, siteForAll } from '../../support/opened.ts';
import { settled } from '../../support/settled.ts';
import { movedTo, type Site, startSite } from '../../support/site.ts';
import { cli, records } from './session.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';

const folder = folderForAll();
const site = await siteForAll({ '/robots.txt': { body: 'User-agent: *\nDisallow: /\n' } });
const missing = await siteForAll({});
const broken = await siteForAll({ '/robots.txt': { status: 503 } });
const moved = await siteForAll({ '/robots.txt': movedTo(missing.url('/gone'), 301) });

const robotsRequests = ({ requests }: Site): number =>
  requests.filter(({ url }) => url === '/robots.txt').length;

describe('prefetch', () => {
  it('requests each origin once, and prints the result', async () => {
    const before = robotsRequests(site);
    const urls = [
      site.url('/a'),
      site.url('/b?c'),
      missing.url('/'),
      '# comment',
      '',
      broken.url('/'),
      moved.url('/x'),
    ];
    const { code, stdout, stderr } = await cli(['prefetch', '-'], { stdin: urls.join('\n') });
    expect([code, stderr]).toEqual([3, '']);
    expect(robotsRequests(site) - before).toBe(1);
    const byOrigin = new Map(records(stdout).map((record) => [record['origin'], record]));
    expect(byOrigin.size).toBe(4);
    const times = { fetchedAt: expect.any(Number), staleAt: expect.any(Number) };
    expect(byOrigin.get(site.origin)).toEqual({
      schemaVersion: 1,
      origin: site.origin,
      state: 'rules',
      status: 200,
      source: 'network',
      ...times,
    });
    expect(byOrigin.get(broken.origin)).toEqual({
      schemaVersion: 1,
      origin: broken.origin,
      state: 'disallow-all',
      reason: 'unreachable',
      status: 503,
      error: 'ERR_ROBOTS_STATUS',
      source: 'network',
      retryAt: expect.any(Number),
    });
    expect(byOrigin.get(moved.origin)).toMatchObject({
      state: 'allow-all',
      reason: 'unavailable',
      status: 404,
      hops: 1,
      finalUrl: missing.url('/gone'),
    });
  });

  it('prints text with --format text, and invalid lines separately', async () => {
    const urls = [site.url('/a'), broken.url('/'), missing.url('/'), 'example.com'].join('\n');
    const { code, stdout, stderr } = await cli(['prefetch', '--format', 'text', '-'], { stdin: urls });
    expect(code).toBe(2);
    expect(stdout.split('\n').sort()).toEqual([
      '',
      `OPEN         ${missing.origin}  404`,
      `RULES        ${site.origin}  200`,
      `UNREACHABLE  ${broken.origin}  503`,
    ]);
    expect(stderr).toMatch(/^canfetch: line 4: .*; did you mean "https:\/\/example\.com"\?\n$/);
  });

  it('reads a file, and goes on past lines that are no URL', async () => {
    const list = join(folder, 'urls.txt');
    await writeFile(list, `nonsense\n${site.url('/')}\n`);
    const { code, stdout } = await cli(['prefetch', list]);
    expect(code).toBe(2);
    expect(records(stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          input: 'nonsense',
          line: 1,
          error: expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' }),
        }),
        expect.objectContaining({ origin: site.origin }),
      ]),
    );
  });

  it('prints an answer as soon as it is there, whatever came before it in the list', async () => {
    await using hanging = await startSite(() => undefined);
    const stdout = new PassThrough({ encoding: 'utf8' });
    const stop = new AbortController();
    const stdin = `${hanging.url('/')}\n${site.url('/')}\n`;
    const running = cli(['prefetch', '-'], { stdin, stdout, signal: stop.signal });
    const first = await new Promise((resolve) => stdout.once('data', resolve));
    expect(first).toContain(site.origin);
    stop.abort(new Error('Interrupted'));
    stdout.resume();
    expect((await running).code).toBe(130);
  });

  it('reads no further ahead than it can work', async () => {
    let read = 0;
    const stdin = Readable.from(
      (async function* lines() {
        for (; read < 100_000; read++)
          yield `${site.origin.replace('127.0.0.1', `127.0.${read >> 8}.${read & 255}`)}/\n`;
      })(),
    );
    const written = vi.fn();
    const stuck = new Writable({ highWaterMark: 1, write: written });
    const stop = new AbortController();
    const running = cli(['prefetch', '--concurrency', '8', '-'], {
      stdin,
      stdout: stuck,
      signal: stop.signal,
    });
    await eventually(() => expect(written).toHaveBeenCalledOnce());
    expect(await settled(() => read)).toBeLessThan(200);
    stop.abort(new Error('Interrupted'));
    stuck.destroy();
    expect((await running).code).toBe(130);
  });

  it('ends at once with Ctrl-C, while waiting for input or for a list that is a pipe', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('Interrupted')), 100);
    const result = await cli(['prefetch', '-'], { stdin: new PassThrough(), signal: stop.signal });
    expect(result).toEqual({ code: 130, stdout: '', stderr: '' });
  });
});

describe('on a terminal', () => {
  it('a summary follows the lines', async () => {
    const stdin = [site.url('/'), missing.url('/'), broken.url('/'), 'nonsense'].join('\n');
    const { stderr } = await cli(['prefetch', '-'], { stdin, stderrIsTTY: true });
    expect(stderr).toBe('3 origins of 4 URLs · 1 with rules · 1 open · 1 unreachable · 1 invalid\n');
  });
});

describe('--store', () => {
  it('is resumed: what was asked before is not asked again', async () => {
    const store = join(folder, 'store');
    const before = robotsRequests(site);
    const first = await cli(['prefetch', '--store', store, '-'], { stdin: site.url('/') });
    expect(records(first.stdout)).toMatchObject([{ source: 'network' }]);
    const stdin = `${site.url('/')}\n${missing.url('/')}\n`;
    const second = await cli(['prefetch', '--store', store, '-'], { stdin });
    expect(new Map(records(second.stdout).map(({ origin, source }) => [origin, source]))).toEqual(
      new Map([
        [site.origin, 'store'],
        [missing.origin, 'network'],
      ]),
    );
    expect([first.stderr, second.stderr]).toEqual(['', '']);
    const policy = await cli(['policy', '--store', store, '--json', site.origin]);
    expect(records(policy.stdout)).toMatchObject([
      { robots: { source: 'store' }, attempt: { headers: { date: expect.any(String) } } },
    ]);
    expect((await cli(['check', '--store', store, site.url('/')])).code).toBe(1);
    expect(robotsRequests(site) - before).toBe(1);
  });

  it('is kept when the run is interrupted', async () => {
    await using hanging = await startSite(() => undefined);
    const store = join(folder, 'interrupted');
    const stop = new AbortController();
    const stdout = new PassThrough({ encoding: 'utf8' });
    stdout.on('data', () => stop.abort(new Error('Interrupted')));
    const stdin = `${hanging.url('/')}\n${missing.url('/')}\n`;
    const { code, stderr } = await cli(['prefetch', '--store', store, '-'], {
      stdin,
      stdout,
      signal: stop.signal,
    });
    expect([code, stderr]).toEqual([130, '']);
    const again = await cli(['prefetch', '--store', store, '-'], { stdin: missing.url('/') });
    expect(records(again.stdout)).toMatchObject([{ source: 'store' }]);
  });

  it('must be a path where a store can be made', async () => {
    const taken = join(folder, 'taken');
    await writeFile(taken, 'no database');
    const { code, stderr } = await cli(['prefetch', '--store', join(taken, 'x'), '-'], {
      stdin: site.url('/'),
    });
    expect(code).toBe(2);
    expect(stderr).toContain('SQLite');
  });
});
