import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';
import { probe } from '../../../src/stores/lmdb/probe.ts';
import { HOUR } from '../../support/client.ts';

/** `damaged.thorough.test.ts` has all kinds of damage, each in processes of its own. */
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-quarantine-'));
  folders.push(path);
  return path;
}

const ZEROS = Buffer.alloc(8_192);
const TEXT = Buffer.from('no database\n'.repeat(1_000));

it.each([
  ['8 KB of zeros', ZEROS],
  ['text', TEXT],
])('%s in the place of the database: kept under another name, and a new store begins', async (_, bytes) => {
  const path = newFolder();
  writeFileSync(join(path, 'data.mdb'), bytes);
  writeFileSync(join(path, 'lock.mdb'), '');
  const store = lmdbStore({ path });
  expect(store.quarantine).toMatchObject({ path: join(path, 'data.mdb') });
  await store.set('key', 'value', { ttlMs: HOUR });
  expect(await store.get('key')).toBe('value');
  await store.close();
  const kept = readdirSync(path).filter((name) => name.includes('.damaged-'));
  expect(kept.map((name) => readFileSync(join(path, name)).equals(bytes))).toEqual([true]);
});

describe('a file that never was a database', () => {
  it.each([
    ['text', TEXT],
    ['8 KB of zeros', ZEROS],
    ['a byte', Buffer.of(1)],
  ])('is left as it is, and an error (%s)', (_, bytes) => {
    const folder = newFolder();
    for (const path of [join(folder, 'urls.txt'), folder]) {
      const file = path === folder ? join(folder, 'data.mdb') : path;
      writeFileSync(file, bytes);
      expect(() => lmdbStore({ path })).toThrow(
        expect.objectContaining({
          code: 'ERR_ROBOTS_INVALID_OPTIONS',
          message: `Expected "${file}" to be a database of LMDB, got a file of something else, which was left as it is; use another \`path\``,
        }),
      );
      expect(readFileSync(file).equals(bytes)).toBe(true);
    }
    expect(readdirSync(folder).sort()).toEqual(['data.mdb', 'urls.txt']);
  });
});

it('a damaged database is left as it is with `onDamage: "throw"`', () => {
  const path = newFolder();
  writeFileSync(join(path, 'data.mdb'), TEXT);
  writeFileSync(join(path, 'lock.mdb'), '');
  expect(() => lmdbStore({ path, onDamage: 'throw' })).toThrow(/it was opened to be read only/);
  expect(readFileSync(join(path, 'data.mdb')).equals(TEXT)).toBe(true);
  const wrong: object = { path, onDamage: 'ask' };
  expect(() => lmdbStore(wrong as never)).toThrow(/`onDamage` to be "replace" or "throw", got "ask"/);
});

it.runIf(process.platform === 'linux')(
  'a folder that cannot be made is an error, and no endless loop',
  () => {
    for (const path of ['/proc/x', '/proc/x/y', '/proc/x/y.mdb'])
      expect(() => lmdbStore({ path })).toThrow(
        expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
      );
  },
);

describe('a database that is opened in a child process first', () => {
  /** What comes of it when the library does this in the child. */
  const probed = (source: string): string => {
    const library = join(newFolder(), 'library.cjs');
    writeFileSync(library, source);
    return probe(library, '', 'alone').kind;
  };

  it.skipIf(process.platform === 'win32')(
    'is damaged when the child crashes, not when somebody ends it',
    () => {
      const endedBy = (signal: string): string => probed(`process.kill(process.pid, '${signal}')`);
      expect(['SIGBUS', 'SIGSEGV', 'SIGABRT'].map(endedBy)).toEqual(['crashed', 'crashed', 'crashed']);
      expect(['SIGINT', 'SIGTERM', 'SIGKILL'].map(endedBy)).toEqual(['sound', 'sound', 'sound']);
    },
  );

  it('is not damaged when it has no room for a further reader', () => {
    const full = `const error = Object.assign(new Error('MDB_READERS_FULL'), { code: -30790 });
      exports.open = () => ({ getStats() { throw error; } });`;
    expect(probed(full)).toBe('sound');
    expect(probed(full.replace('-30790', '-30796'))).toBe('damaged');
  });
});
