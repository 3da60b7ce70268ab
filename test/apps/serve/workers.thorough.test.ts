import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../cli/session.ts';
import { eventually } from '../../support/eventually.ts';
import { installed } from '../../support/installed.ts';
import { startRedis } from '../../support/redis-server.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { type CompiledScript, compileScript } from '../../support/workers.ts';

const WORKERS = 3;
const itWithRedis = installed('redis-server') === undefined ? it.skip : it;

let program: CompiledScript;
let folder: string;
const children = new Set<ChildProcess>();
const sites: Site[] = [];

beforeAll(() => {
  program = compileScript(new URL('../../../src/apps/cli/main.ts', import.meta.url));
  const page = fileURLToPath(new URL('../../../src/apps/serve/page', import.meta.url));
  cpSync(page, join(dirname(program.path), '../serve/page'), { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'canfetch-workers-'));
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
  /** The process ids of the workers. */
  workers(): Promise<number[]>;
}

function spawnServe(...argv: string[]): { child: ChildProcess; stderr: () => string } {
  const args = [program.path, 'serve', '--allow-private', '--workers', String(WORKERS), ...argv];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  return { child, stderr: () => stderr };
}

async function start(...argv: string[]): Promise<Started> {
  const { child, stderr } = spawnServe('--port', '0', ...argv);
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  const origin = /^canfetch serves at (\S+)\/$/.exec(line)?.[1] ?? '';
  const workers = async (): Promise<number[]> => {
    const listing = spawn('ps', ['-o', 'pid=', '--ppid', String(child.pid)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    listing.stdout.on('data', (chunk: Buffer) => (text += String(chunk)));
    await once(listing, 'close');
    return text.split('\n').filter(Boolean).map(Number);
  };
  return { child, origin, stderr, workers };
}

/** Each request by a connection of its own, so that the workers take turns. */
async function get(url: string): Promise<string> {
  return (await fetch(url, { headers: { connection: 'close' } })).text();
}

async function siteWithRules(): Promise<Site> {
  const site = await startSite((request, response) => {
    setTimeout(() => answer(response, { body: `User-agent: *\nDisallow: ${request.url}x\n` }), 50);
  });
  sites.push(site);
  return site;
}

const counted = (text: string, sample: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${sample} `))
      ?.split(' ')
      .at(-1) ?? 0,
  );

describe('canfetch serve --workers', () => {
  itWithRedis('shares what it fetches over Redis with a service on another machine', async () => {
    const redis = await startRedis();
    const site = await siteWithRules();
    const services = [await start('--store', redis.url), await start('--store', redis.url)];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        get(`${services[at % 2]?.origin}/v1/check?url=${site.origin}/page-${at}`),
      ),
    );
    for (const each of answers) expect(JSON.parse(each)).toMatchObject({ allowed: true, reason: 'no-rule' });
    expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt']);
    for (const { child, stderr } of services) {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(stderr()).toBe('');
    }
    await redis.stop();
  });

  it('writes evidence, each worker to a file of its own', async () => {
    const site = await siteWithRules();
    const file = join(folder, 'evidence.ndjson');
    const { origin, child } = await start('--evidence', file);
    const asked = 30;
    await Promise.all(
      Array.from({ length: asked }, (_, at) => get(`${origin}/v1/check?url=${site.origin}/page-${at}`)),
    );
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const files = readdirSync(folder)
      .filter((name) => name.startsWith('evidence.ndjson'))
      .map((name) => join(folder, name));
    expect(files.sort()).toEqual(Array.from({ length: WORKERS }, (_, at) => `${file}.${at + 1}`));
    const { code, stdout } = await cli(['replay', ...files]);
    expect([code, stdout]).toEqual([0, `${asked} decisions of ${WORKERS} runs: all come out as recorded\n`]);
  });

  it('shares a port, fetches a robots.txt once over one store, and sums the metrics of all', async () => {
    const site = await siteWithRules();
    const { origin, child, workers, stderr } = await start('--store', join(folder, 'shared'));
    expect(await workers()).toHaveLength(WORKERS);
    const asked = 30;
    const answers = await Promise.all(
      Array.from({ length: asked }, (_, at) => get(`${origin}/v1/check?url=${site.origin}/page-${at}`)),
    );
    for (const each of answers) expect(JSON.parse(each)).toMatchObject({ allowed: true, reason: 'no-rule' });
    expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt']);
    await eventually(async () => {
      const metrics = await get(`${origin}/metrics`);
      expect(
        counted(metrics, 'canfetch_http_requests_total{route="/v1/check",method="GET",status="200"}'),
      ).toBe(asked);
      expect(counted(metrics, 'canfetch_decisions_total{allowed="true",reason="no-rule"}')).toBe(asked);
      expect(counted(metrics, 'canfetch_fetches_total{outcome="success"}')).toBe(1);
    });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(stderr()).toBe('');
  });

  it('replaces a worker that was killed, says so, and goes on serving', async () => {
    const { origin, child, workers, stderr } = await start();
    const [victim = 0] = await workers();
    process.kill(victim, 'SIGKILL');
    await eventually(async () => {
      expect(stderr()).toBe(`canfetch: worker ${victim} ended (SIGKILL); another is started\n`);
      const running = await workers();
      expect(running).toHaveLength(WORKERS);
      expect(running).not.toContain(victim);
    });
    for (let at = 0; at < 2 * WORKERS; at++) {
      expect(JSON.parse(await get(`${origin}/healthz`))).toMatchObject({ status: 'ok' });
    }
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
  });

  it('keeps the port that it has chosen when all workers are killed', async () => {
    const { origin, workers } = await start();
    for (const victim of await workers()) process.kill(victim, 'SIGKILL');
    await eventually(async () => {
      // A connection that Node gave to a worker as it died is answered by nobody.
      const response = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(1_000) });
      expect(await response.json()).toMatchObject({ status: 'ok' });
      expect(await workers()).toHaveLength(WORKERS);
    });
  });

  it('answers the requests in progress before it ends', async () => {
    // A site for each, so that each request shows when a worker has it.
    const asked = await Promise.all(Array.from({ length: 6 }, siteWithRules));
    const { origin, child, workers } = await start();
    const pids = await workers();
    const answered = Promise.all(asked.map((site) => get(`${origin}/v1/check?url=${site.origin}/page`)));
    await eventually(() => expect(asked.map((site) => site.requests.length)).toEqual(asked.map(() => 1)));
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    for (const each of await answered) expect(JSON.parse(each)).toMatchObject({ allowed: true });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('ends with the code and the message of its workers when they cannot listen', async () => {
    const { origin } = await start();
    const { child, stderr } = spawnServe('--port', new URL(origin).port);
    const [code] = await once(child, 'close');
    expect(code).toBe(2);
    expect(stderr()).toMatch(
      /^(?:canfetch: Expected an address to listen on, .*; the port is in use; .*\n)+$/,
    );
  });

  it('ends its workers when the primary is killed', async () => {
    const { child, workers } = await start();
    const pids = await workers();
    child.kill('SIGKILL');
    await eventually(() => {
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    });
  });
});
