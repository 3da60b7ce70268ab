import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fakeOrigin, type FakeOrigin } from '../../src/testing/index.ts';
import { describeWith } from '../support/installed.ts';
import { startRedis } from '../support/redis-server.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { CrawlReport } from './crawl-worker.ts';

const PROCESSES = 4;
const ORIGINS = 60;
let script: CompiledScript;
let sites: FakeOrigin[] = [];
let workers: Worker[] = [];

beforeAll(() => {
  script = compileScript(new URL('crawl-worker.ts', import.meta.url));
});

afterAll(() => script[Symbol.dispose]());

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill();
  for (const site of sites.splice(0)) await site.close();
});

/** Several processes ask about the same cold origins at the same time, and end by themselves. */
async function crawlTogether(kind: 'lmdb' | 'redis', where: string): Promise<void> {
  sites = await Promise.all(
    Array.from({ length: ORIGINS }, (_, index) =>
      fakeOrigin({ robots: index % 3 === 0 ? { status: 404 } : 'User-agent: *\nDisallow: /private\n' }),
    ),
  );
  workers = Array.from({ length: PROCESSES }, () => startWorker(script, [kind, where]));
  for (const worker of workers) expect(await worker.next()).toBe('ready');
  for (const worker of workers) worker.tell(sites.map(({ origin }) => origin));
  const reports = (await Promise.all(workers.map((worker) => worker.next()))) as CrawlReport[];
  for (const { allowed, events } of reports) {
    expect(events).toEqual([]);
    expect(allowed).toEqual(sites.map((_, index) => index % 3 === 0));
  }
  expect(sites.map((site) => site.robotsCount)).toEqual(sites.map(() => 1));
  expect(reports.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(ORIGINS);
  for (const worker of workers) worker.end();
  for (const worker of workers) expect(await worker.ended()).toEqual({ code: 0, stderr: '' });
}

describe('processes that crawl the same cold origins', () => {
  it('make one request an origin, over one LMDB', async () => {
    const path = mkdtempSync(join(tmpdir(), 'canfetch-lmdb-'));
    try {
      await crawlTogether('lmdb', path);
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});

describeWith('redis-server')('processes that crawl the same cold origins', () => {
  it('make one request an origin, over one Redis', async () => {
    await using server = await startRedis();
    await crawlTogether('redis', server.url);
  });
});
