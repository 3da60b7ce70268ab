import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import type { EvidenceEntry } from '../../../src/core/client/evidence/entry.ts';
import { type EvidenceFile, evidenceFile } from '../../../src/extras/evidence/index.ts';
import { Replay } from '../../../src/extras/evidence/replay.ts';
import { replayed } from '../../support/evidence.ts';
import { isThorough } from '../../support/thorough.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { eventually } from '../../support/eventually.ts';
import { openedFolder } from '../../support/opened.ts';

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const entriesOf = (path: string): Record<string, unknown>[] =>
  linesOf(path).map((line) => JSON.parse(line) as Record<string, unknown>);

/** Decisions of a long loop. */
const PAGES = isThorough ? 300_000 : 10_000;
const FORBIDS = 'User-agent: *\nDisallow: /private';

/** A client of sites that all serve `text`. */
function clientOf(evidence: EvidenceFile, text: string | Uint8Array<ArrayBuffer> = FORBIDS): RobotsClient {
  return new RobotsClient({
    agent: 'ExampleBot',
    transport: { fetch: async () => new Response(text) },
    evidence,
  });
}

/** A crawl of `origins` that all serve the same file. */
async function crawl(path: string, origins: number, text = FORBIDS): Promise<void> {
  const evidence = await evidenceFile(path);
  const client = clientOf(evidence, text);
  for (let site = 0; site < origins; site++) await client.check(`https://site-${site}.example/private`);
  await client.close();
  await evidence.close();
  expect(evidence.lost).toBe(0);
}

/** What a replay finds of whole runs. */
const WHOLE = { unfinished: 0, changed: 0, faults: 0 };

const RUN: EvidenceEntry = {
  type: 'run',
  at: 1,
  run: 'a',
  n: 0,
  version: '0',
  profile: 'rfc9309',
  agent: 'ExampleBot',
};
const ignored = (n: number, run = 'a'): EvidenceEntry => ({
  type: 'ignored',
  at: n,
  run,
  n,
  origin: 'https://a.example',
  url: 'https://a.example/',
  because: 'ours',
});

/** The codes that the process is warned of. */
function troubles(): () => readonly (string | undefined)[] {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  return () => warn.mock.calls.map(([message]) => /from now on: (\w+)\./.exec(String(message))?.[1]);
}

function compiled() {
  const script = compileScript(new URL('./killed-writer.ts', import.meta.url));
  onTestFinished(() => script[Symbol.dispose]());
  return script;
}

/** Another process that writes. */
const writerProcess = (path: string) => startWorker(compiled(), [path]);

describe('a file of evidence', () => {
  it('of two clients replays as two runs', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    const clients = [clientOf(evidence), clientOf(evidence, 'User-agent: *\nAllow: /')];
    for (const page of [1, 2, 3]) {
      await Promise.all(clients.map((client) => client.check(`https://a.example/private/${page}`)));
    }
    await Promise.all(clients.map((client) => client.close()));
    await evidence.close();
    expect(await replayed(linesOf(path))).toMatchObject({ ...WHOLE, runs: 2, decisions: 6 });
  });

  it('has whole lines, in order, for its owner alone, that replay to what was decided', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    await crawl(path, 100);
    expect(readFileSync(path, 'utf8').endsWith('}\n')).toBe(true);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(entriesOf(path).map(({ n }) => n)).toEqual(Array.from({ length: 202 }, (_, n) => n));
    expect(await replayed(linesOf(path))).toMatchObject({ ...WHOLE, runs: 1, decisions: 100 });
  });

  it('has the bytes of a digest once for each writer', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    await crawl(path, 3);
    await crawl(path, 2);
    await crawl(path, 1, 'User-agent: *\nAllow: /');
    const bodies = entriesOf(path).flatMap(({ body }) => body ?? []);
    expect(bodies).toEqual([FORBIDS, FORBIDS, 'User-agent: *\nAllow: /']);
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 3, decisions: 6, changed: 0, faults: 0 });
  });

  it('has bytes that are no text as base64', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const bytes = Uint8Array.from(Buffer.from('User-agent: *\nDisallow: /\xe9', 'latin1'));
    const evidence = await evidenceFile(path);
    const client = clientOf(evidence, bytes);
    await client.check('https://a.example/');
    await client.close();
    await evidence.close();
    expect(entriesOf(path)[1]?.['body']).toEqual({ base64: Buffer.from(bytes).toString('base64') });
    expect(await replayed(linesOf(path))).toMatchObject({ changed: 0, faults: 0 });
  });

  it('that a crash has torn is healed when it is opened again', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    await crawl(path, 1);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.slice(0, text.indexOf('\n') + 40));
    await crawl(path, 1);
    expect(entriesOf(path).map(({ type }) => type)).toEqual(['run', 'run', 'robots', 'decision', 'end']);
    expect(await replayed(linesOf(path))).toMatchObject({ changed: 0, faults: 0 });
  });

  it('loses nothing of a loop that never lets the event loop turn', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    const client = clientOf(evidence);
    await client.check('https://a.example/');
    for (let page = 1; page < PAGES; page++) client.peek(`https://a.example/private/${page}`);
    await client.close();
    await evidence.close();
    expect(evidence.lost).toBe(0);
    expect(await replayed(linesOf(path))).toMatchObject({ decisions: PAGES, changed: 0, faults: 0 });
  });

  it.each([
    ['a folder that does not exist', (path: string) => join(path, 'none', 'evidence.ndjson'), 'ENOENT'],
    ['a folder', (path: string) => path, 'EISDIR'],
  ])('is refused where it cannot be opened: %s', async (_, pathIn, error) => {
    await expect(evidenceFile(pathIn(openedFolder()))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining(error),
    });
  });

  it('is refused when it has something else, and left as it is', async () => {
    const path = join(openedFolder(), 'notes.txt');
    writeFileSync(path, 'my notes\nwithout an end');
    await expect(evidenceFile(path)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining('my notes'),
    });
    expect(readFileSync(path, 'utf8')).toBe('my notes\nwithout an end');
  });
});

describe('the end of a run', () => {
  /** The lines of a crawl, changed by `change`, and what a replay finds. */
  async function faultsOf(change: (lines: string[]) => string[]) {
    const path = join(openedFolder(), 'evidence.ndjson');
    await crawl(path, 3);
    const { unfinished, differences } = await replayed(change(linesOf(path)));
    return { unfinished, faults: differences.map((one) => (one.kind === 'entry' ? one.fault : one.kind)) };
  }

  it('shows that a line was removed together with its number', async () => {
    const renumbered = (lines: string[]): string[] =>
      lines
        .filter((_, index) => index !== 2)
        .map((line, index) => (index < 2 ? line : line.replace(/"n":\d+/, `"n":${index}`)));
    const { faults } = await faultsOf(renumbered);
    expect(faults).toContain('changed-lines');
    expect(faults).not.toContain('missing-lines');
  });

  it('shows that a line was changed', async () => {
    const { faults } = await faultsOf((lines) =>
      lines.map((line) => line.replace('"agent":"E', '"agent":"F')),
    );
    expect(faults).toContain('changed-lines');
  });

  it('is missing when lines were cut off', async () => {
    expect(await faultsOf((lines) => lines.slice(0, -2))).toEqual({ unfinished: 1, faults: [] });
    expect(await faultsOf((lines) => lines)).toEqual({ unfinished: 0, faults: [] });
  });
});

describe('several writers of one file', () => {
  it('mix their lines and lose none, in one process', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const [one, other] = [await evidenceFile(path), await evidenceFile(path)];
    one(RUN);
    other({ ...RUN, run: 'b' });
    for (let n = 1; n <= 2_000; n++) {
      one(ignored(n));
      other(ignored(n, 'b'));
    }
    await one.close();
    other(ignored(2_001, 'b'));
    await other.close();
    expect([one.lost, other.lost]).toEqual([0, 0]);
    expect(await replayed(linesOf(path))).toMatchObject({
      entries: 4_005,
      runs: 2,
      unfinished: 0,
      faults: 0,
    });
  });

  it('lose none in several processes, although one is killed, and leave whole lines', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const writers = [writerProcess(path), writerProcess(path), writerProcess(path)];
    for (const writer of writers) expect(await writer.next()).toBe('written');
    await writers[0]!.kill();
    await crawl(path, 20);
    await Promise.all(writers.slice(1).map((writer) => writer.kill()));
    const report = await replayed(linesOf(path));
    expect(report).toMatchObject({ runs: 4, unfinished: 3, changed: 0, faults: 0 });
    expect(report.decisions).toBeGreaterThan(100);
  }, 60_000);

  it('begin a new line after half a one, which another left, and write within a moment', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    evidence(RUN);
    await eventually(() => expect(linesOf(path)).toHaveLength(1));
    appendFileSync(path, '{"type":"run","at":1');
    evidence(ignored(1));
    await evidence.close();
    expect(linesOf(path)).toHaveLength(4);
    expect(await replayed(linesOf(path))).toMatchObject({ entries: 3, unfinished: 0, faults: 0 });
  });
});

describe('a rotation', () => {
  it('to a path that is a loop of symbolic links goes on in the old file', async () => {
    const warned = troubles();
    const path = join(openedFolder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    evidence(RUN);
    renameSync(path, `${path}.1`);
    symlinkSync(path, path);
    evidence.reopen();
    evidence(ignored(1));
    await evidence.close();
    expect(warned()).toEqual(['ELOOP']);
    expect(entriesOf(`${path}.1`).map(({ type }) => type)).toEqual(['run', 'ignored', 'end']);
  });

  it('takes along what the log says of a page that is requested without a check', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    const client = clientOf(evidence);
    const get = guardFetch(async (_url: string) => new Response('a page'), client);
    await get('https://a.example/');
    renameSync(path, `${path}.1`);
    evidence.reopen();
    const asked = { robots: { ignore: true, because: 'ours' } } as never;
    for (const page of [1, 2]) await get(`https://a.example/private/${page}`, asked);
    await client.close();
    await evidence.close();
    const types = ['run', 'robots', 'ignored', 'request', 'ignored', 'request', 'end'];
    expect(entriesOf(path).map(({ type }) => type)).toEqual(types);
    const replay = new Replay({});
    const again = linesOf(path).map((line) => replay.take(replay.read(line)!)?.again?.decision.allowed);
    expect(again.filter((allowed) => allowed !== undefined)).toEqual([false, false]);
  });
});

describe('trouble', () => {
  it('with a full disk loses lines and no decision, is reported once, and ends when there is space', async () => {
    using disk = smallDisk(256);
    if (disk === undefined) return;
    const path = join(disk.path, 'evidence.ndjson');
    const warned = troubles();
    const evidence = await evidenceFile(path);
    disk.fill();
    const client = new RobotsClient({
      evidence,
      agent: 'ExampleBot',
      transport: { fetch: async (url) => new Response(`User-agent: *\nDisallow: /private\n# ${url}\n`) },
    });
    const allowed = (site: string) => client.canFetch(`https://${site}.example/private`);
    for (let site = 0; site < 100; site++) expect(await allowed(`a-${site}`)).toBe(false);
    await eventually(() => expect(evidence.lost).toBe(200));
    expect(warned()).toEqual(['ENOSPC']);
    expect(linesOf(path)).toEqual([]);
    rmSync(join(disk.path, 'large'));
    // The run, and the records of the origins, are written before what follows.
    expect(await allowed('a-7')).toBe(false);
    expect(await allowed('b')).toBe(false);
    await client.close();
    await evidence.close();
    expect(evidence.lost).toBe(200);
    const { differences, changed, decisions } = await replayed(linesOf(path));
    expect([decisions, changed]).toEqual([2, 0]);
    expect(differences.map((one) => one.kind === 'entry' && one.fault)).toEqual([
      'missing-lines',
      'missing-lines',
    ]);
  });

  it('with entries of a client whose first entry it did not get counts them as lost', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const warned = troubles();
    const evidence = await evidenceFile(path);
    evidence(ignored(3));
    await evidence.close();
    expect([evidence.lost, warned()]).toEqual([1, ['ERR_ROBOTS_EVIDENCE']]);
    expect(linesOf(path)).toEqual([]);
  });

  it('with entries after the end counts them as lost, and is said once', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const warned = troubles();
    const evidence = await evidenceFile(path);
    evidence(RUN);
    await evidence.close();
    for (let n = 1; n < 4; n++) evidence(ignored(n));
    expect([evidence.lost, warned()]).toEqual([3, ['ERR_ROBOTS_CLOSED']]);
    expect(linesOf(path)).toHaveLength(2);
  });
});

describe('a process', () => {
  it('that exits writes what waits, and the end', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const writer = startWorker(compiled(), [path, 'exit']);
    await writer.next().catch(() => undefined);
    await eventually(() => expect(entriesOf(path).at(-1)?.['type']).toBe('end'));
    expect(await replayed(linesOf(path))).toMatchObject({ ...WHOLE, runs: 1 });
  }, 60_000);
});

describe('a function before the file', () => {
  it('may shorten URLs: what is written replays, after a rotation, too', async () => {
    const path = join(openedFolder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    const client = new RobotsClient({
      agent: 'ExampleBot',
      transport: { fetch: async () => new Response(FORBIDS) },
      evidence: (entry) =>
        evidence('url' in entry ? { ...entry, url: entry.url.replace(/\?.*/, '') } : { ...entry }),
    });
    await client.check('https://a.example/page?secret=1');
    renameSync(path, `${path}.1`);
    evidence.reopen();
    await client.check('https://a.example/private?secret=2');
    await client.close();
    await evidence.close();
    for (const each of [`${path}.1`, path]) {
      expect(readFileSync(each, 'utf8')).not.toContain('secret');
      expect(await replayed(linesOf(each))).toMatchObject({ decisions: 1, changed: 0, faults: 0 });
    }
  });
});
