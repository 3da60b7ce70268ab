import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { RobotsClient } from '../../src/core/client/robots-client.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { readRecordKey } from '../../src/core/store/record/record-codec.ts';
import { quietEnv } from '../support/sqlite.ts';
import { type CompiledScript, compileScript, startWorker } from '../support/workers.ts';
import type { WorkerNotice } from './prefetch-worker.ts';

const ORIGINS = 5_000;
/** The process is killed when it has learnt so many. */
const LEARNT = 400;
/** What a killed process learnt in this time may be lost, on a machine that is not busy. */
const LOST_MS = 50;

let script: CompiledScript;
let server: Server;
let path: string;
let requests: string[];

beforeAll(async () => {
  script = compileScript(new URL('prefetch-worker.ts', import.meta.url));
  server = createServer((request, response) => {
    requests.push(`http://${request.headers.host}`);
    response.end('User-agent: *\nDisallow: /private\n');
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  script[Symbol.dispose]();
});

beforeEach(() => {
  requests = [];
  path = join(mkdtempSync(join(tmpdir(), 'canfetch-killed-')), 'store');
});

afterEach(() => rmSync(join(path, '..'), { recursive: true }));

it('a process killed while it prefetches loses what the last 50 ms learnt, and leaves a store that opens', async () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const worker = startWorker(script, [path, String(port), String(ORIGINS)], { env: quietEnv });
  const received: WorkerNotice[] = [];
  let learnt = 0;
  for (let isRunning = true; isRunning;) {
    try {
      const next = (await worker.next()) as WorkerNotice;
      received.push(next);
      if (next.what === 'learnt' && ++learnt === LEARNT) void worker.kill();
    } catch {
      isRunning = false;
    }
  }
  const learntAt = new Map(
    received.filter(({ what }) => what === 'learnt').map(({ origin, at }) => [origin, at]),
  );
  const written = received.filter(({ what }) => what === 'written');
  expect(learntAt.size).toBeGreaterThanOrEqual(LEARNT);
  expect(learntAt.size).toBeLessThan(ORIGINS);
  const endedAt = Math.max(...received.map(({ at }) => at));

  await using store = sqliteStore({ path });
  const kept = new Set<string>();
  for await (const { key } of store.entries()) kept.add(readRecordKey(key)?.origin ?? '');
  // What a write has resolved for is there.
  expect(written.filter(({ origin }) => !kept.has(origin))).toEqual([]);
  // A machine that is busy takes longer to write, which the writes before tell.
  const took = written.map(({ origin, at }) => at - (learntAt.get(origin) ?? at));
  const lostMs = Math.max(LOST_MS, 2 * Math.max(...took));
  const lost = [...learntAt].filter(([origin]) => !kept.has(origin));
  expect(lost.filter(([, at]) => at < endedAt - lostMs)).toEqual([]);
  expect(written.length).toBeGreaterThan(0);

  requests = [];
  await using robots = new RobotsClient({ agent: 'ExampleBot/1.0', store });
  const { states } = await robots.prefetch(kept);
  expect({ states, requests }).toEqual({ states: { rules: kept.size }, requests: [] });
});
