import type {
  EndEntry,
  EvidenceEntry,
  EvidenceLine,
  OverrideEntry,
  RunEntry,
} from '../../core/client/evidence/entry.ts';
import { restatedRecord } from '../../core/client/evidence/recorder.ts';
import { bodyJson } from '../../core/store/record/record-schema.ts';
import { createHash } from 'node:crypto';

/** A run that entries came from. */
interface KnownRun {
  readonly entry: RunEntry;
  readonly overrides: OverrideEntry[];
  /** One more than the number of the latest written entry. */
  next: number;
  /** The time of the latest entry. */
  at: number;
}

/** A run in the current file. */
interface RunInFile {
  readonly lines: LinesDigest;
  /** The number of its first entry here. */
  readonly first: number;
  /** Numbers of earlier entries whose records are here all the same, and of later ones whose records are not. */
  readonly exceptions: Set<number>;
}

/** A line that is about to be written. */
export interface Line {
  readonly entry: EvidenceLine;
  readonly text: string;
  /** The digest of the body in it. */
  readonly digest: string | undefined;
}

/** The lines of the current file: its entries, and before them what it needs to be replayed by itself. */
export class RunLines {
  readonly #known = new Map<string, KnownRun>();
  /** The runs in the current file. */
  #inFile = new Map<string, RunInFile>();
  /** Digests of the bodies that were written to it. */
  #digests = new Set<string>();

  /** The next lines are for another file. */
  startFile(): void {
    this.#digests = new Set();
    this.#inFile = new Map();
  }

  /** Whether the entry begins a run, or is of one that has begun. */
  accepts(entry: EvidenceEntry): boolean {
    if (entry.type === 'run') this.#known.set(entry.run, { entry, overrides: [], next: 0, at: entry.at });
    return this.#known.has(entry.run);
  }

  /** The lines for an entry: before its own, what the file lacks so that it can be replayed. */
  *linesOf(entry: EvidenceEntry): Iterable<Line> {
    const { run } = entry;
    const known = this.#known.get(run);
    if (known !== undefined) {
      known.at = entry.at;
      const here = this.#inFile.get(run);
      if (here === undefined) yield* this.#beginRun(known, entry);
      else yield* this.#restate(entry, here);
      if ('override' in entry) known.overrides.push(entry);
    }
    yield this.#lineOf(entry);
  }

  /** The first lines of a run in a file. */
  *#beginRun({ entry, overrides, next }: KnownRun, first: EvidenceEntry): Iterable<Line> {
    const here: RunInFile = { lines: new LinesDigest(), first: first.n, exceptions: new Set() };
    this.#inFile.set(entry.run, here);
    if (first.type === 'run') return;
    yield this.#lineOf({ ...entry, from: Math.max(next, 1) });
    for (const override of overrides) yield this.#lineOf({ ...override, restated: true });
    yield* this.#restate(first, here);
  }

  /** The record that a decision rests on, if only an earlier file has it. */
  *#restate(entry: EvidenceEntry, here: RunInFile): Iterable<Line> {
    if (entry.type !== 'decision' || entry.by === undefined || hasRecord(here, entry.by)) return;
    const stored = restatedRecord(entry);
    if (stored === undefined) return;
    toggleRecord(here, entry.by);
    yield this.#lineOf(stored);
  }

  /** An entry's line. Its body is left out when the file has it. */
  #lineOf(entry: EvidenceLine): Line {
    if (!('body' in entry) || entry.body === undefined) {
      return { entry, text: `${JSON.stringify(entry)}\n`, digest: undefined };
    }
    const { body, sha256, ...others } = entry;
    if (sha256 === undefined || this.#digests.has(sha256)) {
      return { entry, text: `${JSON.stringify({ ...others, sha256 })}\n`, digest: undefined };
    }
    this.#digests.add(sha256);
    const text = `${JSON.stringify({ ...others, sha256 }).slice(0, -1)},"body":${bodyJson(body)}}\n`;
    return { entry, text, digest: sha256 };
  }

  /** Adds written lines to the digests of their runs. */
  wrote(lines: readonly Line[]): void {
    for (const { entry, text } of lines) {
      this.#inFile.get(entry.run)?.lines.add(text);
      const known = this.#known.get(entry.run);
      if (known !== undefined && !isRepeated(entry)) known.next = entry.n + 1;
    }
  }

  /** Lines were not written: the file does not have what they would have brought. */
  lost(lines: readonly Line[]): void {
    for (const { entry, digest } of lines) {
      const { type, run, n } = entry;
      if (digest !== undefined) this.#digests.delete(digest);
      const here = this.#inFile.get(run);
      if (type === 'run') this.#inFile.delete(run);
      else if (here !== undefined && 'record' in entry && hasRecord(here, n)) toggleRecord(here, n);
    }
  }

  /** The text of the last lines of all runs in the file. */
  ends(): string {
    return Array.from(this.#inFile, ([run, { lines }]) => {
      const { at = 0, next = 0 } = this.#known.get(run) ?? {};
      const entry: EndEntry = { type: 'end', at, run, n: next, entries: lines.count, sha256: lines.sha256() };
      return `${JSON.stringify(entry)}\n`;
    }).join('');
  }
}

/** Whether the file has the record of the entry with this number. */
function hasRecord({ first, exceptions }: RunInFile, n: number): boolean {
  return n >= first !== exceptions.has(n);
}

function toggleRecord({ exceptions }: RunInFile, n: number): void {
  if (!exceptions.delete(n)) exceptions.add(n);
}

/** Whether an entry was in an earlier file. */
export function isRepeated(entry: EvidenceLine): boolean {
  return ('restated' in entry && entry.restated === true) || ('from' in entry && entry.type === 'run');
}

/** Each update of a hash costs a microsecond, so that of many lines is one. */
const CHARACTERS_AT_ONCE = 65_536;

/** The number and the SHA-256 of the lines that a run has in a file. The `end` of the run states both. */
export class LinesDigest {
  readonly #hash = createHash('sha256');
  #waiting = '';
  count = 0;

  /** @param line With its line end. */
  add(line: string): void {
    this.count++;
    this.#waiting += line;
    if (this.#waiting.length > CHARACTERS_AT_ONCE) this.#update();
  }

  /** In hex, of the lines so far. */
  sha256(): string {
    this.#update();
    return this.#hash.copy().digest('hex');
  }

  #update(): void {
    this.#hash.update(this.#waiting);
    this.#waiting = '';
  }
}
