import { invalid } from '../../core/base/index.ts';
import type { EndEntry, EvidenceEntry, EvidenceLine, RunEntry } from '../../core/client/evidence/entry.ts';
import { basisOf } from '../../core/client/evidence/recorder.ts';
import { bodyJson } from '../../core/store/record-codec.ts';
import { createHash } from 'node:crypto';

/** A run that entries came from. */
interface KnownRun {
  readonly entry: RunEntry;
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
  /** Of entries that decisions rest on: numbers of earlier ones that are here all the same, and of later ones that are not. */
  readonly exceptions: Set<number>;
}

/** A line that is about to be written. */
export interface Line {
  readonly entry: EvidenceLine;
  readonly text: string;
  /** The digest of the body in it. */
  readonly digest: string | undefined;
  /** Whether the entry has a line already, in an earlier file or here. */
  readonly isRepeated: boolean;
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
    if (entry.type === 'run') this.#known.set(entry.run, { entry, next: 0, at: entry.at });
    return this.#known.has(entry.run);
  }

  /** The lines for an entry: before its own, what the file lacks so that it can be replayed. */
  *linesOf(entry: EvidenceEntry): Iterable<Line> {
    const { run } = entry;
    const known = this.#known.get(run);
    if (known !== undefined) {
      known.at = entry.at;
      let here = this.#inFile.get(run);
      if (here === undefined) {
        here = { lines: new LinesDigest(), first: entry.n, exceptions: new Set() };
        this.#inFile.set(run, here);
        if (entry.type !== 'run') yield this.#lineOf({ ...known.entry, from: Math.max(known.next, 1) }, true);
      }
      const basis = basisOf(entry);
      if (basis !== undefined && !hasEntry(here, basis.n)) {
        toggleEntry(here, basis.n);
        yield this.#lineOf(basis, true);
      }
    }
    yield this.#lineOf(entry);
  }

  #lineOf(entry: EvidenceEntry, isRepeated = false): Line {
    const bodies = this.#digests.size;
    const text = evidenceLine(entry, this.#digests);
    const digest = 'sha256' in entry && this.#digests.size > bodies ? entry.sha256 : undefined;
    return { entry, text, digest, isRepeated };
  }

  /** Adds written lines to the digests of their runs. */
  wrote(lines: readonly Line[]): void {
    for (const { entry, text, isRepeated } of lines) {
      this.#inFile.get(entry.run)?.lines.add(text);
      const known = this.#known.get(entry.run);
      if (known !== undefined && !isRepeated) known.next = entry.n + 1;
    }
  }

  /** Lines were not written: the file does not have what they would have brought. */
  lost(lines: readonly Line[]): void {
    for (const { entry, digest } of lines) {
      const { type, run, n } = entry;
      if (digest !== undefined) this.#digests.delete(digest);
      const here = this.#inFile.get(run);
      if (type === 'run') this.#inFile.delete(run);
      else if (here !== undefined && (type === 'robots' || type === 'stored') && hasEntry(here, n))
        toggleEntry(here, n);
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

/** Whether the file has the entry with this number, which a decision rests on. */
function hasEntry({ first, exceptions }: RunInFile, n: number): boolean {
  return n >= first !== exceptions.has(n);
}

function toggleEntry({ exceptions }: RunInFile, n: number): void {
  if (!exceptions.delete(n)) exceptions.add(n);
}

/**
 * The line of an entry, with its end, as {@link replay} reads it: JSON, the bytes of a file as text or as base64.
 *
 * @param digests The digests of the bodies that the file has. Pass one set for each file: a body that is in it is left out,
 *   and a new one is added.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { evidenceLine } from 'canfetch/evidence';
 *
 * const digests = new Set<string>();
 * const robots = new RobotsClient({
 *   evidence: (entry) => void process.stdout.write(evidenceLine(entry, digests)),
 * });
 * ```
 */
export function evidenceLine(entry: EvidenceLine, digests: Set<string> = new Set()): string {
  if (typeof entry !== 'object' || entry === null) throw invalid('the entry', 'one of `evidence`', entry);
  if (!('body' in entry) || entry.body === undefined) return `${JSON.stringify(entry)}\n`;
  const { body, ...others } = entry;
  const { sha256 } = others;
  if (sha256 === undefined || digests.has(sha256)) return `${JSON.stringify(others)}\n`;
  digests.add(sha256);
  return `${JSON.stringify(others).slice(0, -1)},"body":${bodyJson(body)}}\n`;
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
