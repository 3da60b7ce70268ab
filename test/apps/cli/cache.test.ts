import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.ts';
import { RobotsClient } from '../../../src/index.ts';
import { fakeOrigin, type FakeOrigin } from '../../../src/extras/testing/index.ts';
import { RecordCodec } from '../../../src/core/store/record-codec.ts';
import { describeWith } from '../../support/installed.ts';
import { opened, openedFolder } from '../../support/opened.ts';
import { startRedis } from '../../support/redis-server.ts';
import { cli, type CliInput, type CliResult, records } from './session.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';

let folder: string;
let path: string;
let sites: FakeOrigin[];

beforeEach(async () => {
  folder = openedFolder();
  path = join(folder, 'store');
  sites = [
    opened(await fakeOrigin({ robots: RULES })),
    opened(await fakeOrigin({ robots: { status: 404 } })),
  ];
});

const origins = (): string[] => sites.map((site) => new URL(site.url('/')).origin);

/** A crawl that leaves what it learnt in the store. */
async function crawl(agent = 'ExampleBot/1.0', where = path): Promise<void> {
  await using store = sqliteStore({ path: where });
  await using robots = new RobotsClient({ agent, store, storeDeadlineMs: 10_000 });
  for (const site of sites) await robots.canFetch(site.url('/private'));
}

const cache = (action: string, more: readonly string[] = [], input?: CliInput): Promise<CliResult> =>
  cli(['cache', action, '--store', path, ...more], input);

describe('cache ls', () => {
  it('prints a line of JSON an origin, without its file', async () => {
    await crawl();
    const { code, stdout, stderr } = await cache('ls');
    expect([code, stderr]).toEqual([0, '']);
    const listed = records(stdout);
    expect(listed.map(({ origin }) => origin).sort()).toEqual(origins().sort());
    expect(listed.find(({ origin }) => origin === origins()[0])).toMatchObject({
      schemaVersion: 1,
      agent: 'examplebot',
      addressPolicy: 'no-public-to-private',
      answer: { kind: 'rules', status: 200 },
      copy: { bytes: RULES.length },
    });
    expect(stdout).not.toContain('Disallow');
  });

  it('prints a table on a terminal, and JSON there too when told to', async () => {
    for (const status of [503, 403]) sites.push(opened(await fakeOrigin({ robots: { status } })));
    await crawl();
    const { stdout, stderr } = await cache('ls', [], { stdoutIsTTY: true, env: { NO_COLOR: '1' } });
    expect(stderr).toBe('');
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^ {2}origin +agent +answer +file +fetched +kept for$/);
    expect(rows).toHaveLength(4);
    expect(stdout).toMatch(/ examplebot +rules \(200\) +33 bytes +(?:just now|\d+ s ago) +\d/);
    for (const cell of ['unavailable (404)', 'failing (503)', 'unavailable (403)'])
      expect(stdout).toContain(cell);
    const asJson = await cache('ls', ['--json'], { stdoutIsTTY: true });
    expect(records(asJson.stdout).map(({ rejected }) => rejected)).toEqual(Array(4).fill(undefined));
  });

  it('shows the records that a client would reject, and why', async () => {
    await crawl();
    const store = sqliteStore({ path });
    for await (const { key } of store.entries()) await store.set(key, 'junk', { ttlMs: 60_000 });
    await store.close();
    const { stdout } = await cache('ls');
    expect(records(stdout).map(({ rejected }) => rejected)).toEqual(['damaged', 'damaged']);
    expect((await cache('ls', ['--format', 'text'])).stdout).toContain('rejected: damaged');
  });
});

describe('cache show', () => {
  it('shows all of an origin, its file too', async () => {
    await crawl();
    const url = sites[0]!.url('/any/page');
    const [shown] = records((await cache('show', [url])).stdout);
    expect(shown).toMatchObject({ origin: origins()[0], copy: { text: RULES } });
  });

  it('exits with 1 for an origin that is not there', async () => {
    await crawl();
    const { code, stderr } = await cache('show', ['https://example.com/']);
    expect([code, stderr]).toEqual([1, 'canfetch: the store has no record of https://example.com\n']);
  });
});

describe('cache clear', () => {
  it('deletes one origin, or all', async () => {
    await crawl();
    expect((await cache('clear', [origins()[0]!])).code).toBe(0);
    expect(records((await cache('ls')).stdout).map(({ origin }) => origin)).toEqual([origins()[1]]);
    expect((await cache('clear')).code).toBe(0);
    expect((await cache('ls')).stdout).toBe('');
  });
});

describeWith('redis-server')('cache of a Redis server', () => {
  it('is listed, shown and cleared, and nothing else of the server', async () => {
    await using server = await startRedis();
    await server.command('SET', 'other', 'value');
    await server.command('SET', 'canfetch:{v2:slot:https://example.com}:slot', '1', 'PX', '60000');
    const urls = sites.map((site) => site.url('/'));
    const checked = await cli(['check', '--store', server.url, '-a', 'ExampleBot', ...urls]);
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    const inRedis = (action: string, more: readonly string[] = []): Promise<CliResult> =>
      cli(['cache', action, '--store', server.url, ...more]);
    const listed = records((await inRedis('ls')).stdout);
    expect(listed.map(({ origin }) => origin).sort()).toEqual(origins().sort());
    expect(records((await inRedis('show', [origins()[0]!])).stdout)).toMatchObject([
      { copy: { text: RULES } },
    ]);
    expect((await inRedis('clear', [origins()[0]!])).code).toBe(0);
    expect(records((await inRedis('ls')).stdout)).toHaveLength(1);
    expect((await inRedis('clear')).code).toBe(0);
    expect(records((await inRedis('ls')).stdout)).toEqual([]);
    expect(await server.command('DBSIZE')).toBe(2);
  });
});

describe('a command that only reads', () => {
  it.each(['ls', 'show'])('%s leaves a file that is no database as it is', async (action) => {
    const file = join(folder, 'urls.txt');
    writeFileSync(file, 'https://example.com/\n');
    const urls = action === 'show' ? ['https://example.com/'] : [];
    const { code, stderr } = await cli(['cache', action, '--store', file, ...urls]);
    expect(code).toBe(2);
    expect(stderr).toContain('which is another kind of file');
    expect(readFileSync(file, 'utf8')).toBe('https://example.com/\n');
    expect(readdirSync(folder)).toEqual(['urls.txt']);
  });

  it('neither renames a damaged database nor begins one where there is none', async () => {
    await crawl();
    const bytes = readFileSync(path).subarray(0, 5_000);
    writeFileSync(path, bytes);
    const damaged = await cache('ls');
    expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringMatching(/damaged|malformed/)]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    const none = await cli(['cache', 'ls', '--store', join(folder, 'none')]);
    expect([none.code, readdirSync(folder).filter((name) => !name.startsWith('store'))]).toEqual([2, []]);
    const renamed = await cache('clear');
    expect([renamed.code, renamed.stderr]).toEqual([0, expect.stringContaining('the store was damaged')]);
  });

  it('show reads the values of its origins alone', async () => {
    await crawl();
    const unpacked = vi.spyOn(RecordCodec.prototype, 'decode');
    const shown = await cache('show', [sites[0]!.url('/')]);
    expect(records(shown.stdout)).toMatchObject([{ origin: origins()[0] }]);
    expect(unpacked).toHaveBeenCalledOnce();
    unpacked.mockRestore();
  });
});
