import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import Libsql from 'libsql';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { slotKey } from '../../../src/core/store/record-codec.ts';
import { prepareDatabase } from '../../../src/stores/sqlite/open-database.ts';
import {
  openSqliteStore,
  type SqliteDatabase,
  SqliteStore,
  sqliteStore,
} from '../../../src/stores/sqlite/sqlite.ts';
import { DAY, HOUR, MINUTE, SECOND, VirtualClock } from '../../support/client.ts';
import { hasNodeSqlite, openSqlite, quietEnv } from '../../support/sqlite.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { storeContract } from '../store-contract.ts';
import type { WorkerTask } from '../store-worker.ts';

const invalid = 'ERR_ROBOTS_INVALID_OPTIONS';

let root: string;
let path: string;
let clock: VirtualClock;
let store: SqliteStore;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'canfetch-sqlite-'));
  path = join(root, 'new', 'robots.sqlite');
  clock = new VirtualClock();
  store = openSqliteStore(path, { clock });
});

afterEach(async () => {
  await store.close();
  rmSync(root, { recursive: true });
});

/** The library of this Node.js, and `libsql`, whose interface is that of `better-sqlite3`. */
const libraries: Readonly<Record<string, (at: string) => SqliteDatabase>> = {
  [hasNodeSqlite ? 'node:sqlite' : 'libsql']: openSqlite,
  'the interface of better-sqlite3': (at) => new Libsql(at),
};

describe.each(Object.keys(libraries))('over %s', (name) => {
  storeContract(name, async () => {
    const virtual = new VirtualClock();
    const database = libraries[name]!(join(root, 'contract.sqlite'));
    sqliteStore(database);
    const opened = new SqliteStore(database, { isOwned: true, clock: virtual });
    return {
      store: opened,
      now: () => virtual.now(),
      elapse: async (_kind, _key, ms) => virtual.advance(ms),
      close: () => opened.close(),
    };
  });
});

async function keysOf(of: SqliteStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of of.entries()) keys.push(key);
  return keys;
}

async function fill(count: number, value = 'x'.repeat(900)): Promise<void> {
  const keys = Array.from({ length: count }, (_, at) => `https://site${at}.example`);
  await Promise.all(keys.map((key) => store.set(key, value, { ttlMs: HOUR })));
}

it('keeps values, leases and slots when it is reopened', async () => {
  await store.set('k', 'value', { ttlMs: HOUR });
  await store.lease('k', MINUTE);
  await store.reserve('k', MINUTE);
  await store.pause('paused', MINUTE);
  await store.close();
  store = openSqliteStore(path, { clock });
  expect(await store.get('k')).toBe('value');
  expect(await store.lease('k', MINUTE)).toBeUndefined();
  expect(await store.reserve('k', MINUTE)).toEqual({ waitMs: MINUTE, pauseMs: 0 });
  expect(await store.pause('paused', 0)).toEqual({ pauseMs: MINUTE });
});

it('reads and writes the schedule of version 1', async () => {
  const database = openSqlite(path);
  const now = clock.now();
  const row = { slot_at: now + HOUR, delay_ms: MINUTE, paused_until: now + MINUTE, written_at: now };
  const fields = '(key, slot_at, delay_ms, paused_until, written_at, expires_at, cause)';
  database
    .prepare(`INSERT INTO schedule ${fields} VALUES ('slot:v1:a.example', ?, ?, ?, ?, ?, 'back-off')`)
    .run(...Object.values(row), now + DAY);
  expect(await store.pause(slotKey('a.example'), 0)).toEqual({ pauseMs: MINUTE, cause: 'back-off' });
  const booked = { waitMs: HOUR + MINUTE, pauseMs: MINUTE, cause: 'back-off' };
  expect(await store.reserve(slotKey('a.example'), 0)).toEqual(booked);
  const written = database.prepare('SELECT * FROM schedule').get();
  const slot = { slot_at: now + HOUR + MINUTE, delay_ms: 0 };
  expect(written).toMatchObject({ key: 'slot:v1:a.example', ...row, ...slot, cause: 'back-off' });
  database.close();
});

describe('the writes of a store', () => {
  /** A store over a database of its own, and the transactions that it has begun. */
  function counted() {
    const connection = openSqlite(join(root, 'own.sqlite'));
    onTestFinished(() => void connection.close());
    let transactions = 0;
    const own = sqliteStore({
      exec(sql) {
        if (sql === 'BEGIN IMMEDIATE') transactions++;
        return connection.exec(sql);
      },
      prepare: (sql) => connection.prepare(sql),
      close: () => connection.close(),
    });
    transactions = 0;
    return { connection, own, count: () => transactions };
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('share a transaction: records wait 20 ms for others, and what somebody waits for takes them along', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { own, count } = counted();
    const set = (key: string) => own.set(key, key, { ttlMs: HOUR });
    const written = Promise.all([set('a'), turn().then(() => set('b'))]);
    await vi.advanceTimersByTimeAsync(19);
    expect(count()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await written;
    expect(count()).toBe(1);
    const more = set('c');
    expect(await own.lease('c', HOUR)).toBeDefined();
    await more;
    expect(count()).toBe(2);
    await own.close();
    expect(count()).toBe(3);
  });

  it('wait no longer once they are a hundred, nor when the store is closed, which leaves the database open', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { connection, own, count } = counted();
    const keys = Array.from({ length: 101 }, (_, at) => `k${at}`);
    await Promise.all(keys.slice(1).map((key) => own.set(key, key, { ttlMs: HOUR })));
    expect(count()).toBe(1);
    const last = own.set(keys[0]!, 'value', { ttlMs: HOUR });
    await Promise.all([last, own.close()]);
    expect(count()).toBe(2);
    const stored = connection.prepare('SELECT count(*) AS count FROM value').get();
    expect(stored).toMatchObject({ count: 101 });
  });
});

it('deletes expired values with each write', async () => {
  await fill(100);
  clock.advance(HOUR);
  for (let count = 0; count < 25; count++) await store.set('k', 'value', { ttlMs: DAY });
  const other = openSqlite(path);
  expect(other.prepare('SELECT count(*) AS count FROM value').get()).toMatchObject({ count: 1 });
  other.close();
});

it('lists values a page at a time, each once, while others write', async () => {
  await fill(600, 'v');
  await store.set('expired', 'value', { ttlMs: SECOND });
  clock.advance(SECOND);
  const keys: string[] = [];
  for await (const { key } of store.entries((key) => key !== 'https://site7.example')) {
    keys.push(key);
    if (keys.length === 1) await store.set('https://site0', 'before', { ttlMs: HOUR });
  }
  expect([keys.length, new Set(keys).size]).toEqual([599, 599]);
});

it('clears values; leases and slots stay', async () => {
  await store.set('k', 'value', { ttlMs: HOUR });
  await store.lease('k', HOUR);
  await store.reserve('k', HOUR);
  await store.clear();
  expect(await keysOf(store)).toEqual([]);
  expect(await store.lease('k', HOUR)).toBeUndefined();
  expect(await store.reserve('k', HOUR)).toMatchObject({ waitMs: HOUR });
});

it('a clock that was set back lengthens no wait, and frees the leases', async () => {
  await store.lease('k', MINUTE);
  await store.reserve('k', MINUTE);
  await store.pause('paused', MINUTE);
  const earlier = new VirtualClock();
  earlier.advance(-DAY);
  await using other = openSqliteStore(path, { clock: earlier });
  expect(await other.lease('k', MINUTE)).toBeDefined();
  expect(await other.reserve('k', MINUTE)).toMatchObject({ waitMs: MINUTE });
  expect(await other.pause('paused', 0)).toEqual({ pauseMs: MINUTE });
});

it('waits for the transaction of another process without blocking this one', async () => {
  const other = openSqlite(path);
  const ours = openSqlite(path);
  const waiting = sqliteStore(ours);
  // SQLite itself waits no time within a call.
  expect(ours.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 0 });
  other.exec('BEGIN IMMEDIATE');
  const begun = vi.spyOn(ours, 'exec');
  const written = waiting.reserve('k', MINUTE);
  await vi.waitFor(() => expect(begun.mock.calls.length).toBeGreaterThan(3));
  expect(await waiting.get('k')).toBeUndefined();
  other.exec('COMMIT');
  expect(await written).toMatchObject({ waitMs: 0 });
  await waiting.close();
  ours.close();
  other.close();
});

it('rejects the writes of a transaction that failed, and commits later ones', async () => {
  const other = openSqlite(path);
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON value WHEN new.key = 'refused'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  const results = await Promise.allSettled([
    store.set('beside', 'value', { ttlMs: HOUR }),
    store.set('refused', 'value', { ttlMs: HOUR }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await store.set('later', 'value', { ttlMs: HOUR });
  expect(await keysOf(store)).toEqual(['later']);
  other.close();
});

it('rejects calls after it was closed, and completes earlier ones', async () => {
  const written = store.set('k', 'value', { ttlMs: HOUR });
  await Promise.all([store.close(), store.close()]);
  await expect(written).resolves.toBeUndefined();
  const closed = { code: 'ERR_ROBOTS_CLOSED' };
  await expect(store.get('k')).rejects.toMatchObject(closed);
  await expect(store.set('k', 'value', { ttlMs: HOUR })).rejects.toMatchObject(closed);
  await expect(store.lease('k', HOUR)).rejects.toMatchObject(closed);
  await expect(store.pause('k', 0)).rejects.toMatchObject(closed);
});

describe('a file', () => {
  it('with a name that is special to SQLite is a file', async () => {
    const cwd = process.cwd();
    try {
      process.chdir(root);
      for (const name of [':memory:', 'file:x?mode=memory']) {
        await sqliteStore({ path: name }).close();
        expect(existsSync(join(root, name))).toBe(true);
      }
    } finally {
      process.chdir(cwd);
    }
  });

  const damage: Readonly<Record<string, (whole: Buffer) => Buffer>> = {
    'a file cut in the middle': (whole) => whole.subarray(0, whole.length / 2 + 100),
    'pages full of junk': (whole) =>
      Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 0xa5)]),
    'a header and nothing else': (whole) => whole.subarray(0, 60),
  };

  it.each(Object.keys(damage))(
    'damaged (%s) is kept under another name, and a new one begins; not for those that only read',
    async (name) => {
      await fill(300);
      await store.close();
      const bytes = Buffer.from(damage[name]!(readFileSync(path)));
      writeFileSync(path, bytes);
      expect(() => openSqliteStore(path, { onDamage: 'throw' })).toThrow(
        expect.objectContaining({ code: invalid }),
      );
      expect(readFileSync(path).equals(bytes)).toBe(true);
      const events: unknown[] = [];
      const note = (event: unknown): void => void events.push(event);
      subscribe('canfetch:store', note);
      store = openSqliteStore(path, { clock });
      unsubscribe('canfetch:store', note);
      const damaged = {
        path,
        movedTo: expect.stringContaining('robots.sqlite.damaged-'),
        reason: expect.stringMatching(/\w/),
      };
      expect(store.damaged).toEqual(damaged);
      expect(events).toEqual([{ type: 'damaged', ...damaged }]);
      expect(readFileSync(store.damaged!.movedTo).equals(bytes)).toBe(true);
      await store.set('k', 'value', { ttlMs: HOUR });
      await using other = openSqliteStore(path, { clock });
      expect([other.damaged, await keysOf(other)]).toEqual([undefined, ['k']]);
    },
  );

  it.each([
    ['8 KB of zeros', Buffer.alloc(8_192)],
    ['text', Buffer.from('no database\n'.repeat(1_000))],
    ['a byte', Buffer.of(1)],
  ])('that never was a database (%s) is left as it is, and an error', (_, bytes) => {
    const unrelated = join(root, 'urls.txt');
    writeFileSync(unrelated, bytes);
    expect(() => sqliteStore({ path: unrelated })).toThrow(
      expect.objectContaining({
        code: invalid,
        message: expect.stringContaining('which is another kind of file; name another file'),
      }),
    );
    expect(readFileSync(unrelated).equals(bytes)).toBe(true);
    expect(readdirSync(root).filter((name) => name.startsWith('urls.txt'))).toEqual(['urls.txt']);
  });

  it.each([
    ['another program', 'CREATE TABLE value (kind TEXT)'],
    ['another version of canfetch', 'PRAGMA application_id = 0x63616e66; PRAGMA user_version = 9'],
  ])('of %s is refused, and not changed', (whose, sql) => {
    const theirs = join(root, 'theirs.sqlite');
    const database = openSqlite(theirs);
    database.exec(sql);
    database.close();
    const before = readFileSync(theirs);
    expect(() => sqliteStore({ path: theirs })).toThrow(
      expect.objectContaining({ code: invalid, message: expect.stringContaining(whose) }),
    );
    expect(readFileSync(theirs).equals(before)).toBe(true);
  });

  it('that cannot be opened, or that another process holds, is an error with its cause', async () => {
    expect(() => sqliteStore({ path: root })).toThrow(expect.objectContaining({ code: invalid }));
    const held = join(root, 'held.sqlite');
    const holder = openSqlite(held);
    prepareDatabase(holder, held);
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT * FROM value');
    using waiting = vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
    expect(() => sqliteStore({ path: held })).toThrow(
      expect.objectContaining({ code: invalid, message: expect.stringContaining('database is locked') }),
    );
    expect(waiting).toHaveBeenCalledTimes(39);
    holder.close();
  });

  it('that another process holds for a moment is waited for', async () => {
    const held = join(root, 'held-for-a-moment.sqlite');
    const holder = openSqlite(held);
    holder.exec('BEGIN EXCLUSIVE');
    using waiting = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      holder.exec('COMMIT');
      return 'timed-out';
    });
    await using store = sqliteStore({ path: held });
    expect(waiting).toHaveBeenCalledTimes(1);
    expect(await store.get('k')).toBeUndefined();
    holder.close();
  });
});

it('a full disk rejects, ends no process and goes by', async () => {
  using script = compileScript(new URL('../store-worker.ts', import.meta.url));
  const at = join(root, 'full.sqlite');
  const worker = startWorker(script, ['sqlite', at], { maxFileBlocks: 3_072, env: quietEnv });
  const perform = async (task: WorkerTask): Promise<unknown[]> => {
    worker.send(task);
    return (await worker.next()) as unknown[];
  };
  const keys = Array.from({ length: 20 }, (_, number) => `https://site${number}.example`);
  // Nothing compresses this.
  const value = Array.from({ length: 60_000 }, (_, number) =>
    (Math.imul(number, 2_654_435_761) >>> 0).toString(36),
  ).join('');
  expect(await worker.next()).toBe('ready');
  const set: unknown[] = [];
  for (const key of keys) set.push(...(await perform({ task: 'set', keys: [key], ms: HOUR, value })));
  expect(set[0]).toBe('set');
  expect(set.filter((result) => result !== 'set').length).toBeGreaterThan(5);
  const got = await perform({ task: 'get', keys, ms: 0 });
  expect(got).toEqual(set.map((result) => (result === 'set' ? value : null)));
  worker.end();
  expect((await worker.ended()).code).toBe(0);
  await using again = sqliteStore({ path: at });
  expect(again.damaged).toBeUndefined();
  await again.set('k', 'small', { ttlMs: HOUR });
  expect(await again.get('k')).toBe('small');
});

it.each([
  [undefined, 'Expected `path` to name a file'],
  [{ path: '' }, 'Expected `path` to name a file'],
  [{ path: 'x', ttlMs: 5 }, 'Expected only known options, got `ttlMs`'],
])('refuses %j', (options, message) => {
  // @ts-expect-error: these are no options
  expect(() => sqliteStore(options)).toThrow(message);
});

it('a closed database is refused', () => {
  const database = openSqlite(join(root, 'closed.sqlite'));
  database.close();
  expect(() => sqliteStore(database)).toThrow(expect.objectContaining({ code: invalid }));
});

describe.skipIf(hasNodeSqlite)('Node.js without SQLite', () => {
  /** Only these of the packages are installed. */
  function install(...names: string[]): void {
    const load: (name: string, ...rest: unknown[]) => unknown = Reflect.get(Module, '_load');
    vi.spyOn(Module as unknown as { _load: typeof load }, '_load').mockImplementation((name, ...rest) => {
      if (name !== 'libsql' && name !== 'better-sqlite3') return load.call(Module, name, ...rest);
      if (!names.includes(name)) throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' });
      return Libsql;
    });
  }

  afterEach(() => vi.restoreAllMocks());

  it.each(['libsql', 'better-sqlite3'])('uses %s', async (name) => {
    install(name);
    await using opened = sqliteStore({ path: join(root, 'other.sqlite') });
    await opened.set('k', 'value', { ttlMs: HOUR });
    expect(await opened.get('k')).toBe('value');
  });

  it('and without a package is an error that says what to do', () => {
    install();
    expect(() => sqliteStore({ path: join(root, 'none.sqlite') })).toThrow(
      expect.objectContaining({
        code: invalid,
        message: expect.stringMatching(/Node\.js 22\.13 or later.*`libsql`, or `better-sqlite3`/),
      }),
    );
  });
});
