import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openRedisStore } from '../../src/cli/frame/open-redis-store.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/installed.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type Site, startSite } from '../support/site.ts';
import { compileScript, startWorker } from '../support/workers.ts';
import { cli, records } from './session.ts';

const SUCCESS = 0;
const USAGE = 2;
/** Nobody listens there. */
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

  it.each(['redis', 'ioredis', 'iovalkey'])(
    'works over %s, and connects again to a server that was lost',
    async (name) => {
      const { store, close } = await openRedisStore(redis.url, [name]);
      await store.set('k', 'value', { ttlMs: 60_000 });
      expect(await store.get('k')).toBe('value');
      await redis.kill();
      await expect(store.get('k')).rejects.toThrow();
      await redis.restart();
      await eventually(async () => expect(await store.get('k')).toBeUndefined());
      await close();
    },
  );

  it('refuses a password that is wrong, and does not print it', async () => {
    const url = redis.url.replace('://', '://user:a-password@');
    const { code, stderr } = await cli(['check', '--store', url, `${site.origin}/page`]);
    expect(code).toBe(USAGE);
    expect(stderr).toContain(`Expected a Redis or Valkey server at ${redis.url}: WRONGPASS`);
    expect(stderr).not.toContain('a-password');
    expect(site.requests).toEqual([]);
  });
});

it.each(['redis', 'ioredis', 'iovalkey'])('A server that is not there is named, with %s', async (name) => {
  await expect(openRedisStore(NOWHERE, [name])).rejects.toMatchObject({
    code: 'ERR_ROBOTS_INVALID_OPTIONS',
    message:
      'Expected a Redis or Valkey server at redis://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; check that it runs, and the URL',
  });
});

it('Without a client of Redis the command says what to install', async () => {
  using script = compileScript(new URL('redis-missing.ts', import.meta.url), 'outside');
  const worker = startWorker(script, []);
  expect(await worker.next()).toEqual({
    code: 'ERR_ROBOTS_INVALID_OPTIONS',
    message: expect.stringContaining('run `npm install redis`'),
  });
  await worker.ended();
});

it('`cache` works on stores of this machine', async () => {
  const { code, stderr } = await cli(['cache', 'ls', '--store', NOWHERE]);
  expect([code, stderr]).toEqual([USAGE, expect.stringContaining('got the URL of a server')]);
});
