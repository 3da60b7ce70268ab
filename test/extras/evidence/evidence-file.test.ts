import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RobotsClient } from '../../../src/index.ts';
import type { EvidenceEntry } from '../../../src/core/client/evidence/entry.ts';
import { evidenceFile, type EvidenceMessage } from '../../../src/extras/evidence/index.ts';
import { replayed } from '../../support/evidence.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { compileScript, startWorker } from '../../support/workers.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-evidence-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const entriesOf = (path: string): Record<string, unknown>[] =>
  linesOf(path).map((line) => JSON.parse(line) as Record<string, unknown>);

/** A crawl of `origins` that all serve the same file. */
async function crawl(
  path: string,
  origins: number,
  text = 'User-agent: *\nDisallow: /private',
): Promise<void> {
  const evidence = evidenceFile(path);
  const client = new RobotsClient({
    agent: 'ExampleBot',
    transport: { fetch: async () => new Response(text) },
    evidence,
  });
  for (let site = 0; site < origins; site++) await client.check(`https://site-${site}.example/private`);
  await client.close();
  await evidence.close();
  expect(evidence.lost).toBe(0);
}

const RUN: EvidenceEntry = {
  type: 'run',
  at: 1,
  id: 'a',
  version: '0',
  profile: 'rfc9309',
  agent: 'ExampleBot',
};
const signal = (at: number): EvidenceEntry => ({
  type: 'signal',
  at,
  origin: 'https://a.example',
  reachable: true,
});

/** What is told on the channel, and warned of. */
function troubles() {
  const told: EvidenceMessage[] = [];
  const listener = (message: unknown): void => void told.push(message as EvidenceMessage);
  subscribe('canfetch:evidence', listener);
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => {
    unsubscribe('canfetch:evidence', listener);
    warn.mockRestore();
  });
  return { told, warnings: () => warn.mock.calls.length };
}

/** Lets `write` of every file wait, until it is told to proceed. */
async function slowDisk(path: string): Promise<() => void> {
  const file = await open(path, 'a');
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const write = prototype.write;
  let proceed = (): void => undefined;
  const ready = new Promise<void>((resolve) => (proceed = resolve));
  const spy = vi.spyOn(prototype, 'write').mockImplementation(async function (
    this: FileHandle,
    ...given: unknown[]
  ) {
    await ready;
    return Reflect.apply(write, this, given) as never;
  } as never);
  onTestFinished(() => spy.mockRestore());
  return proceed;
}

describe('a file of evidence', () => {
  it('has whole lines, in order, that replay to what was decided', async () => {
    const path = join(folder(), 'evidence.ndjson');
    await crawl(path, 300);
    expect(readFileSync(path, 'utf8').endsWith('}\n')).toBe(true);
    expect(entriesOf(path).map(({ n }) => n)).toEqual(Array.from({ length: 601 }, (_, n) => n));
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 1, decisions: 300, changed: 0, faults: 0 });
  });

  it('is readable by its owner alone', async () => {
    const path = join(folder(), 'evidence.ndjson');
    await crawl(path, 1);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('has the bytes of a digest once, also over several runs', async () => {
    const path = join(folder(), 'evidence.ndjson');
    await crawl(path, 3);
    await crawl(path, 2);
    await crawl(path, 1, 'User-agent: *\nAllow: /');
    const bodies = entriesOf(path).filter(({ body }) => body !== undefined);
    expect(bodies.map(({ body }) => body)).toEqual([
      'User-agent: *\nDisallow: /private',
      'User-agent: *\nAllow: /',
    ]);
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 3, decisions: 6, changed: 0, faults: 0 });
  });

  it('has bytes that are no text as base64', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const bytes = Buffer.from('User-agent: *\nDisallow: /\xe9', 'latin1');
    const evidence = evidenceFile(path);
    const client = new RobotsClient({ evidence, transport: { fetch: async () => new Response(bytes) } });
    await client.check('https://a.example/');
    await client.close();
    await evidence.close();
    expect(entriesOf(path)[1]?.['body']).toEqual({ base64: bytes.toString('base64') });
    expect(await replayed(linesOf(path))).toMatchObject({ changed: 0, faults: 0 });
  });

  it.each([
    ['within its second line', (text: string) => text.slice(0, text.indexOf('\n') + 40), 3],
    ['within its first line', () => '{"type":"run","at":12', 2],
    ['within its first bytes', () => '{"ty', 2],
  ])('that a crash has torn %s is healed when it is opened again', async (_, tear, runsAndMore) => {
    const path = join(folder(), 'evidence.ndjson');
    await crawl(path, 1);
    writeFileSync(path, tear(readFileSync(path, 'utf8')));
    await crawl(path, 1);
    const types = entriesOf(path).map(({ type }) => type);
    expect(types).toEqual(
      runsAndMore === 3 ? ['run', 'run', 'robots', 'decision'] : ['run', 'robots', 'decision'],
    );
    expect(await replayed(linesOf(path))).toMatchObject({ changed: 0, faults: 0 });
  });

  it('takes entries before it is open, and writes what is left when it is closed', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const evidence = evidenceFile(path);
    evidence(RUN);
    for (let at = 0; at < 5_000; at++) evidence(signal(at));
    await evidence.close();
    await evidence.close();
    evidence(signal(0));
    expect(entriesOf(path).map(({ at }) => at)).toEqual([1, ...Array.from({ length: 5_000 }, (_, at) => at)]);
  });

  it.each([[''], [7], [undefined]])('has a path, not %j', (path) => {
    expect(() => evidenceFile(path as string)).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
  });
});

describe('trouble', () => {
  it('with a slow disk keeps a bounded number of entries, tells once, and shows the gap', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const proceed = await slowDisk(path);
    const { told, warnings } = troubles();
    const evidence = evidenceFile(path);
    evidence(RUN);
    // 64 MiB are 131,072 small entries, each of which is counted with 512 bytes.
    for (let at = 0; at < 140_000; at++) evidence(signal(at));
    expect(evidence.lost).toBe(140_001 - 131_072);
    expect(told).toEqual([{ path, error: 'ERR_ROBOTS_EVIDENCE_SLOW' }]);
    expect(warnings()).toBe(1);
    proceed();
    await vi.waitFor(() => expect(linesOf(path)).toHaveLength(131_072), { timeout: 60_000, interval: 200 });
    evidence(signal(140_000));
    await evidence.close();
    expect(told).toHaveLength(1);
    const { faults, differences } = await replayed(linesOf(path));
    expect([faults, differences[0]]).toEqual([1, expect.objectContaining({ fault: 'missing-lines' })]);
  });

  it('with a full disk loses lines and no decision, is told once, and ends when there is room', async () => {
    using disk = smallDisk(256);
    if (disk === undefined) return;
    const path = join(disk.path, 'evidence.ndjson');
    const { told, warnings } = troubles();
    const evidence = evidenceFile(path);
    const client = new RobotsClient({
      evidence,
      transport: { fetch: async (url) => new Response(`User-agent: *\nDisallow: /private\n# ${url}\n`) },
    });
    const allowed = (site: string) => client.canFetch(`https://${site}.example/private`);
    expect(await allowed('a')).toBe(false);
    await vi.waitFor(() => expect(linesOf(path)).toHaveLength(3), 30_000);
    disk.fill();
    for (let site = 0; site < 100; site++) expect(await allowed(`b-${site}`)).toBe(false);
    await vi.waitFor(() => expect(evidence.lost).toBeGreaterThan(0), 30_000);
    expect(told).toEqual([{ path, error: 'ENOSPC' }]);
    expect(warnings()).toBe(1);
    rmSync(join(disk.path, 'large'));
    expect(await allowed('c')).toBe(false);
    await client.close();
    await evidence.close();
    expect(linesOf(path).every((line) => line.endsWith('}'))).toBe(true);
    expect((await replayed(linesOf(path))).differences).toContainEqual(
      expect.objectContaining({ fault: 'missing-lines' }),
    );
  });

  it.each([
    ['a folder that is not there', (path: string) => join(path, 'none', 'evidence.ndjson'), 'ENOENT'],
    ['a folder', (path: string) => path, 'EISDIR'],
  ])('with %s loses all, and is told once', async (_, pathIn, error) => {
    const path = pathIn(folder());
    const { told, warnings } = troubles();
    const evidence = evidenceFile(path);
    for (let at = 0; at < 3; at++) evidence(signal(at));
    await evidence.close();
    expect([evidence.lost, told, warnings()]).toEqual([3, [{ path, error }], 1]);
  });

  it('with a file of something else leaves it as it is', async () => {
    const path = join(folder(), 'notes.txt');
    writeFileSync(path, 'my notes\nwithout an end');
    const { told } = troubles();
    const evidence = evidenceFile(path);
    evidence(RUN);
    await evidence.close();
    expect(readFileSync(path, 'utf8')).toBe('my notes\nwithout an end');
    expect(told).toEqual([{ path, error: 'ERR_ROBOTS_EVIDENCE' }]);
  });
});

describe('a process that is killed', () => {
  it('leaves whole lines, and a beginning of one at most, which is healed', async () => {
    const path = join(folder(), 'evidence.ndjson');
    using script = compileScript(new URL('./killed-writer.ts', import.meta.url));
    for (let round = 0; round < 3; round++) {
      const writer = startWorker(script, [path]);
      expect(await writer.next()).toBe('written');
      await writer.kill();
      const whole = linesOf(path);
      expect(whole.length).toBeGreaterThan(10);
      for (const line of whole) JSON.parse(line);
    }
    await crawl(path, 1);
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 4, changed: 0, faults: 0 });
  }, 60_000);
});
