import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EvidenceEntry, EvidenceLine } from '../../../src/core/client/evidence/entry.ts';
import { type EvidenceFile, evidenceFile } from '../../../src/extras/evidence/index.ts';
import { earlyStarts, Recording, replayed } from '../../support/evidence.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';
import '../../../src/core/pacing/pacer.ts';
import {
  Crawl,
  type FileStep,
  randomCrawl,
  randomFileCrawl,
  SHARED_PAUSE_MS,
  type CrawlPlan,
} from './random-crawl.ts';

/** Whether its guard keeps to all pauses: its clock never goes back, and no client is made that does not know them. */
function keepsToPauses({ paces, steps }: CrawlPlan): boolean {
  return paces && steps.every((step) => step.kind !== 'restart' && !('ms' in step && step.ms < 0));
}

describe('a random crawl', () => {
  it('replays as it was recorded', async () => {
    const seen = {
      decisions: 0,
      stored: 0,
      evicted: 0,
      notModified: 0,
      withoutRecord: 0,
      requests: 0,
      paced: 0,
      pauses: 0,
      sharedPauses: 0,
    };
    await fc.assert(
      fc.asyncProperty(randomCrawl, async (plan) => {
        const recording = new Recording();
        await new Crawl(plan, recording.listener).run();
        for (const entry of recording.entries) {
          if (entry.type === 'decision') seen.decisions++;
          if (entry.type === 'decision' && entry.by === undefined) seen.withoutRecord++;
          if (entry.type === 'request') seen.requests++;
          if (entry.type === 'request' && entry.pacing !== undefined) seen.paced++;
          if (entry.type === 'pause') seen.pauses++;
          if (entry.type === 'pause' && entry.until - entry.from === SHARED_PAUSE_MS) seen.sharedPauses++;
          if (entry.type === 'stored') seen.stored++;
          if (entry.type === 'forgotten' && entry.reason === 'evicted') seen.evicted++;
          if (entry.type === 'robots' && 'outcome' in entry && entry.outcome === 'not-modified')
            seen.notModified++;
        }
        const { differences, changed, faults } = await replayed(recording.lines());
        expect(differences).toEqual([]);
        expect([changed, faults]).toEqual([0, 0]);
        if (keepsToPauses(plan)) expect(earlyStarts(recording.lines())).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
    for (const [kind, times] of Object.entries(seen)) expect(times, kind).toBeGreaterThan(0);
  }, 120_000);
});

/** Lets `writeSync` write only some more bytes, as on a full disk. */
class Disk {
  #free = Number.POSITIVE_INFINITY;
  readonly #write = fs.writeSync;

  constructor() {
    const spy = vi.spyOn(fs, 'writeSync').mockImplementation(((...given: unknown[]): number => {
      const [file, bytes] = given as [number, Uint8Array];
      if (!(bytes instanceof Uint8Array)) return Reflect.apply(this.#write, fs, given) as number;
      if (this.#free === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      const written = this.#write(file, bytes, 0, Math.min(bytes.length, this.#free));
      this.#free -= written;
      return written;
    }) as typeof fs.writeSync);
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
  }

  leave(bytes: number): void {
    this.#free = bytes;
  }
}

/** The file of a crawl, and the files that it was rotated to. */
class RotatedFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'canfetch-property-'));
  readonly #disk: Disk;
  #path = join(this.#folder, 'evidence-0.ndjson');
  #files = 1;
  readonly #runs = new Set<string>();
  readonly #crashed = new Set<string>();
  #file!: EvidenceFile;
  /** The text of each file that will not change any more. */
  readonly parts: string[] = [];
  readonly events = new Set<FileStep['event']>();
  entries = 0;
  lost = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  async open(): Promise<void> {
    this.#file = await evidenceFile(this.#path);
  }

  readonly listener = (entry: EvidenceEntry): void => {
    // What crashed writes no more.
    if (this.#crashed.has(entry.run)) return;
    this.#runs.add(entry.run);
    if (entry.type !== 'run') this.entries++;
    this.#file(entry);
  };

  readonly take = async ({ event, bytes }: FileStep): Promise<void> => {
    this.events.add(event);
    if (event === 'fill') return this.#disk.leave(bytes);
    if (event === 'free') return this.#disk.leave(Number.POSITIVE_INFINITY);
    // Writes what waits.
    this.#file.reopen();
    if (event === 'crash') return this.#crash(bytes);
    if (event === 'wait') return undefined;
    const rotated = `${this.#path}.${this.#files++}`;
    renameSync(this.#path, rotated);
    this.#file.reopen();
    this.parts.push(readFileSync(rotated, 'utf8'));
  };

  /** Goes on in a copy that lacks the end, as after a crash. */
  async #crash(bytes: number): Promise<void> {
    for (const run of this.#runs) this.#crashed.add(run);
    const written = readFileSync(this.#path);
    this.lost += this.#file.lost;
    await this.#file.close();
    this.#path = join(this.#folder, `evidence-${this.#files++}.ndjson`);
    this.#disk.leave(Number.POSITIVE_INFINITY);
    writeFileSync(this.#path, written.subarray(0, Math.max(0, written.length - bytes)));
    await this.open();
  }

  async close(): Promise<void> {
    await this.#file.close();
    this.lost += this.#file.lost;
    this.parts.push(readFileSync(this.#path, 'utf8'));
    rmSync(this.#folder, { recursive: true });
  }
}

describe('the files of a random crawl', () => {
  it('replay each by itself, and have all that was not lost, through rotations, crashes and full disks', async () => {
    const disk = new Disk();
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    onTestFinished(() => void vi.restoreAllMocks());
    const seen = { parts: 0, decisions: 0, again: 0, lost: 0, gaps: 0, whole: 0 };
    await fc.assert(
      fc.asyncProperty(randomFileCrawl, async (plan) => {
        disk.leave(Number.POSITIVE_INFINITY);
        const file = new RotatedFile(disk);
        await file.open();
        await new Crawl(plan, file.listener, file.take).run();
        // A pause that robots.txt asked for is recorded a moment later, when pacing is loaded.
        await setImmediate();
        await file.close();
        seen.parts += file.parts.length;
        seen.lost += file.lost;
        const written = new Set<string>();
        for (const text of file.parts) {
          if (!file.events.has('fill')) expect(text === '' || text.endsWith('}\n')).toBe(true);
          const lines = text.split('\n');
          const { differences, decisions, changed } = await replayed(lines);
          const gaps = differences.filter((one) => one.kind === 'entry' && one.fault === 'missing-lines');
          // A crash tears lines off the end: their run is continued by none.
          expect(differences.filter((one) => !gaps.includes(one))).toEqual([]);
          if (!file.events.has('fill')) expect(gaps).toEqual([]);
          expect(changed).toBe(0);
          seen.decisions += decisions;
          seen.gaps += gaps.length;
          // A full disk leaves half a line.
          const entries = lines
            .filter((line) => line.endsWith('}'))
            .map((line) => JSON.parse(line) as EvidenceLine);
          if (keepsToPauses(plan) && !file.events.has('crash')) expect(earlyStarts(lines)).toEqual([]);
          for (const { type, run, n } of entries.filter((each) => each.type !== 'run')) {
            if (written.has(`${run} ${n}`) && type !== 'end') seen.again++;
            if (type !== 'end') written.add(`${run} ${n}`);
          }
        }
        if (file.events.has('crash')) return;
        seen.whole++;
        // What was lost, and a later decision rests on, is written after all.
        expect(written.size + file.lost).toBeGreaterThanOrEqual(file.entries);
        if (!file.events.has('fill')) expect([written.size, file.lost]).toEqual([file.entries, 0]);
      }),
      { numRuns: runs(250) },
    );
    for (const [kind, times] of Object.entries(seen)) expect(times, kind).toBeGreaterThan(0);
  }, 600_000);
});
