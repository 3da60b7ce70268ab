import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startSite } from '../../support/site.ts';
import { cli } from '../cli/session.ts';
import { ask, startService } from './service.ts';

it('starts a new file of evidence on SIGHUP, and each file replays by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-serve-'));
  const [file, rotated] = [join(folder, 'evidence.ndjson'), join(folder, 'evidence.1.ndjson')];
  await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private\n' } });
  const service = await startService(['--allow-private', '--evidence', file]);
  const check = (path: string): Promise<unknown> =>
    ask(service.origin, `/v1/check?url=${encodeURIComponent(site.url(path))}`);
  await check('/a');
  await eventually(() => expect(readFileSync(file, 'utf8')).toContain('"decision"'));
  renameSync(file, rotated);
  expect(service.hangUp()).toBe(true);
  await check('/b');
  await check('/private');
  expect(await service.terminate()).toBe(0);
  expect((await cli(['replay', rotated])).stdout).toMatch(/^1 decision of 1 run: all as recorded/);
  expect((await cli(['replay', file])).stdout).toMatch(/^2 decisions of 1 run: all as recorded/);
  expect(site.requests).toHaveLength(1);
  rmSync(folder, { recursive: true });
});

it('leaves SIGHUP to the process where there is no evidence', async () => {
  await using service = await startService();
  expect(service.hangUp()).toBe(false);
});
