import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';
import { HOUR } from '../../support/client.ts';

/** `damaged.thorough.test.ts` has all kinds of damage, each in processes of its own. */
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

it.each([
  ['8 KB of zeros', Buffer.alloc(8_192)],
  ['text', Buffer.from('no database\n'.repeat(1_000))],
])('%s in the place of the database: kept under another name, and a new store begins', async (_, bytes) => {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-set-aside-'));
  folders.push(path);
  writeFileSync(join(path, 'data.mdb'), bytes);
  const store = lmdbStore({ path });
  expect(store.quarantine).toMatchObject({ path: join(path, 'data.mdb') });
  await store.set('key', 'value', { ttlMs: HOUR });
  expect(await store.get('key')).toBe('value');
  await store.close();
  const kept = readdirSync(path).filter((name) => name.includes('.damaged-'));
  expect(kept.map((name) => readFileSync(join(path, name)).equals(bytes))).toEqual([true]);
});
