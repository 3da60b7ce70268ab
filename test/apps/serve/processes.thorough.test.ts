import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { installed } from '../../support/installed.ts';
import { startRedis } from '../../support/redis-server.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { type CompiledScript, compileScript } from '../../support/workers.ts';

const itWithRedis = installed('redis-server') === undefined ? it.skip : it;

/** Node 24 is the first to run `await using`, which the compiled program keeps. */
const runsUsing = Number(process.versions.node.split('.')[0]) >= 24;
if (!runsUsing) process.stderr.write('Skipped: processes of canfetch serve, which need Node 24\n');

let program: CompiledScript;
let folder: string;
const children = new Set<ChildProcess>();
const sites: Site[] = [];

beforeAll(() => {
  program = compileScript(new URL('../../../src/apps/cli/main.ts', import.meta.url));
  const page = fileURLToPath(new URL('../../../src/apps/serve/page', import.meta.url));
  cpSync(page, join(dirname(program.path), '../serve/page'), { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'canfetch-processes-'));
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const site of sites.splice(0)) await site[Symbol.asyncDispose]();
});

afterAll(() => {
  program[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly origin: string;
  stderr(): string;
}

async function start(...argv: string[]): Promise<Started> {
  const args = [program.path, 'serve', '--allow-private', '--port', '0', ...argv];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const origin = /^canfetch serves at (\S+)\/$/.exec(line)?.[1] ?? '';
  return { child, origin, stderr: () => stderr };
}

async function get(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function siteWithRules(): Promise<Site> {
  const site = await startSite((request, response) => {
    setTimeout(() => answer(response, { body: `User-agent: *\nDisallow: ${request.url}x\n` }), 50);
  });
  sites.push(site);
  return site;
}

/** Asks two services about 30 pages of one site, then ends them. */
async function askBoth(services: readonly Started[]): Promise<void> {
  const site = await siteWithRules();
  const responses = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      get(`${services[at % services.length]?.origin}/v1/check?url=${site.origin}/page-${at}`),
    ),
  );
  for (const each of responses) expect(JSON.parse(each)).toMatchObject({ allowed: true, reason: 'no-rule' });
  // First: if a store failed, stderr says why there was a second request.
  expect(services.map(({ stderr }) => stderr()).join('')).toBe('');
  expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt']);
  for (const { child, stderr } of services) {
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(stderr()).toBe('');
  }
}

describe.skipIf(!runsUsing)('several processes of canfetch serve', () => {
  it('fetch a robots.txt once over one folder', async () => {
    const store = join(folder, 'shared');
    await askBoth([await start('--store', store), await start('--store', store)]);
  });

  itWithRedis('fetch a robots.txt once over Redis', async () => {
    const redis = await startRedis();
    await askBoth([await start('--store', redis.url), await start('--store', redis.url)]);
    await redis.stop();
  });

  it.each([
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const)('responds to the requests in progress before it ends by %s', async (signal, code) => {
    const site = await siteWithRules();
    const { origin, child } = await start();
    const response = get(`${origin}/v1/check?url=${site.origin}/page`);
    await eventually(() => expect(site.requests).toHaveLength(1));
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([code, null]);
    expect(JSON.parse(await response)).toMatchObject({ allowed: true });
  });
});
