import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeEntry, nameOf } from '../../../src/stores/lmdb/entries.ts';
import { type LmdbStore, lmdbStore, type StoreEntry } from '../../../src/stores/lmdb/lmdb.ts';
import { DAY, HOUR, MINUTE, SECOND, VirtualClock } from '../../support/client.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { storeContract } from '../store-contract.ts';
import type { WorkerTask } from '../store-worker.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'canfetch-lmdb-'));

storeContract('LMDB', async () => {
  const clock = new VirtualClock();
  const path = folder();
  const store = lmdbStore({ path, clock });
  return {
    store,
    elapse: async (_kind, _key, ms) => clock.advance(ms),
    async close() {
      await store.close();
      rmSync(path, { recursive: true });
    },
  };
});

describe('LMDB', () => {
  let path: string;
  let clock: VirtualClock;
  let store: LmdbStore;

  beforeEach(() => {
    path = folder();
    clock = new VirtualClock();
    store = lmdbStore({ path, clock });
  });

  afterEach(async () => {
    await store.close();
    rmSync(path, { recursive: true });
  });

  async function entriesOf(of: LmdbStore): Promise<StoreEntry[]> {
    const entries: StoreEntry[] = [];
    for await (const entry of of.entries()) entries.push(entry);
    return entries;
  }

  /** Whatever there is in the database, index and all. */
  async function names(): Promise<string[]> {
    const database = open<Buffer, string>({ path, encoding: 'binary' });
    const found = [...database.getKeys()];
    await database.close();
    return found;
  }

  it('is opened again in one process while it writes, and stays open until its last store is closed', async () => {
    for (let round = 0; round < 50; round++) {
      const written = store.reserve!('k', MINUTE);
      if (round % 2 === 0) await setImmediate();
      const again = lmdbStore({ path, clock });
      await again.set('a', String(round), { ttlMs: HOUR });
      await Promise.all([written, again.close()]);
      expect(await store.get('a')).toBe(String(round));
    }
  });

  it('refuses a database of lmdb 2.0, and names the versions served', async () => {
    const database = open<Buffer, string>({ path: join(path, 'of-2.0'), encoding: 'binary' });
    const older = new Proxy(database, { has: (of, name) => name !== 'committed' && name in of });
    expect(() => lmdbStore(older)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining('lmdb 2.1 or later'),
      }),
    );
    await database.close();
  });

  it('gives each lease a token greater than all before, in one transaction, in the next, and when opened again', async () => {
    const keys = Array.from({ length: 600 }, (_, index) => `key ${index}`);
    const leases = await Promise.all(keys.map((key) => store.lease(key, MINUTE)));
    leases.push(await store.lease('another', MINUTE));
    await store.close();
    store = lmdbStore({ path, clock });
    leases.push(await store.lease('the last', MINUTE));
    const tokens = leases.map((lease) => lease?.token ?? '');
    expect(tokens).toEqual([...new Set(tokens)].sort());
    expect(tokens).toHaveLength(602);
  });

  it('keeps values when it is reopened', async () => {
    await store.set('k', 'value', { ttlMs: HOUR });
    await store.lease('k', HOUR);
    await store.reserve('k', MINUTE);
    await store.close();
    store = lmdbStore({ path, clock });
    expect(await store.get('k')).toBe('value');
    expect(await store.lease('k', HOUR)).toBeUndefined();
    expect(await store.reserve('k', MINUTE)).toBe(MINUTE);
  });

  it('commits a lease that was given, also when it is closed at once', async () => {
    expect(await store.lease('k', HOUR)).toBeDefined();
    await store.close();
    store = lmdbStore({ path, clock });
    expect(await store.lease('k', HOUR)).toBeUndefined();
  });

  it("two stores on one folder see each other's writes, also after one is closed", async () => {
    const other = lmdbStore({ path, clock });
    await store.set('k', 'value', { ttlMs: HOUR });
    expect(await other.get('k')).toBe('value');
    expect([await store.lease('k', HOUR), await other.lease('k', HOUR)]).toEqual([
      expect.anything(),
      undefined,
    ]);
    await other.close();
    await store.set('k', 'other', { ttlMs: HOUR });
    expect(await store.get('k')).toBe('other');
  });

  it('tokens of leases are unique, and grow', async () => {
    const tokens: string[] = [];
    for (let count = 0; count < 10; count++) {
      const lease = await store.lease('k', HOUR);
      tokens.push(lease?.token ?? '');
      await lease?.release();
    }
    expect(new Set(tokens).size).toBe(10);
    expect([...tokens].sort()).toEqual(tokens);
  });

  it('slots are exactly the delay apart', async () => {
    const waits = await Promise.all(Array.from({ length: 100 }, () => store.reserve('k', 1_500)));
    expect(waits.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, rank) => rank * 1_500));
    clock.advance(1_000);
    expect(await store.reserve('k', 2_250.5)).toBe(99 * 1_500 - 1_000 + 2_250.5);
  });

  it('unused slots are not made up for', async () => {
    await store.reserve('k', 10 * SECOND);
    clock.advance(MINUTE);
    expect(await store.reserve('k', 10 * SECOND)).toBe(0);
    expect(await store.reserve('k', 10 * SECOND)).toBe(10 * SECOND);
  });

  it('keeps a value no shorter than asked for', async () => {
    await store.set('k', 'value', { ttlMs: 0.25 });
    expect(await store.get('k')).toBe('value');
    clock.advance(1);
    expect(await store.get('k')).toBeUndefined();
    expect(await store.sweep()).toBe(1);
  });

  it('refuses invalid times', async () => {
    const invalid = { code: 'ERR_ROBOTS_INVALID_OPTIONS' };
    for (const ms of [Number.NaN, Infinity, -1, 0]) {
      await expect(store.set('k', 'value', { ttlMs: ms })).rejects.toMatchObject(invalid);
      await expect(store.lease('k', ms)).rejects.toMatchObject(invalid);
      if (ms !== 0) await expect(store.reserve('k', ms)).rejects.toMatchObject(invalid);
    }
    expect(await names()).toEqual([]);
  });

  describe('an expired entry', () => {
    it('of any kind is removed on `sweep`, with its index', async () => {
      const keys = Array.from({ length: 600 }, (_, at) => `https://site${at}.example`);
      await Promise.all(keys.map((key) => store.set(key, 'first', { ttlMs: MINUTE })));
      await Promise.all(keys.map((key) => store.set(key, 'value', { ttlMs: HOUR })));
      for (const key of ['k'.repeat(3_000), 'k'.repeat(100) + '\0', '\0', '\ud800']) {
        await store.set(key, 'value', { ttlMs: HOUR });
      }
      await store.lease('k', HOUR);
      await store.reserve('k', MINUTE);
      await store.set('kept', 'value', { ttlMs: DAY });
      expect(await store.sweep()).toBe(0);
      clock.advance(HOUR);
      expect(await store.sweep()).toBe(606);
      expect(await store.sweep()).toBe(0);
      const left = await names();
      expect(left).toHaveLength(3);
      expect(left).toEqual(expect.arrayContaining(['v=kept', expect.stringMatching(/^x.{9}v=kept$/)]));
    });

    it('is removed at writes, several at each', async () => {
      const old = Array.from({ length: 100 }, (_, at) => `old${at}`);
      await Promise.all(old.map((key) => store.set(key, 'value', { ttlMs: MINUTE })));
      clock.advance(MINUTE);
      await store.set('new0', 'value', { ttlMs: DAY });
      const after = (await names()).filter((name) => name.startsWith('v='));
      expect(after).toHaveLength(100 - 4 + 1);
      const fresh = Array.from({ length: 24 }, (_, at) => `new${at + 1}`);
      await Promise.all(fresh.map((key) => store.set(key, 'value', { ttlMs: DAY })));
      const left = (await names()).filter((name) => name.startsWith('v='));
      expect(left.every((name) => name.startsWith('v=new'))).toBe(true);
      expect(left).toHaveLength(25);
    });

    it('is not removed when it was set again', async () => {
      await store.set('k', 'first', { ttlMs: MINUTE });
      await store.set('k', 'second', { ttlMs: HOUR });
      clock.advance(MINUTE);
      expect(await store.sweep()).toBe(0);
      expect(await store.get('k')).toBe('second');
    });

    it('frees its pages: the database is no larger than its greatest content', async () => {
      const value = 'x'.repeat(900);
      for (let round = 0; round < 12; round++) {
        await Promise.all(
          Array.from({ length: 300 }, (_, at) => store.set(`${round}/${at}`, value, { ttlMs: MINUTE })),
        );
        clock.advance(MINUTE);
      }
      await store.sweep();
      const database = open<Buffer, string>({ path, encoding: 'binary' });
      const { lastPageNumber, pageSize } = { lastPageNumber: 0, pageSize: 4096, ...database.getStats() };
      await database.close();
      expect(lastPageNumber).toBeGreaterThan(0);
      expect(lastPageNumber * pageSize).toBeLessThan(300 * 1_000 * 5);
    });
  });

  describe('entries', () => {
    it('are all values in force, with their ends', async () => {
      await store.set('b', 'long '.repeat(1_000), { ttlMs: HOUR });
      await store.set('a', 'value', { ttlMs: DAY });
      await store.set('k'.repeat(3_000), 'of a long key', { ttlMs: DAY });
      await store.set('over', 'value', { ttlMs: MINUTE });
      await store.lease('a', HOUR);
      await store.reserve('a', HOUR);
      clock.advance(MINUTE);
      const expiresAt = clock.now() - MINUTE + DAY;
      const entries = await entriesOf(store);
      expect(entries.sort((one, other) => one.key.length - other.key.length)).toEqual([
        { key: 'a', value: 'value', expiresAt },
        { key: 'b', value: 'long '.repeat(1_000), expiresAt: expiresAt - DAY + HOUR },
        { key: 'k'.repeat(3_000), value: 'of a long key', expiresAt },
      ]);
    });

    it('are listed a page at a time, each once, while others write', async () => {
      const keys = Array.from({ length: 1_000 }, (_, at) => `https://site${at}.example`);
      await Promise.all(keys.map((key) => store.set(key, key, { ttlMs: HOUR })));
      const seen: string[] = [];
      for await (const { key } of store.entries()) {
        seen.push(key);
        if (seen.length % 100 === 0) await store.delete(key);
      }
      expect(seen).toEqual([...keys].sort());
      expect(await entriesOf(store)).toHaveLength(990);
    });

    it('are gone when cleared; leases and slots are not', async () => {
      const keys = Array.from({ length: 600 }, (_, at) => `https://site${at}.example`);
      await Promise.all(keys.map((key) => store.set(key, key, { ttlMs: HOUR })));
      await store.lease('k', HOUR);
      await store.reserve('k', HOUR);
      await store.clear();
      expect(await entriesOf(store)).toEqual([]);
      expect(await names()).toHaveLength(5);
      expect(await store.lease('k', HOUR)).toBeUndefined();
      expect(await store.reserve('k', HOUR)).toBe(HOUR);
    });
  });

  it('a lease lasts no longer when the clock is set back: its time is counted anew', async () => {
    expect(await store.lease('k', MINUTE)).toBeDefined();
    const clockBefore = { now: () => clock.now() - HOUR };
    const later = lmdbStore({ path, clock: clockBefore });
    expect(await later.lease('k', MINUTE)).toBeUndefined();
    clock.advance(MINUTE - 1);
    expect(await later.lease('k', MINUTE)).toBeUndefined();
    clock.advance(1);
    expect(await later.lease('k', MINUTE)).toBeDefined();
    await later.close();
  });

  it('slots and pauses are no further away when the clock is set back: their waits go on', async () => {
    const later = lmdbStore({ path, clock: { now: () => clock.now() - HOUR } });
    await store.reserve('k', MINUTE);
    await store.pause('paused', MINUTE);
    expect(await later.reserve('k', MINUTE)).toBe(MINUTE);
    expect([await later.pause('paused', 0), await later.reserve('paused', MINUTE)]).toEqual([MINUTE, MINUTE]);
    await later.close();
  });

  describe('a pending write', () => {
    it('is read by this process at once, by others when it is committed', async () => {
      const other = lmdbStore({ path, clock });
      const first = store.set('k', 'value', { ttlMs: MINUTE });
      expect([await store.get('k'), await other.get('k')]).toEqual(['value', undefined]);
      await first;
      expect(await other.get('k')).toBe('value');
      const second = store.delete('k');
      expect([await store.get('k'), await other.get('k')]).toEqual([undefined, 'value']);
      await second;
      expect(await other.get('k')).toBeUndefined();
      const third = store.set('k', 'short', { ttlMs: 1 });
      clock.advance(1);
      expect(await store.get('k')).toBeUndefined();
      await third;
      await other.close();
    });

    it('is not read when a later lease has written already', async () => {
      const [late, next] = [await store.lease('a', HOUR), await store.lease('b', HOUR)];
      await store.set('k', 'next', { ttlMs: DAY, fence: next!.token! });
      const writing = store.set('k', 'late', { ttlMs: DAY, fence: late!.token! });
      expect(await store.get('k')).toBe('next');
      await writing;
    });

    describe('comes after earlier ones of its key', () => {
      const small = 'small';
      // Compressed in another thread; the larger one takes longer.
      const large = 'large '.repeat(12_000);
      const larger = randomBytes(2_000_000).toString('base64');
      const write = (value: string | undefined): Promise<void> =>
        value === undefined ? store.delete('k') : store.set('k', value, { ttlMs: DAY });

      it.each([
        ['a small value, deleted', [small, undefined]],
        ['a large value, then a small one', [large, small]],
        ['a large value, deleted', [large, undefined]],
        ['a large value, then a smaller one', [larger, large]],
        ['many values', [small, larger, undefined, large, small, larger, undefined, 'last']],
      ])('%s', async (_, values) => {
        await Promise.all(values.map(write));
        // Not `toBe`, which would print a megabyte.
        expect((await store.get('k')) === values.at(-1)).toBe(true);
      });

      it('a large value, then one that is refused, then a small one', async () => {
        const first = write(large);
        const refused = store.set('k', small, { ttlMs: DAY, fence: 'no token' });
        await Promise.all([first, expect(refused).rejects.toThrow('token'), write('last')]);
        expect(await store.get('k')).toBe('last');
      });

      it.each([
        ['deleted', undefined, null],
        ['large', large, large],
      ])('a lease that reads its value, which was %s', async (_, value, expected) => {
        await write(small);
        const writing = write(value);
        const lease = await store.lease('lease', DAY, { valueKey: 'k' });
        expect(lease?.value === expected).toBe(true);
        await writing;
      });
    });

    it('is no longer read after it failed', async () => {
      const failing = store.set('k', 'value', { ttlMs: DAY, fence: 'no token' });
      await expect(failing).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
      expect(await store.get('k')).toBeUndefined();
    });

    it('shares transactions: concurrent leases take one, with earlier writes', async () => {
      const root = open<Buffer, string>({ path: join(path, 'counted'), encoding: 'binary' });
      const transactions = vi.spyOn(root, 'transaction');
      const counted = lmdbStore(root);
      const keys = Array.from({ length: 100 }, (_, at) => `https://site${at}.example`);
      const take = () => Promise.all(keys.map((key) => counted.lease(`l:${key}`, HOUR, { valueKey: key })));
      const leases = await take();
      expect(transactions).toHaveBeenCalledTimes(1);
      expect(new Set(leases.map((lease) => lease?.token)).size).toBe(100);
      const written = leases.map((lease) => lease?.setAndRelease?.('value', { ttlMs: DAY }));
      await setImmediate();
      // Leases requested now come after the writes and releases just before.
      const again = await take();
      await Promise.all(written);
      expect(transactions).toHaveBeenCalledTimes(2);
      expect(again.map((lease) => lease?.value)).toEqual(keys.map(() => 'value'));
      await counted.close();
      await root.close();
    });
  });

  describe('a database the caller opened', () => {
    let root: RootDatabase<Buffer, string>;

    beforeEach(() => {
      root = open<Buffer, string>({ path: join(path, 'theirs'), encoding: 'binary' });
    });

    afterEach(() => root.close());

    it('is used, and left open', async () => {
      const named = root.openDB<Buffer, string>({ name: 'robots' });
      for (const database of [root, named]) {
        const theirs = lmdbStore(database);
        await theirs.set('k', 'value', { ttlMs: HOUR });
        expect(await theirs.get('k')).toBe('value');
        expect(await theirs.lease('k', HOUR)).toBeDefined();
        expect(await theirs.reserve('k', HOUR)).toBe(0);
        await theirs.close();
        await database.put('their own', Buffer.from('value'));
        expect(database.get('their own')?.toString()).toBe('value');
      }
    });

    it('with another value in place of an entry has no entry there', async () => {
      const theirs = lmdbStore(root);
      const poison = ['', 'value', '\u0001', '\u0001'.repeat(9), '\u0001'.repeat(100)].map((text) =>
        Buffer.from(text),
      );
      for (const bytes of poison) {
        for (const name of ['v=k', 'l=k', 's=k']) await root.put(name, bytes);
        expect(await theirs.get('k')).toBeUndefined();
        expect(await theirs.lease('k', HOUR)).toBeDefined();
        expect(await theirs.reserve('k', HOUR)).toBe(0);
        await theirs.set('k', 'value', { ttlMs: HOUR });
        expect(await theirs.get('k')).toBe('value');
        await theirs.delete('k');
        await root.remove('s=k');
      }
    });

    it('with an index that is not of the store loses no value by it', async () => {
      const theirs = lmdbStore(root);
      await theirs.set('k', 'value', { ttlMs: HOUR });
      for (const name of ['v=k', 'v=none', '']) await root.put(`x000000001${name}`, Buffer.alloc(0));
      expect(await theirs.sweep()).toBe(3);
      expect(await theirs.get('k')).toBe('value');
    });

    it('gives no value of another key, not even of one with the same digest', async () => {
      const [one, other] = ['a', 'b'].map((end) => 'k'.repeat(3_000) + end) as [string, string];
      const theirs = lmdbStore(root);
      await theirs.set(one, 'value', { ttlMs: HOUR });
      const content = Buffer.from('tof the other');
      const entry = encodeEntry(nameOf('value', one), {
        key: other,
        content,
        expiresAt: Date.now() + HOUR,
      });
      expect(await theirs.get(one)).toBe('value');
      await root.put(nameOf('value', one), entry);
      expect(await theirs.get(one)).toBeUndefined();
    });

    it('is refused when it is opened in another way', () => {
      const wrong = [
        [
          root.openDB({ name: 'a', encoding: 'json' }),
          "Expected a database opened with `encoding: 'binary'`, got one",
        ],
        [root.openDB({ name: 'b', dupSort: true }), 'Expected a database opened without `dupSort`'],
        [root.openDB({ name: 'c', useVersions: true }), 'Expected a database opened without `useVersions`'],
        [root.openDB({ name: 'd', cache: true }), 'Expected a database opened without `cache`'],
        [
          root.openDB({ name: 'e', keyEncoding: 'uint32' }),
          'Expected a database opened without `keyEncoding`',
        ],
      ] as const;
      for (const [database, message] of wrong) expect(() => lmdbStore(database)).toThrow(message);
    });
  });

  describe('is opened in a process of its own first', () => {
    const execPath = process.execPath;
    let started: string;

    /** How many processes it takes to open a store, use it, and close it. */
    async function processesToOpen(at: string): Promise<number> {
      writeFileSync(started, '');
      const opened = lmdbStore({ path: at, clock });
      await opened.set('k', 'value', { ttlMs: HOUR });
      expect(await opened.get('k')).toBe('value');
      await opened.close();
      return readFileSync(started, 'utf8').length;
    }

    beforeEach(() => {
      started = join(path, 'started');
      const bin = join(path, 'bin');
      mkdirSync(bin);
      process.execPath = join(bin, 'node');
      const script = `#!/bin/sh\nprintf x >>'${started}'\nexec '${execPath}' "$@"\n`;
      writeFileSync(process.execPath, script, { mode: 0o755 });
    });

    afterEach(() => {
      process.execPath = execPath;
    });

    it('unless it is new, or as it was when it was closed', async () => {
      const at = join(path, 'own');
      expect(await processesToOpen(at)).toBe(0);
      expect(await processesToOpen(at)).toBe(0);
      const file = join(path, 'own.mdb');
      expect([await processesToOpen(file), await processesToOpen(file)]).toEqual([0, 0]);
    });

    it.each([
      ['an byte is another', (data: Buffer) => data.fill(1, data.length - 1)],
      ['it was cut', (data: Buffer) => data.subarray(0, data.length - 4_096)],
      ['it was extended', (data: Buffer) => Buffer.concat([data, Buffer.alloc(4_096)])],
    ])('when %s since it was closed', async (_, change) => {
      const at = join(path, 'own');
      await processesToOpen(at);
      const data = join(at, 'data.mdb');
      writeFileSync(data, change(readFileSync(data)));
      expect(await processesToOpen(at)).toBeGreaterThan(0);
    });

    it('when it was opened and not closed, even if no byte has changed', async () => {
      const at = join(path, 'own');
      await processesToOpen(at);
      const data = readFileSync(join(at, 'data.mdb'));
      const opened = lmdbStore({ path: at, clock });
      const left = join(path, 'left');
      cpSync(at, left, { recursive: true });
      await opened.close();
      expect(readFileSync(join(left, 'data.mdb')).equals(data)).toBe(true);
      expect([await processesToOpen(left), await processesToOpen(left)]).toEqual([1, 0]);
    });

    it('unless it was closed, also from another working directory', async () => {
      const elsewhere = join(path, 'elsewhere');
      const other = join(elsewhere, 'own', 'data.mdb');
      mkdirSync(dirname(other), { recursive: true });
      writeFileSync(other, 'of another database, which was not closed');
      const directory = process.cwd();
      onTestFinished(() => process.chdir(directory));
      process.chdir(path);
      const opened = lmdbStore({ path: 'own', clock });
      process.chdir(elsewhere);
      await opened.close();
      process.chdir(directory);
      expect(readdirSync(dirname(other))).toEqual(['data.mdb']);
      expect(await processesToOpen(join(path, 'own'))).toBe(0);
    });

    it('when it was not closed, or is too large to read it all', async () => {
      const at = join(path, 'own');
      await processesToOpen(at);
      const copy = join(path, 'copy');
      const opened = lmdbStore({ path: at, clock });
      await opened.set('k', 'another', { ttlMs: HOUR });
      cpSync(at, copy, { recursive: true });
      await opened.close();
      expect(await processesToOpen(copy)).toBe(1);
      const large = join(path, 'large');
      await processesToOpen(large);
      truncateSync(join(large, 'data.mdb'), 65 * 1_024 * 1_024);
      expect([await processesToOpen(large), await processesToOpen(large)]).toEqual([1, 1]);
    });
  });

  describe('closed', () => {
    it('is closed after earlier calls are done', async () => {
      const keys = Array.from({ length: 100 }, (_, at) => `k${at}`);
      const sets = keys.map((key) => store.set(key, 'value '.repeat(1_000), { ttlMs: HOUR }));
      const closed = store.close();
      expect(await Promise.allSettled(sets)).toEqual(
        keys.map(() => ({ status: 'fulfilled', value: undefined })),
      );
      await closed;
      store = lmdbStore({ path, clock });
      expect(await entriesOf(store)).toHaveLength(100);
    });

    it('rejects every call, and can be closed again', async () => {
      const lease = await store.lease('k', HOUR);
      await store.close();
      await store.close();
      const asked = [
        store.get('k'),
        store.set('k', 'value', { ttlMs: HOUR }),
        store.delete('k'),
        store.lease('k', HOUR),
        store.reserve('k', HOUR),
        store.sweep(),
        store.clear(),
        entriesOf(store),
        lease?.release(),
      ];
      for (const answer of asked) {
        await expect(answer).rejects.toMatchObject({
          code: 'ERR_ROBOTS_CLOSED',
          message: 'The LMDB store is closed; create a new one to continue',
        });
      }
    });
  });

  it('cannot be opened where no folder can be made', () => {
    expect(() => lmdbStore({ path: process.execPath })).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining(
          'Expected `path` to be a folder that can hold an LMDB database, got',
        ),
        cause: expect.any(Error),
      }),
    );
  });

  it.each([
    [undefined, 'Expected `path` to name a folder'],
    [{}, 'Expected `path` to name a folder'],
    [{ path: '' }, 'Expected `path` to name a folder'],
    [{ path: join(tmpdir(), 'canfetch-nowhere'), ttlMs: 5 }, 'Expected only known options, got `ttlMs`'],
    [
      { path: join(tmpdir(), 'canfetch-nowhere'), clock: {} },
      'Expected `clock` to be an object whose `now()` returns epoch milliseconds',
    ],
  ])('refuses %j', (options, message) => {
    // @ts-expect-error: these are no options
    expect(() => lmdbStore(options)).toThrow(message);
  });
});

describe('LMDB in trouble', () => {
  const keys = Array.from({ length: 20 }, (_, at) => `https://site${at}.example`);
  /** Nothing compresses this. */
  const value = Array.from({ length: 60_000 }, (_, at) =>
    (Math.imul(at, 2_654_435_761) >>> 0).toString(36),
  ).join('');

  it.each(['lmdb', 'lmdb-opened'])('a full disk rejects, ends no process and goes by (%s)', async (kind) => {
    const path = folder();
    using script = compileScript(new URL('../store-worker.ts', import.meta.url));
    const worker = startWorker(script, [kind, path], { maxFileBlocks: 3_072 });
    const perform = async (task: WorkerTask): Promise<unknown[]> => {
      worker.send(task);
      return (await worker.next()) as unknown[];
    };
    expect(await worker.next()).toBe('ready');
    const set = [];
    for (const key of keys) set.push(...(await perform({ task: 'set', keys: [key], ms: HOUR, value })));
    const failed = set.filter((result) => result !== 'set');
    expect(set[0]).toBe('set');
    expect(failed.length).toBeGreaterThan(5);
    for (const reason of failed) expect(reason).toMatch(/^Error: LMDB could not commit: /);
    // Many at once, in one transaction.
    for (const result of await perform({ task: 'set', keys, ms: HOUR, value }))
      expect(result).not.toBe('set');
    const got = await perform({ task: 'get', keys, ms: 0 });
    expect(got).toEqual(set.map((result) => (result === 'set' ? value : null)));
    expect(await perform({ task: 'set', keys: ['k'], ms: HOUR, value: 'small' })).toEqual(['set']);
    worker.end();
    expect((await worker.ended()).code).toBe(0);
    rmSync(path, { recursive: true });
  });

  it('a missing package is named, with what to do', async () => {
    using script = compileScript(new URL('lmdb-missing.ts', import.meta.url), 'outside');
    // Where the package is found after all, it makes a database.
    const path = folder();
    const worker = startWorker(script, [join(path, 'database')]);
    expect(await worker.next()).toEqual({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      // One line: Node lists the files that asked for it, a line each.
      message: expect.stringMatching(/run `npm install lmdb`: .+$/),
    });
    await worker.ended();
    rmSync(path, { recursive: true });
  });
});
