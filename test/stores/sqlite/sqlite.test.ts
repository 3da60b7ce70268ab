import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqliteStore, type SqliteDatabase, type SqliteStore } from '../../../src/stores/sqlite/sqlite.ts';
import { DAY, HOUR, MINUTE, VirtualClock } from '../../support/client.ts';
import { describeWithSqlite, nodeSqlite, openSqlite, quietEnv } from '../../support/sqlite.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { storeContract } from '../store-contract.ts';
import type { WorkerTask } from '../store-worker.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'canfetch-sqlite-'));
const invalid = 'ERR_ROBOTS_INVALID_OPTIONS';

describeWithSqlite('SQLite', () => {
  let root: string;
  let path: string;
  let clock: VirtualClock;
  let store: SqliteStore;

  storeContract('SQLite', async () => {
    const virtual = new VirtualClock();
    const at = folder();
    const opened = sqliteStore({ path: join(at, 'robots.sqlite'), clock: virtual });
    return {
      store: opened,
      elapse: async (_kind, _key, ms) => virtual.advance(ms),
      async close() {
        await opened.close();
        rmSync(at, { recursive: true });
      },
    };
  });

  beforeEach(() => {
    root = folder();
    path = join(root, 'new', 'robots.sqlite');
    clock = new VirtualClock();
    store = sqliteStore({ path, clock });
  });

  afterEach(async () => {
    await store.close();
    rmSync(root, { recursive: true });
  });

  async function keysOf(of: SqliteStore): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of of.entries()) keys.push(key);
    return keys;
  }

  /** The number of entries in the table, of whatever kind and age. */
  function rows(): unknown {
    const database = openSqlite(path);
    const { count } = Object(database.prepare('SELECT count(*) AS count FROM entry').get());
    database.close();
    return count;
  }

  it('keeps values when it is reopened', async () => {
    await store.set('k', 'value', { ttlMs: HOUR });
    const lease = await store.lease('k', HOUR);
    await store.reserve('k', MINUTE);
    await store.close();
    store = sqliteStore({ path, clock });
    expect(await store.get('k')).toBe('value');
    expect(await store.lease('k', HOUR)).toBeUndefined();
    expect((await store.reserve('k', MINUTE)).waitMs).toBe(MINUTE);
    expect((await store.lease('other', HOUR))!.token > lease!.token).toBe(true);
  });

  it("two stores on one file see each other's commits, also after one is closed", async () => {
    const other = sqliteStore({ path, clock });
    const first = store.set('k', 'value', { ttlMs: HOUR });
    expect([await store.get('k'), await other.get('k')]).toEqual(['value', undefined]);
    await first;
    expect(await other.get('k')).toBe('value');
    expect([await store.lease('k', HOUR), await other.lease('k', HOUR)]).toEqual([
      expect.anything(),
      undefined,
    ]);
    await other.close();
    await store.set('k', 'other', { ttlMs: HOUR });
    expect(await store.get('k')).toBe('other');
  });

  it('deletes expired entries: some at each write, and all of them on `sweep`', async () => {
    const old = Array.from({ length: 600 }, (_, at) => `old${at}`);
    await Promise.all(old.map((key) => store.set(key, 'value', { ttlMs: MINUTE })));
    await store.lease('k', MINUTE);
    await store.set('again', 'value', { ttlMs: MINUTE });
    await store.set('again', 'value', { ttlMs: HOUR });
    expect(await store.sweep()).toBe(0);
    clock.advance(MINUTE);
    await store.set('new', 'value', { ttlMs: DAY });
    expect(rows()).toBe(602 - 4 + 1);
    expect(await store.sweep()).toBe(597);
    expect(await keysOf(store)).toEqual(['again', 'new']);
    expect(rows()).toBe(2);
  });

  it('keeps a value no shorter than asked for', async () => {
    await store.set('k', 'value', { ttlMs: 0.25 });
    expect(await store.get('k')).toBe('value');
    clock.advance(1);
    expect(await store.get('k')).toBeUndefined();
  });

  it('lists entries a page at a time, each once, while others write', async () => {
    const keys = Array.from({ length: 1_000 }, (_, at) => `https://site${at}.example`);
    await Promise.all(keys.map((key) => store.set(key, key, { ttlMs: HOUR })));
    await store.set('gone', 'value', { ttlMs: MINUTE });
    clock.advance(MINUTE);
    const seen: string[] = [];
    for await (const { key, value, expiresAt } of store.entries()) {
      expect([value, expiresAt]).toEqual([key, clock.now() + HOUR - MINUTE]);
      seen.push(key);
      if (seen.length % 100 === 0) await store.delete(key);
    }
    expect(seen.sort()).toEqual([...keys].sort());
    expect(await keysOf(store)).toHaveLength(990);
  });

  it('lists every entry, also when another program locks the database before each page', async () => {
    const keys = Array.from({ length: 600 }, (_, at) => `https://site${at}.example`);
    const connection = openSqlite(path);
    const free = sqliteStore(connection);
    await Promise.all(keys.map((key) => free.set(key, key, { ttlMs: HOUR })));
    let refused = 0;
    let isFree = true;
    const locked = sqliteStore({
      exec: (sql) => connection.exec(sql),
      close: () => undefined,
      prepare(sql) {
        const statement = connection.prepare(sql);
        return {
          get: (...values) => statement.get(...values),
          run: (...values) => statement.run(...values),
          all(...values) {
            isFree = !isFree;
            if (isFree) return statement.all(...values);
            refused++;
            throw Object.assign(new Error('database is locked'), { errcode: 5 });
          },
        };
      },
    });
    expect((await keysOf(locked)).sort()).toEqual([...keys].sort());
    expect(refused).toBe(3);
    connection.close();
  });

  it('clears values; leases and slots stay', async () => {
    const keys = Array.from({ length: 600 }, (_, at) => `k${at}`);
    await Promise.all(keys.map((key) => store.set(key, key, { ttlMs: HOUR })));
    await store.lease('k', HOUR);
    await store.reserve('k', MINUTE);
    await store.clear();
    expect(await keysOf(store)).toEqual([]);
    expect(await store.lease('k', HOUR)).toBeUndefined();
    expect((await store.reserve('k', MINUTE)).waitMs).toBe(MINUTE);
  });

  it('refuses invalid times', async () => {
    for (const ms of [Number.NaN, Infinity, -1]) {
      await expect(store.set('k', 'value', { ttlMs: ms })).rejects.toMatchObject({ code: invalid });
      await expect(store.lease('k', ms)).rejects.toMatchObject({ code: invalid });
      await expect(store.reserve('k', ms)).rejects.toMatchObject({ code: invalid });
    }
    expect(rows()).toBe(0);
  });

  it('waits for the transaction of another process without blocking this one', async () => {
    const other = openSqlite(path);
    other.exec('BEGIN IMMEDIATE');
    let ticks = 0;
    const timer = setInterval(() => {
      if (++ticks === 20) other.exec('COMMIT');
    }, 1);
    const lease = await store.lease('k', HOUR);
    clearInterval(timer);
    expect(lease).toBeDefined();
    expect(ticks).toBeGreaterThanOrEqual(20);
    // Readers do not wait at all.
    other.exec('BEGIN IMMEDIATE');
    expect(await store.get('k')).toBeUndefined();
    other.exec('ROLLBACK');
    other.close();
  });

  it('rolls back the transaction of a failed statement, and commits later ones', async () => {
    const other = openSqlite(path);
    other.exec(
      "CREATE TRIGGER fails BEFORE INSERT ON entry WHEN NEW.key = '\"bad\"' BEGIN SELECT RAISE(ROLLBACK, 'no such key'); END",
    );
    const done = await Promise.allSettled([
      store.lease('good', HOUR),
      store.lease('bad', HOUR),
      store.lease('better', HOUR),
    ]);
    // What shared the transaction of the one that failed is tried again, alone.
    expect(done).toMatchObject([
      { status: 'fulfilled', value: { token: expect.any(String) } },
      { status: 'rejected', reason: { message: expect.stringContaining('no such key') } },
      { status: 'fulfilled', value: { token: expect.any(String) } },
    ]);
    expect(rows()).toBe(2);
    other.exec('DROP TRIGGER fails');
    other.close();
    expect(await store.lease('bad', HOUR)).toBeDefined();
  });

  it('rejects calls after it was closed, and completes earlier ones', async () => {
    const lease = await store.lease('k', HOUR);
    const sets = Array.from({ length: 100 }, (_, at) => store.set(`k${at}`, 'value', { ttlMs: HOUR }));
    await store.close();
    await Promise.all(sets);
    await store.close();
    const asked = [store.get('k'), store.delete('k'), store.lease('k', HOUR), store.reserve('k', HOUR)];
    for (const answer of [...asked, store.sweep(), store.clear(), keysOf(store), lease?.release()]) {
      await expect(answer).rejects.toMatchObject({
        code: 'ERR_ROBOTS_CLOSED',
        message: expect.stringContaining('The SQLite store is closed'),
      });
    }
    // The log is written back: one file is left to copy.
    expect(readdirSync(join(root, 'new'))).toEqual(['robots.sqlite']);
    store = sqliteStore({ path, clock });
    expect(await keysOf(store)).toHaveLength(100);
  });

  describe('a file', () => {
    it('with a name that is special to SQLite is a file', async () => {
      for (const name of [':memory:', 'file:x?mode=memory', 'ключ и пробел']) {
        const odd = sqliteStore({ path: join(root, name) });
        await odd.set('k', 'value', { ttlMs: HOUR });
        await odd.close();
        expect(existsSync(join(root, name))).toBe(true);
      }
    });

    const damage: Readonly<Record<string, (whole: Buffer) => Buffer>> = {
      'a file cut in the middle': (whole) => whole.subarray(0, whole.length / 2 + 100),
      'pages full of junk': (whole) =>
        Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 0xa5)]),
      'an index without its entries': (whole) =>
        whole.map((byte, at) => (at > 3 * 4_096 && at % 4_096 < 200 ? 0 : byte)) as Buffer,
    };

    it.each(Object.keys(damage))(
      'damaged (%s) is kept under another name, and a new one begins',
      async (name) => {
        const value = 'x'.repeat(900);
        const keys = Array.from({ length: 300 }, (_, at) => `https://site${at}.example`);
        await Promise.all(keys.map((key) => store.set(key, value + key, { ttlMs: HOUR })));
        await store.close();
        const bytes = Buffer.from(damage[name]!(readFileSync(path)));
        writeFileSync(path, bytes);
        const events: unknown[] = [];
        const note = (event: unknown): void => void events.push(event);
        subscribe('canfetch:store', note);
        store = sqliteStore({ path, clock });
        unsubscribe('canfetch:store', note);
        const quarantine = {
          path,
          movedTo: expect.stringContaining('robots.sqlite.damaged-'),
          reason: expect.stringMatching(/\w/),
        };
        expect(store.quarantine).toEqual(quarantine);
        expect(events).toEqual([{ type: 'quarantined', ...quarantine }]);
        expect(readFileSync(store.quarantine!.movedTo).equals(bytes)).toBe(true);
        expect(await keysOf(store)).toEqual([]);
        await store.set('k', 'value', { ttlMs: HOUR });
        expect(await store.get('k')).toBe('value');
        expect(readdirSync(join(root, 'new')).filter((each) => each.includes('.claim-'))).toEqual([]);
        await using other = sqliteStore({ path, clock });
        expect(other.quarantine).toBeUndefined();
        expect(await other.get('k')).toBe('value');
      },
    );

    it.each([
      ['8 KB of zeros', Buffer.alloc(8_192)],
      ['text', Buffer.from('no database\n'.repeat(1_000))],
      ['a byte', Buffer.of(1)],
    ])('a file that never was a database (%s) is left as it is, and an error', (_, bytes) => {
      const unrelated = join(root, 'urls.txt');
      writeFileSync(unrelated, bytes);
      expect(() => sqliteStore({ path: unrelated })).toThrow(
        expect.objectContaining({
          code: invalid,
          message: expect.stringContaining('to be a database of SQLite, got a file of something else'),
        }),
      );
      expect(readFileSync(unrelated).equals(bytes)).toBe(true);
      expect(readdirSync(root).filter((name) => name.startsWith('urls.txt'))).toEqual(['urls.txt']);
      rmSync(unrelated);
    });

    it('one whose header is lost is kept under another name while its log lies beside it', async () => {
      await store.set('k', 'value', { ttlMs: HOUR });
      await store.close();
      writeFileSync(path, Buffer.concat([Buffer.alloc(100, 7), readFileSync(path).subarray(100)]));
      writeFileSync(`${path}-wal`, '');
      store = sqliteStore({ path, clock });
      expect(store.quarantine).toMatchObject({ path });
    });

    it('damaged while it is open is not moved, and rejects', async () => {
      await Promise.all(
        Array.from({ length: 300 }, (_, at) => store.set(`k${at}`, 'x'.repeat(900), { ttlMs: HOUR })),
      );
      await store.close();
      store = sqliteStore({ path, clock });
      await store.get('k0');
      const inode = statSync(path).ino;
      // Written by another process: one that closed the file here would release the locks of this one.
      using script = compileScript(new URL('overwrite.ts', import.meta.url));
      const worker = startWorker(script, [path]);
      expect(await worker.next()).toBe('done');
      await worker.ended();
      expect(() => sqliteStore({ path, clock })).toThrow(
        expect.objectContaining({ code: invalid, message: expect.stringContaining('a process has it open') }),
      );
      expect(statSync(path).ino).toBe(inode);
      await expect(keysOf(store)).rejects.toThrow();
    });

    it('of another program is refused, and not changed', () => {
      const theirs = join(root, 'theirs.sqlite');
      const database = openSqlite(theirs);
      database.exec('CREATE TABLE entry (kind TEXT)');
      database.close();
      const before = readFileSync(theirs);
      expect(() => sqliteStore({ path: theirs })).toThrow(
        expect.objectContaining({ code: invalid, message: expect.stringContaining('another program') }),
      );
      expect(readFileSync(theirs).equals(before)).toBe(true);
    });

    it('of a later layout is refused, and not moved', async () => {
      await store.close();
      const database = openSqlite(path);
      database.exec('PRAGMA user_version = 2');
      database.close();
      expect(() => sqliteStore({ path })).toThrow(
        expect.objectContaining({ code: invalid, message: expect.stringContaining('layout 2, expected 1') }),
      );
    });

    it('that cannot be opened is an error with its cause', () => {
      for (const impossible of [root, join(process.execPath, 'robots.sqlite'), '/proc/robots.sqlite']) {
        expect(() => sqliteStore({ path: impossible })).toThrow(
          expect.objectContaining({ code: invalid, cause: expect.any(Error) }),
        );
      }
    });
  });

  describe('a database the caller opened', () => {
    it('is used, and left open', async () => {
      const database: SqliteDatabase = openSqlite(join(root, 'theirs.sqlite'));
      const theirs = sqliteStore(database);
      await theirs.set('k', 'value', { ttlMs: HOUR });
      expect(await theirs.get('k')).toBe('value');
      expect(await theirs.lease('k', HOUR)).toBeDefined();
      expect(await theirs.reserve('k', HOUR)).toBe(0);
      await theirs.close();
      expect(database.prepare('SELECT count(*) AS count FROM entry').get()).toMatchObject({ count: 3 });
      database.close();
    });

    it('with another value in place of an entry has no entry there', async () => {
      const database = openSqlite(join(root, 'theirs.sqlite'));
      const theirs = sqliteStore(database);
      const poison = ["'text'", "x''", "x'74ff'", "x'54ffff'", '7'];
      for (const content of poison) {
        for (const kind of [1, 2, 3]) {
          database.exec(`INSERT OR REPLACE INTO entry VALUES (${kind}, '"k"', 9000000000000000, ${content})`);
        }
        expect(await theirs.get('k')).toBeUndefined();
        await theirs.set('k', 'value', { ttlMs: HOUR });
        expect(await theirs.get('k')).toBe('value');
        database.exec('DELETE FROM entry');
      }
      for (const [key, expiry] of [
        ['"k"', "'never'"],
        ['k', '9000000000000000'],
        ['7', '9000000000000000'],
      ]) {
        database.exec(`INSERT INTO entry VALUES (1, '${key}', ${expiry}, x'7476')`);
      }
      expect(await theirs.get('k')).toBeUndefined();
      expect(await keysOf(theirs)).toEqual([]);
      database.close();
    });

    it('that is closed or read-only is refused', () => {
      const database = openSqlite(path);
      database.close();
      expect(() => sqliteStore(database)).toThrow(expect.objectContaining({ code: invalid }));
    });
  });

  it('a full disk rejects, ends no process and goes by', async () => {
    using script = compileScript(new URL('../store-worker.ts', import.meta.url));
    const worker = startWorker(script, ['sqlite', join(root, 'full.sqlite')], {
      maxFileBlocks: 3_072,
      env: quietEnv,
    });
    const perform = async (task: WorkerTask): Promise<unknown[]> => {
      worker.send(task);
      return (await worker.next()) as unknown[];
    };
    const keys = Array.from({ length: 20 }, (_, at) => `https://site${at}.example`);
    // Nothing compresses this.
    const value = Array.from({ length: 60_000 }, (_, at) =>
      (Math.imul(at, 2_654_435_761) >>> 0).toString(36),
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
    await using again = sqliteStore({ path: join(root, 'full.sqlite') });
    expect(again.quarantine).toBeUndefined();
    await again.set('k', 'small', { ttlMs: HOUR });
    expect(await again.get('k')).toBe('small');
  });

  it('a file that another process holds is an error soon, with its cause', async () => {
    await store.close();
    const holder = openSqlite(path);
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT * FROM entry');
    const started = performance.now();
    expect(() => sqliteStore({ path })).toThrow(
      expect.objectContaining({ code: invalid, message: expect.stringContaining('database is locked') }),
    );
    // It blocks: SQLite's own waits end after 0.25 s and 0.5 s. A busy machine adds to that.
    expect(performance.now() - started).toBeLessThan(4_000);
    holder.exec('COMMIT');
    holder.close();
    store = sqliteStore({ path });
  });

  it('waits for other processes that open the file, where SQLite would not', async () => {
    await store.close();
    const other = openSqlite(path);
    other.exec('PRAGMA journal_mode = DELETE; BEGIN; SELECT * FROM entry');
    const connection = openSqlite(path);
    const calls: string[] = [];
    const attempts = (): number => calls.filter((sql) => sql.includes('journal_mode')).length;
    const made = sqliteStore({
      exec(sql) {
        calls.push(sql);
        if (sql.includes('journal_mode') && attempts() === 2) other.exec('COMMIT');
        connection.exec(sql);
      },
      prepare(sql) {
        calls.push(sql);
        return connection.prepare(sql);
      },
      close: () => undefined,
    });
    expect(attempts()).toBe(2);
    // SQLite may have to read the schema for a statement, so it waits until all are prepared.
    expect(calls[0]).toMatch(/^PRAGMA busy_timeout = [1-9]/);
    expect(calls.at(-1)).toBe('PRAGMA busy_timeout = 0');
    other.close();
    await made.set('k', 'v', { ttlMs: HOUR });
    expect(await made.get('k')).toBe('v');
    connection.close();
    store = sqliteStore({ path });
  });

  it('a database that lost its tables is an error with its cause', async () => {
    await store.close();
    const other = openSqlite(path);
    other.exec('DROP TABLE entry');
    expect(() => sqliteStore({ path })).toThrow(
      expect.objectContaining({ code: invalid, message: expect.stringContaining('no such table: entry') }),
    );
    // The connection was closed with it.
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    other.close();
    rmSync(path);
    store = sqliteStore({ path });
  });

  it('a transaction that fails is told with its cause, not with that of the rollback', () => {
    const cause = new Error('disk I/O error');
    const database: SqliteDatabase = {
      exec(sql) {
        if (sql === 'ROLLBACK') throw new Error('cannot rollback - no transaction is active');
      },
      prepare: () => {
        throw cause;
      },
      close: () => undefined,
    };
    expect(() => sqliteStore(database)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('disk I/O error'), cause }),
    );
  });

  it.each([
    [undefined, 'Expected `path` to name a file'],
    [{ path: '' }, 'Expected `path` to name a file'],
    [{ path: 'x', ttlMs: 5 }, 'Expected only known options, got `ttlMs`'],
    [{ path: 'x', clock: {} }, 'Expected `clock` to be an object whose `now()` returns epoch milliseconds'],
  ])('refuses %j', (options, message) => {
    // @ts-expect-error: these are no options
    expect(() => sqliteStore(options)).toThrow(message);
  });
});

describe('SQLite where Node.js has none', () => {
  it.skipIf(nodeSqlite !== undefined)('is an error that says what to do', () => {
    expect(() => sqliteStore({ path: join(tmpdir(), 'canfetch-none.sqlite') })).toThrow(
      expect.objectContaining({
        code: invalid,
        message: expect.stringMatching(/Expected Node\.js 22\.13 or later.*canfetch\/lmdb/),
      }),
    );
  });
});
