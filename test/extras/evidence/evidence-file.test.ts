import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import type { EvidenceEntry } from '../../../src/core/client/evidence/entry.ts';
import { type EvidenceFile, evidenceFile, type EvidenceMessage } from '../../../src/extras/evidence/index.ts';
import { earlyStarts, replayed } from '../../support/evidence.ts';
import { isThorough } from '../../support/thorough.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { compileScript, startWorker } from '../../support/workers.ts';
import { eventually } from '../../support/eventually.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-evidence-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const entriesOf = (path: string): Record<string, unknown>[] =>
  linesOf(path).map((line) => JSON.parse(line) as Record<string, unknown>);

/** Decisions of a long loop. */
const PAGES = isThorough ? 300_000 : 30_000;
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

const RUN: EvidenceEntry = {
  type: 'run',
  at: 1,
  run: 'a',
  n: 0,
  version: '0',
  profile: 'rfc9309',
  agent: 'ExampleBot',
};
const signal = (n: number): EvidenceEntry => ({
  type: 'signal',
  at: n,
  run: 'a',
  n,
  origin: 'https://a.example',
  reachable: true,
});

/** What is published on the channel, and warned of. */
function troubles() {
  const published: EvidenceMessage[] = [];
  const listener = (message: unknown): void => void published.push(message as EvidenceMessage);
  subscribe('canfetch:evidence', listener);
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => {
    unsubscribe('canfetch:evidence', listener);
    warn.mockRestore();
  });
  return { published, warnings: () => warn.mock.calls.length };
}

function compiled() {
  const script = compileScript(new URL('./killed-writer.ts', import.meta.url));
  onTestFinished(() => script[Symbol.dispose]());
  return script;
}

/** Another process that writes. */
const writerProcess = (path: string) => startWorker(compiled(), [path]);

describe('a file of evidence', () => {
  it('has whole lines, in order, that replay to what was decided', async () => {
    const path = join(folder(), 'evidence.ndjson');
    await crawl(path, 300);
    expect(readFileSync(path, 'utf8').endsWith('}\n')).toBe(true);
    expect(entriesOf(path).map(({ n }) => n)).toEqual(Array.from({ length: 602 }, (_, n) => n));
    expect(await replayed(linesOf(path))).toMatchObject({
      runs: 1,
      unfinished: 0,
      decisions: 300,
      changed: 0,
      faults: 0,
    });
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
    const bytes = Uint8Array.from(Buffer.from('User-agent: *\nDisallow: /\xe9', 'latin1'));
    const evidence = await evidenceFile(path);
    const client = clientOf(evidence, bytes);
    await client.check('https://a.example/');
    await client.close();
    await evidence.close();
    expect(entriesOf(path)[1]?.['body']).toEqual({ base64: Buffer.from(bytes).toString('base64') });
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
      runsAndMore === 3 ? ['run', 'run', 'robots', 'decision', 'end'] : ['run', 'robots', 'decision', 'end'],
    );
    expect(await replayed(linesOf(path))).toMatchObject({ changed: 0, faults: 0 });
  });

  it('loses nothing of a loop that never lets the event loop turn', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    const client = clientOf(evidence);
    await client.check('https://a.example/');
    for (let page = 1; page < PAGES; page++) client.peek(`https://a.example/private/${page}`);
    await client.close();
    await evidence.close();
    expect(evidence.lost).toBe(0);
    expect(await replayed(linesOf(path))).toMatchObject({ decisions: PAGES, changed: 0, faults: 0 });
  });

  it('writes within a moment what came, without being closed', async () => {
    const path = join(folder(), 'evidence.ndjson');
    await using evidence = await evidenceFile(path);
    evidence(RUN);
    await eventually(() => expect(linesOf(path)).toHaveLength(1));
  });

  it('of two clients replays as two runs', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    const clients = [clientOf(evidence), clientOf(evidence, 'User-agent: *\nAllow: /')];
    for (const page of [1, 2, 3]) {
      await Promise.all(clients.map((client) => client.check(`https://a.example/private/${page}`)));
    }
    await Promise.all(clients.map((client) => client.close()));
    await evidence.close();
    expect(await replayed(linesOf(path))).toMatchObject({
      runs: 2,
      unfinished: 0,
      decisions: 6,
      changed: 0,
      faults: 0,
    });
  });

  it.each([[''], [7], [undefined]])('has a path, not %j', async (path) => {
    await expect(evidenceFile(path as string)).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
  });

  it.each([
    ['a folder that does not exist', (path: string) => join(path, 'none', 'evidence.ndjson'), 'ENOENT'],
    ['a folder', (path: string) => path, 'EISDIR'],
  ])('is refused where it cannot be opened: %s', async (_, pathIn, error) => {
    await expect(evidenceFile(pathIn(folder()))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining(error),
    });
  });

  it('is refused when it has something else, and left as it is', async () => {
    const path = join(folder(), 'notes.txt');
    writeFileSync(path, 'my notes\nwithout an end');
    await expect(evidenceFile(path)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_EVIDENCE',
      message: expect.stringContaining('my notes'),
    });
    expect(readFileSync(path, 'utf8')).toBe('my notes\nwithout an end');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('the end of a run', () => {
  /** The lines of a crawl, changed by `change`, and what a replay finds. */
  async function faultsOf(change: (lines: string[]) => string[]) {
    const path = join(folder(), 'evidence.ndjson');
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

  it('shows that a time was changed', async () => {
    const later = (lines: string[]): string[] =>
      lines.map((line, index) =>
        index === 2 ? line.replace(/"at":\d+/, (at) => `${at.slice(0, -1)}0`) : line,
      );
    const { faults } = await faultsOf((lines) => {
      const changed = later(lines);
      return changed.join() === lines.join()
        ? lines.map((line) => line.replace('"agent":"E', '"agent":"F'))
        : changed;
    });
    expect(faults).toContain('changed-lines');
  });

  it('is missing when lines were cut off', async () => {
    expect(await faultsOf((lines) => lines.slice(0, -2))).toEqual({ unfinished: 1, faults: [] });
    expect(await faultsOf((lines) => lines)).toEqual({ unfinished: 0, faults: [] });
  });
});

describe('a second writer', () => {
  const HELD = { code: 'ERR_ROBOTS_EVIDENCE', message: expect.stringContaining('only writer') };

  it('is refused in the same process while the first lives, also by another name of the file', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const link = join(folder(), 'link.ndjson');
    const first = await evidenceFile(path);
    symlinkSync(path, link);
    await expect(evidenceFile(path)).rejects.toMatchObject(HELD);
    await expect(evidenceFile(link)).rejects.toMatchObject(HELD);
    first(RUN);
    await first.close();
    await first.close();
    await (await evidenceFile(path)).close();
    expect(entriesOf(path).map(({ type }) => type)).toEqual(['run', 'end']);
  });

  it('is refused when the first one came by a symbolic link to a file that did not exist', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const link = join(folder(), 'link.ndjson');
    symlinkSync(path, link);
    const first = await evidenceFile(link);
    await expect(evidenceFile(path)).rejects.toMatchObject(HELD);
    await first.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it.each([
    ['its close', 0],
    ['its next check, within 5 s', 5_000],
  ])('that takes over a stale lock has the file to itself: the first one notices at %s', async (_, ms) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { published, warnings } = troubles();
    const path = join(folder(), 'evidence.ndjson');
    const first = await evidenceFile(path);
    // As another machine sees the lock of one that stands still.
    const owner = JSON.parse(readFileSync(`${path}.lock`, 'utf8')) as object;
    writeFileSync(`${path}.lock`, JSON.stringify({ ...owner, host: 'elsewhere' }));
    const touched = new Date(Date.now() - 61_000);
    utimesSync(`${path}.lock`, touched, touched);
    const second = await evidenceFile(path);
    await vi.advanceTimersByTimeAsync(ms);
    first(RUN);
    first(signal(1));
    await first.close();
    expect(first.lost).toBe(2);
    expect(published).toEqual([{ path, error: 'ELOCKED' }]);
    expect(warnings()).toBe(1);
    await expect(evidenceFile(path)).rejects.toMatchObject(HELD);
    second({ ...RUN, run: 'b' });
    await second.close();
    expect(second.lost).toBe(0);
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(entriesOf(path).map(({ type, run }) => [type, run])).toEqual([
      ['run', 'b'],
      ['end', 'b'],
    ]);
  });

  it('is refused, too, after the lock was removed by hand and the first one has looked', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const path = join(folder(), 'evidence.ndjson');
    const first = await evidenceFile(path);
    rmSync(`${path}.lock`);
    await vi.advanceTimersByTimeAsync(5_000);
    await expect(evidenceFile(path)).rejects.toMatchObject(HELD);
    first(RUN);
    await first.close();
    expect([first.lost, existsSync(`${path}.lock`)]).toEqual([0, false]);
  });

  it('is refused in another process, until that is killed', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const writer = writerProcess(path);
    expect(await writer.next()).toBe('written');
    await expect(evidenceFile(path)).rejects.toMatchObject(HELD);
    await writer.kill();
    await (await evidenceFile(path)).close();
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 1, unfinished: 1, changed: 0, faults: 0 });
  }, 60_000);

  it.each([
    ['lives on another machine', { pid: process.pid, host: 'elsewhere', started: '1' }, 0, true],
    [
      'was on another machine, a minute ago',
      { pid: process.pid, host: 'elsewhere', started: '1' },
      61_000,
      false,
    ],
    ['had our process id before', { pid: process.pid, host: hostname(), started: '1' }, 0, false],
    ['crashed while it locked', '', 61_000, false],
  ])('when the first one %s', async (_, owner, ageMs, isHeld) => {
    const path = join(folder(), 'evidence.ndjson');
    writeFileSync(`${path}.lock`, typeof owner === 'string' ? owner : JSON.stringify(owner));
    const touched = new Date(Date.now() - ageMs);
    utimesSync(`${path}.lock`, touched, touched);
    if (isHeld) await expect(evidenceFile(path)).rejects.toMatchObject(HELD);
    else await (await evidenceFile(path)).close();
    expect(existsSync(`${path}.lock`)).toBe(isHeld);
  });
});

describe('a rotation', () => {
  /** Asks, rotates by `rotate`, and asks again. The old file is at `path.1`, if it is kept. */
  async function rotated(rotate: (path: string, evidence: EvidenceFile) => void) {
    const path = join(folder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    let now = 1_700_000_000_000;
    let status = 200;
    const client = new RobotsClient({
      agent: 'ExampleBot',
      transport: {
        fetch: async (_, { headers }) =>
          headers['if-none-match'] === undefined
            ? new Response(FORBIDS, { status, headers: { etag: '"1"', 'cache-control': 'max-age=600' } })
            : new Response(null, { status: 304 }),
      },
      clock: { now: () => now },
      overrides: { 'https://given.example': { text: FORBIDS, because: 'agreed' } },
      evidence,
    });
    await client.check('https://a.example/private');
    await client.check('https://given.example/private');
    status = 503;
    await client.check('https://b.example/private');
    rotate(path, evidence);
    now += 1_000;
    await client.check('https://a.example/private');
    await client.check('https://given.example/private');
    await client.check('https://b.example/private');
    client.report('https://b.example/', { reachable: true });
    now += 3_600_000;
    // A 304: its bytes are in the other file.
    await client.check('https://a.example/private');
    await client.close();
    await evidence.close();
    return { path, evidence };
  }
  const settle = (_path: string, evidence: EvidenceFile): void => evidence.reopen();
  const whole = { runs: 1, unfinished: 0, changed: 0, faults: 0 };

  it.each([
    [
      'by rename',
      (path: string, evidence: EvidenceFile) => {
        settle(path, evidence);
        renameSync(path, `${path}.1`);
      },
      true,
    ],
    [
      'by rename, with reopen()',
      (path: string, evidence: EvidenceFile) => {
        settle(path, evidence);
        renameSync(path, `${path}.1`);
        evidence.reopen();
        expect(linesOf(path)).toEqual([]);
      },
      true,
    ],
    [
      'by copytruncate',
      (path: string, evidence: EvidenceFile) => {
        settle(path, evidence);
        writeFileSync(`${path}.1`, readFileSync(path));
        truncateSync(path);
      },
      false,
    ],
    [
      'by unlink',
      (path: string, evidence: EvidenceFile) => {
        settle(path, evidence);
        writeFileSync(`${path}.1`, readFileSync(path));
        rmSync(path);
      },
      false,
    ],
  ])('%s leaves files that replay each by itself', async (_, rotate, hasEnd) => {
    const { path, evidence } = await rotated(rotate);
    expect(evidence.lost).toBe(0);
    const first = await replayed(linesOf(`${path}.1`));
    expect(first).toMatchObject({ ...whole, decisions: 3, unfinished: hasEnd ? 0 : 1 });
    expect(await replayed(linesOf(path))).toMatchObject({ ...whole, decisions: 4 });
    const joined = [...linesOf(`${path}.1`), ...linesOf(path)];
    expect(await replayed(joined)).toMatchObject({ ...whole, decisions: 7 });
    // What was lost between the two files is missed.
    const torn = [...linesOf(`${path}.1`).slice(0, -3), ...linesOf(path)];
    expect((await replayed(torn)).differences).toContainEqual(
      expect.objectContaining({ fault: 'missing-lines' }),
    );
  });

  it.each<[string, (path: string, evidence: EvidenceFile) => void]>([
    [
      'reopen()',
      (path, evidence) => {
        renameSync(path, `${path}.1`);
        evidence.reopen();
      },
    ],
    ['rename', (path) => renameSync(path, `${path}.1`)],
    ['copytruncate', (path) => truncateSync(path)],
    ['unlink', (path) => rmSync(path)],
  ])('within a pause, by %s: the new file has the pauses in force, once each', async (_, rotate) => {
    const path = join(folder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    let now = 1_700_000_000_000;
    const client = new RobotsClient({
      agent: 'ExampleBot',
      transport: { fetch: async () => new Response(FORBIDS) },
      clock: { now: () => now },
      evidence,
    });
    const get = guardFetch(async (_url: string) => new Response('a page'), client);
    const pause = async (site: string, seconds: number): Promise<void> => {
      client.report(`https://${site}.example`, { reachable: true, retryAfter: String(seconds) });
      await eventually(async () =>
        expect((await client.policy(`https://${site}.example`)).pacing?.pause).toBeDefined(),
      );
    };
    await pause('a', 60);
    await pause('a', 600);
    await pause('b', 5);
    evidence.reopen();
    rotate(path, evidence);
    now += 6_000;
    await get('https://a.example/early');
    await client.close();
    await evidence.close();
    const restated = entriesOf(path).filter(({ type }) => type === 'pause');
    expect(restated).toMatchObject([{ origin: 'https://a.example', until: now + 594_000, restated: true }]);
    expect(await replayed(linesOf(path))).toMatchObject({ ...whole, decisions: 1 });
    expect(earlyStarts(linesOf(path))).toMatchObject([
      { url: 'https://a.example/early', reason: 'retry-after', earliestAt: now + 594_000 },
    ]);
  });

  it('is noticed within 10 s, while nothing is written', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const path = join(folder(), 'evidence.ndjson');
    await using evidence = await evidenceFile(path);
    evidence(RUN);
    await eventually(() => expect(linesOf(path)).toHaveLength(1));
    renameSync(path, `${path}.1`);
    vi.advanceTimersByTime(10_000);
    expect(existsSync(path)).toBe(true);
    expect(entriesOf(`${path}.1`).at(-1)).toMatchObject({ type: 'end', entries: 1, n: 1 });
  });

  it('to a path that is a loop of symbolic links goes on in the old file', async () => {
    const { published } = troubles();
    const path = join(folder(), 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    evidence(RUN);
    renameSync(path, `${path}.1`);
    symlinkSync(path, path);
    evidence.reopen();
    evidence(signal(1));
    await evidence.close();
    expect(published).toEqual([{ path, error: 'ELOOP' }]);
    expect(entriesOf(`${path}.1`).map(({ type }) => type)).toEqual(['run', 'signal', 'end']);
  });

  it('into a folder that is gone goes on in the old file', async () => {
    const { published } = troubles();
    const parent = folder();
    const path = join(parent, 'evidence.ndjson');
    const evidence = await evidenceFile(path);
    evidence(RUN);
    renameSync(parent, `${parent}-moved`);
    onTestFinished(() => rmSync(`${parent}-moved`, { recursive: true }));
    evidence(signal(1));
    await evidence.close();
    expect(published).toEqual([{ path, error: 'ENOENT' }]);
    expect(linesOf(join(`${parent}-moved`, 'evidence.ndjson'))).toHaveLength(3);
  });
});

describe('trouble', () => {
  it('with a full disk loses lines and no decision, is reported once, and ends when there is space', async () => {
    using disk = smallDisk(256);
    if (disk === undefined) return;
    const path = join(disk.path, 'evidence.ndjson');
    const { published, warnings } = troubles();
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
    expect(published).toEqual([{ path, error: 'ENOSPC' }]);
    expect(warnings()).toBe(1);
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
    expect(differences).toEqual([expect.objectContaining({ fault: 'missing-lines' })]);
  });

  it('on a full disk cannot be opened, and can once there is space', async () => {
    using disk = smallDisk(256);
    if (disk === undefined) return;
    disk.fill();
    const path = join(disk.path, 'evidence.ndjson');
    await expect(evidenceFile(path)).rejects.toMatchObject({ code: 'ERR_ROBOTS_EVIDENCE' });
    rmSync(join(disk.path, 'large'));
    await (await evidenceFile(path)).close();
  });

  it('with entries of a client whose first entry it did not get counts them as lost', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const { published } = troubles();
    const evidence = await evidenceFile(path);
    evidence(signal(3));
    await evidence.close();
    expect([evidence.lost, published]).toEqual([1, [{ path, error: 'ERR_ROBOTS_EVIDENCE' }]]);
    expect(linesOf(path)).toEqual([]);
  });

  it('with entries after the end counts them as lost, and is said once', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const { published, warnings } = troubles();
    const evidence = await evidenceFile(path);
    evidence(RUN);
    await evidence.close();
    for (let n = 1; n < 4; n++) evidence(signal(n));
    expect([evidence.lost, published, warnings()]).toEqual([3, [{ path, error: 'ERR_ROBOTS_CLOSED' }], 1]);
    expect(linesOf(path)).toHaveLength(2);
  });
});

describe('a process', () => {
  it('that is killed leaves whole lines, and a beginning of one at most, which is healed', async () => {
    const path = join(folder(), 'evidence.ndjson');
    for (let round = 0; round < 3; round++) {
      const writer = writerProcess(path);
      expect(await writer.next()).toBe('written');
      await writer.kill();
      const lines = linesOf(path);
      expect(lines.length).toBeGreaterThan(10);
      for (const line of lines) JSON.parse(line);
    }
    await crawl(path, 1);
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 4, unfinished: 3, changed: 0, faults: 0 });
  }, 60_000);

  it('that exits writes what waits, and the end', async () => {
    const path = join(folder(), 'evidence.ndjson');
    const writer = startWorker(compiled(), [path, 'exit']);
    await writer.next().catch(() => undefined);
    await eventually(() => expect(entriesOf(path).at(-1)?.['type']).toBe('end'));
    expect(await replayed(linesOf(path))).toMatchObject({ runs: 1, unfinished: 0, changed: 0, faults: 0 });
    expect(existsSync(`${path}.lock`)).toBe(false);
  }, 60_000);
});
