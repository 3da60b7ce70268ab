import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.ts';
import { RobotsClient } from '../../../src/index.ts';
import { fakeOrigin, type FakeOrigin } from '../../../src/extras/testing/index.ts';
import { importSnapshot, type CommandStore } from '../../../src/apps/cli/cache/command-store.ts';
import { type OriginRecord, profiles } from '../../../src/core/lifecycle/index.ts';
import { RecordCodec } from '../../../src/core/store/record/record-codec.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith } from '../../support/installed.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { startRedis } from '../../support/redis-server.ts';
import { cli, type CliInput, type CliResult, records } from './session.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../../src/core/base/index.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';

let folder: string;
let path: string;
let sites: FakeOrigin[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'canfetch-cache-'));
  path = join(folder, 'store');
  sites = [await fakeOrigin({ robots: RULES }), await fakeOrigin({ robots: { status: 404 } })];
});

afterEach(async () => {
  for (const site of sites) await site.close();
  rmSync(folder, { recursive: true });
});

const origins = (): string[] => sites.map((site) => new URL(site.url('/')).origin);

/** A crawl that leaves what it learnt in the store. */
async function crawl(agent = 'ExampleBot/1.0', where = path): Promise<void> {
  await using store = sqliteStore({ path: where });
  await using robots = new RobotsClient({ agent, store, storeDeadlineMs: 10_000 });
  for (const site of sites) await robots.canFetch(site.url('/private'));
}

/** What a client that starts with the store decides, without asking anybody. */
async function decideFrom(where: string): Promise<{ allowed: boolean[]; attempts: number }> {
  await using store = sqliteStore({ path: where });
  await using robots = new RobotsClient({ agent: 'ExampleBot/2.0', store, storeDeadlineMs: 10_000 });
  const allowed = [];
  for (const site of sites) allowed.push(await robots.canFetch(site.url('/private')));
  return { allowed, attempts: robots.stats().attempts };
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
    await crawl();
    const { stdout, stderr } = await cache('ls', [], { stdoutIsTTY: true, env: { NO_COLOR: '1' } });
    expect(stderr).toBe('');
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^ {2}origin +agent +answer +file +fetched +kept for$/);
    expect(rows).toHaveLength(2);
    expect(stdout).toContain('rules (200)');
    expect(stdout).toContain('unavailable (404)');
    const asJson = await cache('ls', ['--json'], { stdoutIsTTY: true });
    expect(records(asJson.stdout)).toHaveLength(2);
  });

  it('shows the records that a client would reject, and why', async () => {
    await crawl();
    const store = sqliteStore({ path });
    for await (const { key } of store.entries()) await store.set(key, 'junk', { ttlMs: 60_000 });
    await store.close();
    const { stdout } = await cache('ls');
    expect(records(stdout).map(({ rejected }) => rejected)).toEqual(['damaged', 'damaged']);
  });
});

describe('cache show', () => {
  it('shows all of an origin, its file too', async () => {
    await crawl();
    const url = sites[0]!.url('/any/page');
    const [shown] = records((await cache('show', [url])).stdout);
    expect(shown).toMatchObject({ origin: origins()[0], copy: { text: RULES } });
    const { stdout } = await cache('show', [url], { stdoutIsTTY: true, env: { NO_COLOR: '1' } });
    expect(stdout).toContain('  | Disallow: /private\n');
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

  it('with an agent deletes the records of that agent', async () => {
    await crawl();
    await crawl('OtherBot/1.0');
    expect((await cache('clear', ['-a', 'OtherBot'])).code).toBe(0);
    expect(records((await cache('ls')).stdout).map(({ agent }) => agent)).toEqual([
      'examplebot',
      'examplebot',
    ]);
  });
});

describe('cache export and import', () => {
  it('carry a store to another place, where no request is needed', async () => {
    await crawl();
    const { stdout: snapshot, code } = await cache('export');
    expect([code, snapshot.trimEnd().split('\n').length]).toEqual([0, 3]);
    const other = join(folder, 'other');
    const imported = await cli(['cache', 'import', '--store', other, '-a', 'ExampleBot'], {
      stdin: snapshot,
    });
    expect(imported.code).toBe(0);
    expect(records(imported.stdout)).toEqual([
      { schemaVersion: 1, imported: 2, rejected: 0, reasons: {}, missing: 0 },
    ]);
    expect(await decideFrom(other)).toEqual({ allowed: [false, true], attempts: 0 });
    expect(sites.map((site) => site.robotsCount)).toEqual([1, 1]);
  });

  it('an export can be restored by a client', async () => {
    await crawl();
    const { stdout } = await cache('export');
    await using robots = new RobotsClient({ agent: 'ExampleBot' });
    expect(await robots.restore(stdout)).toMatchObject({ restored: 2, rejected: 0, missing: 0 });
    expect(robots.peek(sites[0]!.url('/private'))?.allowed).toBe(false);
  });

  it('tell what was damaged, cut off, or older than what is there', async () => {
    await crawl();
    const { stdout } = await cache('export');
    const [header = '', first = '', second = ''] = stdout.split('\n');
    const stdin = `${header}\n${first.replace('Disallow', 'Allow').replace('404', '403')}\n`;
    const cut = await cache('import', ['-a', 'ExampleBot'], { stdin });
    expect(cut.code).toBe(1);
    expect(records(cut.stdout)).toMatchObject([
      { imported: 0, rejected: 1, reasons: { damaged: 1 }, missing: 1 },
    ]);
    const again = await cache('import', ['-a', 'ExampleBot'], { stdin: `${first}\n${second}` });
    expect(records(again.stdout)).toMatchObject([{ imported: 0, reasons: { older: 2 } }]);
    expect(await decideFrom(path)).toEqual({ allowed: [false, true], attempts: 0 });
  });

  it('import ends with Ctrl-C while more lines may come, and tells what it has done', async () => {
    await crawl();
    const { stdout } = await cache('export');
    const stdin = new PassThrough();
    stdin.write(stdout);
    const stop = new AbortController();
    const importing = cache('import', ['-a', 'OtherBot'], { stdin, signal: stop.signal });
    await eventually(() => expect(stdin.readableLength).toBe(0));
    stop.abort(new Error('Interrupted'));
    const { code, stdout: counts } = await importing;
    expect([code, records(counts)]).toMatchObject([130, [{ imported: expect.any(Number), rejected: 0 }]]);
  });

  it('export wants to know whose records, where there are several’s', async () => {
    await crawl();
    await crawl('OtherBot/1.0');
    const { code, stderr } = await cache('export');
    expect(code).toBe(2);
    expect(stderr).toContain('examplebot:no-public-to-private, otherbot:no-public-to-private');
    expect((await cache('export', ['-a', 'OtherBot'])).stdout.trimEnd().split('\n')).toHaveLength(3);
  });
});

describeWith('redis-server')('cache of a Redis server', () => {
  it('is listed, shown, exported, imported and cleared, and nothing else of the server', async () => {
    await crawl();
    const exported = await cache('export');
    await using server = await startRedis();
    await server.command('SET', 'other', 'value');
    await server.command('SET', 'canfetch:{v2:slot:https://example.com}:slot', '1', 'PX', '60000');
    const inRedis = (action: string, more: readonly string[] = [], input?: CliInput): Promise<CliResult> =>
      cli(['cache', action, '--store', server.url, ...more], input);
    const imported = await inRedis('import', ['-a', 'ExampleBot'], { stdin: exported.stdout });
    expect([imported.code, JSON.parse(imported.stdout)]).toMatchObject([0, { imported: 2, rejected: 0 }]);
    const listed = records((await inRedis('ls')).stdout);
    expect(listed.map(({ origin }) => origin).sort()).toEqual(origins().sort());
    expect(records((await inRedis('show', [origins()[0]!])).stdout)).toMatchObject([
      { copy: { text: RULES } },
    ]);
    const again = await inRedis('export');
    expect(again.stdout.split('\n').slice(1).sort()).toEqual(exported.stdout.split('\n').slice(1).sort());
    expect((await inRedis('clear', [origins()[0]!])).code).toBe(0);
    expect(records((await inRedis('ls')).stdout)).toHaveLength(1);
    expect((await inRedis('clear')).code).toBe(0);
    expect(records((await inRedis('ls')).stdout)).toEqual([]);
    expect(await server.command('DBSIZE')).toBe(2);
  });
});

describe('importSnapshot', () => {
  const profile = 'rfc9309';
  const namespace = { token: 'examplebot', addressPolicy: 'any' };

  /** A store whose writes end when `together` of them wait, as those of a transaction do. */
  function storeThatGathers(together: number, failure?: Error) {
    const codec = new RecordCodec({
      maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
      profileOf: () => profiles[profile],
    });
    const written: string[] = [];
    let waiting: (() => void)[] = [];
    const opened = {
      codec,
      decode: () => ({ rejected: 'damaged' }) as const,
      store: {
        get: async () => undefined,
        async set(key: string) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
            if (waiting.length < together) return;
            for (const each of waiting) each();
            waiting = [];
          });
          if (failure !== undefined) throw failure;
          written.push(key);
        },
      },
    };
    return { opened: opened as unknown as CommandStore, codec, written };
  }

  const recordOf = (number: number): OriginRecord => ({
    origin: `https://site-${number}.example`,
    answer: {
      kind: 'unavailable',
      status: 404,
      since: Date.now(),
      finalUrl: `https://site-${number}.example/robots.txt`,
      hops: 0,
      fetchedAt: Date.now(),
      staleAt: Date.now() + 3_600_000,
    },
  });

  it('writes many records at once', async () => {
    const { opened, codec, written } = storeThatGathers(100);
    async function* lines() {
      for (let number = 0; number < 200; number++) yield codec.encode(recordOf(number));
    }
    const done = await importSnapshot(lines(), opened, { namespace, profile });
    expect(done).toEqual({ imported: 200, rejected: 0, reasons: {}, missing: 0 });
    expect(new Set(written).size).toBe(200);
  });

  it('tells how far it came when the store takes no more', async () => {
    const full = new Error('database or disk is full: No space left on device');
    const { opened, codec } = storeThatGathers(1, full);
    async function* lines() {
      for (let number = 0; number < 5; number++) yield codec.encode(recordOf(number));
    }
    const done = await importSnapshot(lines(), opened, { namespace, profile });
    expect(done).toMatchObject({ imported: 0, error: full });
  });
});

it('a full disk is one line, without a stack', async (context) => {
  using disk = smallDisk(1_024);
  if (disk === undefined) return context.skip();
  const codec = new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf: () => profiles.rfc9309 });
  const lines = Array.from({ length: 200 }, (_, at) => {
    const origin = `https://site${at}.example`;
    const finalUrl = `${origin}/robots.txt`;
    const now = Date.now();
    const common = { status: 200, finalUrl, hops: 0, fetchedAt: now };
    // Nothing compresses it.
    const body = randomBytes(20_000);
    return codec.encode({
      origin,
      answer: { ...common, kind: 'rules', staleAt: now + 3_600_000 },
      copy: { ...common, body, truncated: false },
    });
  });
  const store = join(disk.path, 'store');
  const done = await cli(['cache', 'import', '--store', store, '-a', 'ExampleBot'], {
    stdin: lines.join('\n'),
  });
  expect(done.stderr).toMatch(/^canfetch: the store takes no more records: .*disk (is full|I\/O error).*\n$/);
  return undefined;
});

describe('a command that only reads', () => {
  it.each(['ls', 'show', 'export'])('%s leaves a file that is no database as it is', async (action) => {
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
