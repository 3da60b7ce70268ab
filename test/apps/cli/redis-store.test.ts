import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isRobotsError } from '../../../src/core/base/index.ts';
import { assertStore, openRedisStore } from '../../../src/apps/cli/frame/named-store.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith } from '../../support/installed.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { hasNodeSqlite } from '../../support/sqlite.ts';
import { type Site, startSite } from '../../support/site.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { cli, records } from './session.ts';

const SUCCESS = 0;
const USAGE = 2;
/** A closed port. */
const NOWHERE = 'redis://:a-password@127.0.0.1:1';

describeWith('redis-server')('--store redis://HOST:PORT', () => {
  let redis: RedisServer;
  let site: Site;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    await redis.command('FLUSHALL');
    site = await startSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private\n' } });
  });
  afterEach(() => site.close());

  it('keeps what one run has fetched for the next', async () => {
    const argv = ['--store', redis.url, '-a', 'ExampleBot'];
    const first = await cli(['prefetch', ...argv, '-'], { stdin: `${site.origin}/\n` });
    const next = await cli(['check', ...argv, '--json', `${site.origin}/page`]);
    expect([first.code, next.code, first.stderr, next.stderr]).toEqual([SUCCESS, SUCCESS, '', '']);
    expect(records(next.stdout)).toMatchObject([{ allowed: true, robots: { source: 'store' } }]);
    expect(site.requests).toHaveLength(1);
  });

  it('waits for a server that is far away', async () => {
    const relay = createServer((near) => {
      const far = connect(redis.port, '127.0.0.1').on('data', (bytes) => {
        setTimeout(() => near.write(bytes), 200);
      });
      near.pipe(far);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const argv = ['-a', 'ExampleBot', '--json', `${site.origin}/page`];
    await cli(['check', '--store', redis.url, ...argv]);
    const asked = await cli(['check', '--store', `redis://127.0.0.1:${portOf(relay)}`, ...argv]);
    relay.close();
    expect([asked.stderr, records(asked.stdout)]).toMatchObject(['', [{ robots: { source: 'store' } }]]);
  });

  it('says at the end that a store takes no records, and not how many: it is left out while it fails', async () => {
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
    const { code, stderr } = await cli(['check', '-a', 'ExampleBot', '--store', redis.url, site.url('/')]);
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
    expect(code).toBe(SUCCESS);
    expect(stderr).toMatch(/^canfetch: the store failed \(.*NOREPLICAS.*\); records were not written\n$/);
  });

  it('is closed when the client cannot be made, so that the command ends', async () => {
    const refused = await cli(['check', '-a', 'ExampleBot/1.0 (€)', '--store', redis.url, site.url('/')]);
    expect([refused.code, refused.stderr]).toEqual([USAGE, expect.stringContaining('Expected')]);
    // One is that of the question itself.
    await eventually(async () => expect(await openConnections()).toBe(1));
  });

  it('connects again to a server that was lost', async () => {
    const { store, close } = await openRedisStore(redis.url);
    await store.set('k', 'value', { ttlMs: 60_000 });
    expect(await store.get('k')).toBe('value');
    await redis.kill();
    await expect(store.get('k')).rejects.toThrow();
    await redis.restart();
    await eventually(async () => expect(await store.get('k')).toBeUndefined());
    await close();
  });

  it('writes to the database that the path names', async () => {
    const { store, close } = await openRedisStore(`${redis.url}/3`);
    await store.set('k', 'value', { ttlMs: 60_000 });
    await close();
    expect(await redis.command('INFO', 'keyspace')).toContain('db3:keys=1');
    expect(await redis.command('DBSIZE')).toBe(0);
  });

  it('refuses a database that the server does not have', async () => {
    const connectionsBefore = await openConnections();
    await expect(openRedisStore(`${redis.url}/99`)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining(`at ${redis.url}: ERR DB index is out of range`),
    });
    await eventually(async () => expect(await openConnections()).toBe(connectionsBefore));
  });

  it('keeps a password that is wrong out of the error', async () => {
    const error = await refusal(redis.url.replace('://', '://user:a-pass%2Fword@'));
    expect(error).toMatchObject({ message: expect.stringContaining(`at ${redis.url}: WRONGPASS`) });
    expect(inspectedWhole(error)).not.toContain('a-pass');
  });

  const openConnections = async (): Promise<number> =>
    String(await redis.command('CLIENT', 'LIST')).match(/^id=/gm)?.length ?? 0;
});

it('A server that is not there is named', async () => {
  await expect(openRedisStore(NOWHERE)).rejects.toMatchObject({
    code: 'ERR_ROBOTS_INVALID_OPTIONS',
    message:
      'Expected a Redis or Valkey server at redis://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; check that it runs, and the URL',
  });
});

describe('A server that accepts the connection and never answers', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  it('is an error after five seconds, and the connection ends', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.resume().on('error', () => {})));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const port = portOf(server);
      let settled = false;
      const opening = refusal(`redis://:a-password@127.0.0.1:${port}/3`).finally(() => (settled = true));
      const [socket] = await once(server, 'connection');
      await vi.advanceTimersByTimeAsync(4_999);
      expect(settled).toBe(false);
      const closed = once(socket, 'close');
      await vi.advanceTimersByTimeAsync(1);
      expect(await opening).toMatchObject({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message:
          `Expected a Redis or Valkey server at redis://127.0.0.1:${port}: no answer within 5 seconds; ` +
          'check that it runs, and the URL',
      });
      await closed;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(sockets).toHaveLength(1);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});

describe('No error shows a password', () => {
  const urls = ['pa/ss', 'pa?ss', 'pa@ss', 'pa%ss', '12#ss', 'p/#?@s'].flatMap((password) =>
    [
      `redis://user:${password}@127.0.0.1:1`,
      `redis://:${password}@127.0.0.1:1/0`,
      `redis://127.0.0.1:1/?password=${password}`,
      `redis://u:${encodeURIComponent(password)}@[::1/0`,
      `redis://u:${encodeURIComponent(password)}@[::1]:1/x`,
      `REDISS://u:${encodeURIComponent(password)}@[::1]:1`,
    ].map((url) => [password, url] as const),
  );
  it.each(urls)('%s in %s', async (password, url) => {
    const error = await refusal(url);
    const shown = inspectedWhole(error);
    for (const secret of [url, password, encodeURIComponent(password), 'ss@', 'user:']) {
      expect(shown).not.toContain(secret);
    }
    expect(isRobotsError(error) && error.message).toMatch(/^Expected /);
  });

  it('says how such a password is written', async () => {
    const error = await refusal('redis://user:12/34@127.0.0.1:1');
    expect(error).toMatchObject({
      message:
        'Expected the URL given to --store to be redis://USER:PASSWORD@HOST:PORT/DATABASE, got another; ' +
        'in a password write % / ? # @ as %25 %2F %3F %23 %40',
    });
    expect(error).not.toHaveProperty('cause');
  });
});

it('--store refuses the URL of anything else, and makes no folder of its scheme', async () => {
  const { code } = await cli(['check', '--store', 'unix://127.0.0.1:1', 'http://127.0.0.1:1/']);
  expect([code, existsSync('unix:')]).toEqual([USAGE, false]);
});

it.each(['C:\\cache', 'C:/cache', 'c://cache', './x', 'a/b//c', 'C:', 'name'])(
  '--store takes %s for a path',
  (path) => {
    expect(() => assertStore(path)).not.toThrow();
  },
);

it.each(['check', 'cache', 'serve'])('%s --help calls the value STORE', async (command) => {
  const { stdout } = await cli([command, '--help']);
  expect(stdout).toContain('--store STORE');
  expect(stdout).not.toContain('--store FOLDER');
});

it('Without the packages of a store the command says what to install, and what needs none', async () => {
  using script = compileScript(new URL('missing-packages.ts', import.meta.url), 'outside');
  const worker = startWorker(script, []);
  const code = 'ERR_ROBOTS_INVALID_OPTIONS';
  expect(await worker.next()).toEqual({ code, message: expect.stringContaining('npm install redis') });
  if (!hasNodeSqlite) {
    const message = expect.stringMatching(/Node\.js 22\.13.*`libsql`, or `better-sqlite3`/);
    expect(await worker.next()).toEqual({ code, message });
  }
  await worker.ended();
});

it('`cache` says so when there is no server', async () => {
  const { code, stderr } = await cli(['cache', 'ls', '--store', NOWHERE]);
  expect([code, stderr]).toEqual([USAGE, expect.stringContaining('Expected a Redis or Valkey server at')]);
});

/** What opening the store is refused with. */
async function refusal(url: string): Promise<unknown> {
  try {
    const { close } = await openRedisStore(url);
    await close();
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error');
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('Expected a port');
  return address.port;
}

/** Everything that a log may show of an error, its hidden properties and its causes included. */
const inspectedWhole = (error: unknown): string => inspect(error, { depth: Infinity, showHidden: true });
