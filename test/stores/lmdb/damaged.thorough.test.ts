import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LmdbEntries } from '../../../src/stores/lmdb/entries.ts';
import { HOUR } from '../../support/client.ts';
import { Chance } from '../../support/random.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../../support/workers.ts';
import type { DamagedTask, UsedStore } from './damaged-worker.ts';

const PAGE = 4_096;
const FOREVER = Date.UTC(2100);

describe('a damaged LMDB database', () => {
  let script: CompiledScript;
  let root: string;
  /** The bytes of a database that was used for a while. What damage does depends on where its pages lie: always there. */
  let whole: Buffer;
  const workers: Worker[] = [];
  /** Two processes that open many databases, one after the other. */
  let worker: Worker;
  let another: Worker;
  /** Whether a process ended that should not have. */
  let hasEnded = false;

  beforeAll(async () => {
    script = compileScript(new URL('damaged-worker.ts', import.meta.url));
    root = mkdtempSync(join(tmpdir(), 'canfetch-damaged-'));
    [worker, another, whole] = await Promise.all([start(), start(), usedDatabase()]);
  }, 60_000);

  beforeEach(async () => {
    if (hasEnded) [worker, another] = await Promise.all([start(), start()]);
    hasEnded = false;
  }, 60_000);

  async function usedDatabase(): Promise<Buffer> {
    const path = mkdtempSync(join(root, 'whole-'));
    const database = open<Buffer, string>({
      path,
      encoding: 'binary',
      overlappingSync: false,
      noMetaSync: true,
    });
    const entries = new LmdbEntries(database);
    const chance = new Chance(7);
    // Nothing compresses this: it takes pages of its own.
    const large = Array.from({ length: 9_000 }, () => String.fromCharCode(33 + chance.below(90))).join('');
    for (let round = 1; round <= 3; round++) {
      const expiresAt = FOREVER + round * HOUR;
      for (let at = 0; at < 300; at += 100) {
        await entries.transact(() => {
          for (let index = at; index < at + 100; index++) {
            const value = index % 9 === 0 ? large : large.slice(0, 40 * (index % 30));
            const content = Buffer.from(`t${value}`);
            entries.put('value', { key: `https://site${index}.example`, expiresAt, content });
          }
        });
      }
      for (let at = round; at < 300; at += 7) {
        await entries.transact(() => entries.remove('value', `https://site${at}.example`));
      }
    }
    for (let at = 0; at < 30; at++) {
      await entries.transact(() => {
        const token = String(entries.countLease()).padStart(16, '0');
        const content = Buffer.from(`${token} ${HOUR}`);
        entries.put('lease', { key: `k${at}`, expiresAt: FOREVER, content });
        entries.put('slot', { key: `k${at}`, expiresAt: FOREVER, content: Buffer.from(`${at} 0 0`) });
      });
    }
    await database.close();
    return readFileSync(join(path, 'data.mdb'));
  }

  afterAll(async () => {
    for (const worker of workers) await worker.kill();
    script[Symbol.dispose]();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });

  async function start(): Promise<Worker> {
    const worker = startWorker(script, []);
    workers.push(worker);
    expect(await worker.next()).toBe('ready');
    return worker;
  }

  async function perform<Result>(worker: Worker, task: DamagedTask): Promise<Result> {
    worker.send(task);
    try {
      return (await worker.next()) as Result;
    } catch (error) {
      hasEnded = true;
      throw error;
    }
  }

  const use = (worker: Worker, path: string, key = 'k'): Promise<UsedStore> =>
    perform(worker, { task: 'use', path, key });

  /** @param lock LMDB's lock file beside the data shows that they were a database, whatever they are now. */
  function folderWith(data: Buffer, lock?: Buffer): string {
    const path = mkdtempSync(join(root, 'store-'));
    writeFileSync(join(path, 'data.mdb'), data);
    if (lock !== undefined) writeFileSync(join(path, 'lock.mdb'), lock);
    return path;
  }

  /** Copies a database while a process works with it. What that process has already removed is left out. */
  function copyFiles(from: string, to: string): void {
    mkdirSync(to);
    for (const name of readdirSync(from).filter((each) => /^(?:data|lock)\.mdb/.test(each))) {
      try {
        copyFileSync(join(from, name), join(to, name));
      } catch (error) {
        if (name === 'data.mdb' || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }

  const setAsideIn = (path: string): string[] =>
    readdirSync(path).filter((name) => name.includes('.damaged-'));
  const claimsIn = (path: string): string[] => readdirSync(path).filter((name) => name.includes('.claim-'));

  function junk(length: number, seed: number): Buffer {
    const chance = new Chance(seed);
    return Buffer.from(Array.from({ length }, () => chance.below(256)));
  }

  /** The whole file with some bytes in place of others. */
  function changed(...changes: readonly (readonly [at: number, bytes: readonly number[]])[]): Buffer {
    const data = Buffer.from(whole);
    for (const [at, bytes] of changes) data.set(bytes, at);
    return data;
  }

  /** The root page of the main tree, by the newer of the meta pages. */
  function rootPage(): number {
    const newer = whole.readUInt32LE(152) > whole.readUInt32LE(PAGE + 152) ? 0 : PAGE;
    return whole.readUInt32LE(newer + 96 + 40);
  }

  const damaged: Readonly<Record<string, () => Buffer>> = {
    '8 KB of zeros': () => Buffer.alloc(8_192),
    '64 KB of junk': () => junk(65_536, 1),
    'a single byte': () => Buffer.of(1),
    'a file cut at 5,000 bytes': () => whole.subarray(0, 5_000),
    'a file cut in the middle of its pages': () => whole.subarray(0, whole.length / 2 + 100),
    'the first meta page of another program': () => changed([24, [1, 2, 3, 4]]),
    'a page size that is none': () => changed([48, [0, 3]]),
    'page sizes that differ': () => changed([48, [0, 32]]),
    'a page count beyond all bounds': () =>
      changed([144, [255, 255, 255, 255, 255, 15]], [PAGE + 144, [255, 255, 255, 255, 255, 15]]),
    'a root that is no page of the file': () => changed([96 + 40, [0, 0, 1]], [PAGE + 96 + 40, [0, 0, 1]]),
    'a tree that goes round in a circle': () => {
      const page = whole.subarray(rootPage() * PAGE, (rootPage() + 1) * PAGE);
      return changed([rootPage() * PAGE + 24 + page.readUInt16LE(24), [rootPage(), 0, 0, 0, 0, 0]]);
    },
    'pages full of junk': () =>
      Buffer.concat([whole.subarray(0, 2 * PAGE), junk(whole.length - 2 * PAGE, 2)]),
  };

  it.each(Object.keys(damaged))('%s: is kept under another name, and a new one begins', async (name) => {
    const data = damaged[name]?.() ?? Buffer.of();
    const path = folderWith(data, Buffer.of());
    const used = await use(worker, path);
    const file = join(path, 'data.mdb');
    const [kept = ''] = setAsideIn(path);
    const quarantine = { path: file, movedTo: join(path, kept), reason: expect.stringMatching(/\w/) };
    expect(used).toEqual({ works: true, quarantine, events: [{ type: 'quarantined', ...quarantine }] });
    expect(readFileSync(join(path, kept)).equals(data)).toBe(true);
    expect(claimsIn(path)).toEqual([]);
    // What was begun is a store like any other.
    expect(await use(another, path, 'another')).toEqual({ works: true, events: [] });
    expect(setAsideIn(path)).toHaveLength(1);
  });

  // The probe reads and writes what it can. A page that only later work meets may still end a process; none of these does.
  it('flipped bytes anywhere in it end no process', async () => {
    const chance = new Chance(11);
    let set = 0;
    for (let round = 0; round < 48; round++) {
      const data = Buffer.from(whole);
      for (let flips = 0; flips <= round % 12; flips++) {
        // Headers of pages, half of the time: that is where it hurts.
        const anywhere = chance.below(data.length);
        const at = round % 2 === 0 ? anywhere : anywhere - (anywhere % PAGE) + chance.below(96);
        data[at] = (data[at] ?? 0) ^ (1 << chance.below(8));
      }
      const path = folderWith(data);
      const used = await use(worker, path);
      expect(used).toMatchObject({ works: true });
      if (used.quarantine !== undefined) set++;
      await perform(worker, { task: 'close', path });
      rmSync(path, { recursive: true, force: true });
    }
    expect(set).toBeGreaterThan(4);
  }, 120_000);

  it('junk in place of its lock file does no harm', async () => {
    for (const lock of [Buffer.of(), junk(100, 3), junk(8_272, 4), junk(100_000, 5)]) {
      const path = folderWith(whole);
      writeFileSync(join(path, 'lock.mdb'), lock);
      expect(await use(worker, path)).toEqual({ works: true, events: [] });
      expect(setAsideIn(path)).toEqual([]);
    }
  });

  it('is a file where the path has an extension', async () => {
    const path = join(root, 'robots.store');
    writeFileSync(path, changed([48, [0, 3]]));
    expect(await use(worker, path)).toMatchObject({ works: true, quarantine: { path } });
  });

  it.each([
    ['the second meta page of another program', [PAGE + 24, [1, 2, 3, 4]]],
    ['another page size in the older meta page', [PAGE + 48, [0, 32]]],
    ['a transaction out of order', [152, [0, 0, 0, 0, 1]]],
  ] as const)('%s: LMDB goes on with the other meta page', async (_, change) => {
    expect(await use(worker, folderWith(changed(change)))).toEqual({ works: true, events: [] });
  });

  it('a whole database, and a folder without one, are opened as they are', async () => {
    const path = folderWith(whole);
    expect(await use(worker, path)).toEqual({ works: true, events: [] });
    const empty = folderWith(Buffer.of());
    expect(await use(worker, empty)).toEqual({ works: true, events: [] });
    expect(await use(worker, join(root, 'new', 'folder'))).toEqual({ works: true, events: [] });
  });

  it('one of another data format is not moved', async () => {
    const path = folderWith(changed([28, [1]], [PAGE + 28, [1]]));
    expect(await use(worker, path)).toEqual({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining('data format 1, expected 2'),
    });
    expect(readdirSync(path)).toEqual(['data.mdb']);
    expect(readFileSync(join(path, 'data.mdb')).readUInt32LE(28)).toBe(1);
  });

  it('is not moved while a process has it open, but afterwards', async () => {
    const path = folderWith(whole);
    const file = join(path, 'data.mdb');
    const holder = await start();
    expect(await use(holder, path)).toMatchObject({ works: true });
    const inode = statSync(file).ino;
    const data = readFileSync(file);
    writeFileSync(file, data.fill(0, 24, 28), { flag: 'r+' });
    const late = another;
    expect(await use(late, path)).toEqual({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining('a process has it open'),
    });
    expect(statSync(file).ino).toBe(inode);
    expect(claimsIn(path)).toEqual([]);
    await holder.kill();
    expect(await use(late, path)).toMatchObject({ works: true, quarantine: { path: file } });
  });

  it('opened by many processes at once is set aside once, and all use one new database', async () => {
    const crowd = await Promise.all([worker, another, start(), start()]);
    for (let round = 0; round < 3; round++) {
      const path = folderWith(round === 0 ? Buffer.alloc(8_192) : changed([24, [1, 2, 3, 4]]), Buffer.of());
      const used = await Promise.all(crowd.map((worker, at) => use(worker, path, `key ${at}`)));
      expect(used.map(({ works }) => works)).toEqual(crowd.map(() => true));
      expect(used.filter(({ quarantine }) => quarantine !== undefined)).toHaveLength(1);
      expect(setAsideIn(path)).toHaveLength(1);
      expect(claimsIn(path)).toEqual([]);
      const written = crowd.map((_, at) => `key ${at}`);
      for (const worker of crowd) {
        expect(await perform(worker, { task: 'keys', path })).toEqual(expect.arrayContaining(written));
      }
    }
  }, 60_000);

  it('is set aside by the next one when a process died before it had done so', async () => {
    const path = folderWith(Buffer.alloc(8_192), Buffer.of());
    const dead = await start();
    await dead.kill();
    symlinkSync('1 0 00000000-0000-0000-0000-000000000000', join(path, 'data.mdb.claim-1'));
    expect(await use(worker, path)).toMatchObject({ works: true, quarantine: {} });
    expect(claimsIn(path)).toEqual(['data.mdb.claim-1']);
    expect(existsSync(join(path, 'data.mdb.claim-2'))).toBe(false);
  });

  it('a copy taken while others write is opened, or set aside, and ends no process', async () => {
    const path = folderWith(whole);
    const writer = worker;
    const copies = join(root, 'copies');
    mkdirSync(copies);
    const reader = another;
    for (let round = 0; round < 5; round++) {
      writer.send({ task: 'use', path, key: `k${round}` } satisfies DamagedTask);
      const copy = join(copies, String(round));
      copyFiles(path, copy);
      await writer.next();
      expect(await use(reader, copy)).toMatchObject({ works: true });
    }
  });
});
