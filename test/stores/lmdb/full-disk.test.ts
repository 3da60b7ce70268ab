import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';
import { HOUR } from '../../support/client.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { type CompiledScript, compileScript, startWorker } from '../../support/workers.ts';

describe('LMDB on a full disk', () => {
  let script: CompiledScript;
  beforeAll(() => {
    script = compileScript(new URL('disk-worker.ts', import.meta.url));
  });
  afterAll(() => script[Symbol.dispose]());

  it('a new database: an error that says so', async (context) => {
    using disk = smallDisk(256);
    if (disk === undefined) return context.skip();
    disk.fill();
    const worker = startWorker(script, ['open', join(disk.path, 'store')]);
    expect(await worker.next()).toEqual([
      'ERR_ROBOTS_INVALID_OPTIONS',
      expect.stringContaining('but the disk is full'),
    ]);
    expect((await worker.ended()).code).toBe(0);
    return undefined;
  });

  it('a database of before: it is opened or is an error, and stays where it is', async (context) => {
    using disk = smallDisk(512);
    if (disk === undefined) return context.skip();
    const path = join(disk.path, 'store');
    const store = lmdbStore({ path });
    await store.set('k', 'value', { ttlMs: HOUR });
    await store.close();
    rmSync(join(path, 'lock.mdb'));
    disk.fill();
    const worker = startWorker(script, ['open', path]);
    expect(await worker.next()).toEqual([
      'ERR_ROBOTS_INVALID_OPTIONS',
      expect.stringContaining('but the disk is full'),
    ]);
    expect((await worker.ended()).code).toBe(0);
    expect(readdirSync(path)).toContain('data.mdb');
    rmSync(join(disk.path, 'large'));
    const again = lmdbStore({ path });
    expect([again.quarantine, await again.get('k')]).toEqual([undefined, 'value']);
    await again.close();
    return undefined;
  });
});

describe('a process that ends while LMDB writes', () => {
  it.each([
    ['exit', 'the process ends with 3 while the LMDB store writes'],
    ['throw', 'Error: a mistake of the caller'],
  ])('does not hang, and says why (%s)', async (how, words) => {
    using script = compileScript(new URL('disk-worker.ts', import.meta.url));
    const path = mkdtempSync(join(tmpdir(), 'canfetch-exit-'));
    const worker = startWorker(script, [how, path]);
    expect(await worker.next()).toBe('opened');
    const { stderr } = await worker.ended();
    expect(stderr).toContain(words);
    rmSync(path, { recursive: true });
  });

  it('goes on when a worker thread of it has ended so', async () => {
    using script = compileScript(new URL('disk-worker.ts', import.meta.url));
    const path = mkdtempSync(join(tmpdir(), 'canfetch-exit-'));
    const worker = startWorker(script, ['thread', path]);
    expect(await worker.next()).toBe('opened');
    expect(await worker.next()).toBe(3);
    expect(await worker.ended()).toEqual({ code: 0, stderr: '' });
    rmSync(path, { recursive: true });
  });

  it('ends as always when its database was closed before', async () => {
    using script = compileScript(new URL('disk-worker.ts', import.meta.url));
    const path = mkdtempSync(join(tmpdir(), 'canfetch-exit-'));
    const worker = startWorker(script, ['closed', path]);
    expect(await worker.next()).toBe('rejected');
    expect(await worker.ended()).toEqual({ code: 0, stderr: '' });
    rmSync(path, { recursive: true });
  });
});
