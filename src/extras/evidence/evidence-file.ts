import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  channel,
  codeOf,
  emitWarning,
  isRobotsError,
  type Publisher,
  quote,
  RobotsEvidenceError,
  RobotsInvalidOptionsError,
} from '../../core/base/index.ts';
import type {
  EndEntry,
  EvidenceEntry,
  EvidenceLine,
  OverrideEntry,
  PauseEntry,
  RunEntry,
} from '../../core/client/evidence/entry.ts';
import { restated } from '../../core/client/evidence/recorder.ts';
import { bodyJson } from '../../core/store/record/stored-body.ts';
import { FileLock } from './file-lock.ts';
import { WrittenFile } from './written-file.ts';

/** `canfetch:evidence`: entries were lost. Published once per file and kind of trouble. */
export interface EvidenceMessage {
  readonly path: string;
  /**
   * `ENOSPC` and other codes of the system; `ERR_ROBOTS_CLOSED`: entries came after `close`; `ERR_ROBOTS_EVIDENCE`:
   * entries came of a client whose first entry the file did not get; `ELOCKED`: another writer took the lock over, while
   * this process or its machine stood still for a minute, so that this one writes no more.
   */
  readonly error: string;
}

const trouble: Publisher<EvidenceMessage> = channel('canfetch:evidence');

/** What {@link evidenceFile} resolves with: the option `evidence` of one client, or of several. */
export interface EvidenceFile extends AsyncDisposable {
  (entry: EvidenceEntry): void;
  /** Entries that could not be written. */
  readonly lost: number;
  /** Starts a new file under the same path, after the old one was renamed. A rename is also noticed, within 10 s. */
  reopen(): void;
  /** Writes what is left, and the end of each run, and closes the file. Call it after the clients' `close`. */
  close(): Promise<void>;
}

/** Entries wait at most this long, and this many characters, for the next write. */
const WRITE_EVERY_MS = 20;
const WRITE_CHARACTERS = 256 * 1_024;
/** How often an idle file is looked at. Others learn as often that its lock is alive. */
const CHECK_EVERY_MS = 5_000;
/** The lock has another owner: see {@link EvidenceMessage}. */
const TAKEN_OVER = 'ELOCKED';
/** At each multiple of it the pauses that are over are forgotten. */
const PAUSES_SWEPT_AT = 1_000;
/** Characters of an entry without its URL and its body, more or less. */
const ENTRY_CHARACTERS = 300;

/**
 * Opens a file for the evidence of one client, or of several. Entries are appended as NDJSON, a body once per digest. The
 * file is locked (by `<path>.lock` beside it) until it is closed, or its process ends.
 *
 * Entries are written synchronously, at most 20 ms after they came, and at the end of the process. After a crash the file
 * ends with a whole line, or with the beginning of one, which is removed when the file is opened again. What the disk
 * refuses is lost, never a decision: `lost` counts it, the process is warned once (`CANFETCH_EVIDENCE_LOST`), and the replay
 * shows the gap. When the file is renamed, removed or truncated, the next entries begin a new one that replays by itself.
 *
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when the file cannot be opened, has something else, or has
 *   another writer; RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a path that is no text.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { evidenceFile } from 'canfetch/evidence';
 *
 * const evidence = await evidenceFile('evidence.ndjson');
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', evidence });
 * // …
 * await robots.close();
 * await evidence.close();
 * ```
 */
export async function evidenceFile(path: string): Promise<EvidenceFile> {
  if (typeof path !== 'string' || path === '') {
    throw new RobotsInvalidOptionsError(`Expected \`path\` to be the path of a file, got ${quote(path)}`);
  }
  const writer = open(path);
  const close = async (): Promise<void> => writer.close();
  const file = Object.assign((entry: EvidenceEntry): void => writer.add(entry), {
    close,
    reopen: (): void => writer.reopen(),
    [Symbol.asyncDispose]: close,
    lost: 0,
  });
  return Object.defineProperty(file, 'lost', { get: () => writer.lost });
}

/** @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) */
function open(path: string): EvidenceWriter {
  let lock: FileLock | undefined;
  try {
    // The directory of the process may change.
    const file = resolve(path);
    // Symbolic links to a file that does not exist have no real path.
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600));
    lock = FileLock.acquire(realpathSync(file));
    return new EvidenceWriter(file, lock);
  } catch (cause) {
    lock?.release();
    if (isRobotsError(cause)) throw cause;
    throw new RobotsEvidenceError(
      `Expected a path that evidence can be written to, got ${quote(path)}: ${codeOf(cause)}`,
      { cause },
    );
  }
}

/** A run that entries came from. */
interface KnownRun {
  readonly entry: RunEntry;
  readonly overrides: OverrideEntry[];
  /** The latest pauses, by origin. */
  readonly pauses: Map<string, PauseEntry>;
  /** One more than the number of the latest written entry. */
  next: number;
  /** The time of the latest entry. */
  at: number;
}

/** A run in the current file. */
interface RunInFile {
  readonly hash: Hash;
  lines: number;
  /** The number of its first entry here. */
  readonly first: number;
  /** Numbers of earlier entries whose records were restated here, and of later ones that were lost. */
  readonly restated: Set<number>;
  readonly lost: Set<number>;
}

/** A line that is about to be written. */
interface Line {
  readonly entry: EvidenceLine;
  readonly text: string;
  /** The digest of the body in it. */
  readonly digest: string | undefined;
}

/** The writers of this process. What still waits is written when it ends. */
const openWriters = new Set<EvidenceWriter>();

function closeAll(): void {
  for (const writer of openWriters) writer.close();
}

class EvidenceWriter {
  readonly #path: string;
  readonly #lock: FileLock;
  readonly #checks: NodeJS.Timeout;
  #file: WrittenFile;
  readonly #known = new Map<string, KnownRun>();
  /** The runs in the current file. */
  #runs = new Map<string, RunInFile>();
  readonly #warned = new Set<string>();
  #waiting: EvidenceEntry[] = [];
  #waitingCharacters = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #isClosed = false;
  /** Whether the lock is still ours. */
  #isOwner = true;
  #touchedAt: number = Date.now();
  lost = 0;

  constructor(path: string, lock: FileLock) {
    this.#path = path;
    this.#lock = lock;
    this.#file = new WrittenFile(path);
    this.#checks = setInterval(() => this.#look(), CHECK_EVERY_MS).unref();
    if (openWriters.size === 0) process.on('exit', closeAll);
    openWriters.add(this);
  }

  add(entry: EvidenceEntry): void {
    if (this.#isClosed) return this.#lose(1, 'ERR_ROBOTS_CLOSED');
    if (!this.#isOwner) return this.#lose(1, TAKEN_OVER);
    if (entry.type === 'run') this.#known.set(entry.run, knownRun(entry));
    // Without its run an entry cannot be replayed.
    else if (!this.#known.has(entry.run)) return this.#lose(1, 'ERR_ROBOTS_EVIDENCE');
    this.#waiting.push(entry);
    this.#waitingCharacters += charactersOf(entry);
    if (this.#waitingCharacters > WRITE_CHARACTERS && !this.#isFlushing) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), WRITE_EVERY_MS);
  }

  reopen(): void {
    if (!this.#isClosed) this.#flush();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#touchLock();
    this.#flush();
    this.#isClosed = true;
    if (this.#isOwner) this.#end();
    clearInterval(this.#checks);
    openWriters.delete(this);
    if (openWriters.size === 0) process.off('exit', closeAll);
    this.#file.close();
    this.#lock.release();
  }

  #look(): void {
    this.#touchLock();
    if (this.#isOwner) this.#startNewFileIfNeeded();
  }

  /** After a take-over (this process, or its machine, stood still) the file belongs to another writer. */
  #touchLock(): void {
    if (!this.#isOwner) return;
    this.#touchedAt = Date.now();
    this.#isOwner = this.#lock.touch();
    if (!this.#isOwner) this.#warn(TAKEN_OVER);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A subscriber to `canfetch:evidence` may ask the client, whose entries then wait for the next flush.
    this.#isFlushing = true;
    if (Date.now() - this.#touchedAt > CHECK_EVERY_MS) this.#touchLock();
    if (this.#isOwner) this.#startNewFileIfNeeded();
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingCharacters = 0;
    if (!this.#isOwner) this.lost += waiting.length;
    else for (let at = 0; at < waiting.length;) at = this.#writeSome(waiting, at);
    this.#isFlushing = false;
  }

  /** Writes the lines of some entries. Returns where the others begin. */
  #writeSome(entries: readonly EvidenceEntry[], from: number): number {
    const lines: Line[] = [];
    let characters = 0;
    let to = from;
    for (let entry; characters < WRITE_CHARACTERS && (entry = entries[to]) !== undefined; to++) {
      for (const line of this.#linesOf(entry)) {
        lines.push(line);
        characters += line.text.length;
      }
    }
    this.#write(lines);
    return to;
  }

  #startNewFileIfNeeded(): void {
    try {
      if (this.#file.change() !== 'none') this.#startNewFile();
    } catch (error) {
      this.#warn(error);
    }
  }

  /** The entries so far are in a file that was renamed, removed or truncated. */
  #startNewFile(): void {
    try {
      const isMoved = this.#file.change() === 'moved';
      const file = new WrittenFile(this.#path);
      if (isMoved) this.#end();
      this.#file.close();
      this.#file = file;
      this.#runs = new Map();
    } catch (error) {
      // The entries go on in the old file.
      this.#warn(error);
    }
  }

  /** Writes the end of each run in the file. */
  #end(): void {
    const ends: Line[] = [];
    for (const [run, { hash, lines }] of this.#runs) {
      const { at = 0, next = 0 } = this.#known.get(run) ?? {};
      const entry: EndEntry = {
        type: 'end',
        at,
        run,
        n: next,
        entries: lines,
        sha256: hash.copy().digest('hex'),
      };
      ends.push({ entry, text: `${JSON.stringify(entry)}\n`, digest: undefined });
    }
    if (ends.length > 0) this.#file.append(ends.map(({ text }) => text).join(''));
  }

  /** The lines for an entry: before its own, what the file lacks so that it can be replayed. */
  *#linesOf(entry: EvidenceEntry): Iterable<Line> {
    const { run } = entry;
    const known = this.#known.get(run);
    if (known !== undefined) {
      known.at = entry.at;
      const here = this.#runs.get(run);
      if (here === undefined) yield* this.#beginRun(known, entry);
      else yield* this.#restate(entry, here);
      if ('override' in entry) known.overrides.push(entry);
      else if (entry.type === 'pause') keepPause(known.pauses, entry);
    }
    yield this.#lineOf(entry);
  }

  /** The first lines of a run in a file. */
  *#beginRun({ entry, overrides, pauses, next }: KnownRun, first: EvidenceEntry): Iterable<Line> {
    const here: RunInFile = {
      hash: createHash('sha256'),
      lines: 0,
      first: first.n,
      restated: new Set(),
      lost: new Set(),
    };
    this.#runs.set(entry.run, here);
    if (first.type === 'run') return;
    yield this.#lineOf({ ...entry, from: Math.max(next, 1) });
    for (const override of overrides) yield this.#lineOf({ ...override, restated: true });
    for (const pause of pauses.values())
      if (pause.until > first.at) yield this.#lineOf({ ...pause, restated: true });
    yield* this.#restate(first, here);
  }

  /** The record that an entry rests on, if only an earlier file has it. */
  *#restate(entry: EvidenceEntry, { first, restated: done, lost }: RunInFile): Iterable<Line> {
    const number = entry.type === 'decision' ? entry.by : 'previous' in entry ? entry.previous : undefined;
    if (number === undefined || (number >= first && !lost.has(number)) || done.has(number)) return;
    const stored = restated(entry.run, number, entry.at);
    if (stored === undefined) return;
    done.add(number);
    yield this.#lineOf(stored);
  }

  /** An entry's line. Its body is left out when the file has it. */
  #lineOf(entry: EvidenceLine): Line {
    if (!('body' in entry) || entry.body === undefined) {
      return { entry, text: `${JSON.stringify(entry)}\n`, digest: undefined };
    }
    const { body, sha256, ...others } = entry;
    const { digests } = this.#file;
    if (sha256 === undefined || digests.has(sha256)) {
      return { entry, text: `${JSON.stringify({ ...others, sha256 })}\n`, digest: undefined };
    }
    digests.add(sha256);
    const text = `${JSON.stringify({ ...others, sha256 }).slice(0, -1)},"body":${bodyJson(body)}}\n`;
    return { entry, text, digest: sha256 };
  }

  #write(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    const { lines: written, error } = this.#file.append(lines.map(({ text }) => text).join(''));
    this.#hash(lines.slice(0, written));
    const rest = lines.slice(written);
    for (const line of rest) this.#forget(line);
    if (error !== undefined) this.#lose(rest.filter(isCounted).length, error);
  }

  /** Adds written lines to the digests of their runs. */
  #hash(lines: readonly Line[]): void {
    for (let at = 0; at < lines.length;) {
      const run = lines[at]?.entry.run ?? '';
      const here = this.#runs.get(run);
      const known = this.#known.get(run);
      let text = '';
      for (let line; (line = lines[at]) !== undefined && line.entry.run === run; at++) {
        text += line.text;
        if (here !== undefined) here.lines++;
        if (known !== undefined && !isRepeated(line.entry)) known.next = line.entry.n + 1;
      }
      here?.hash.update(text);
    }
  }

  /** A line was not written: the file does not have what it would have brought. */
  #forget({ entry, digest }: Line): void {
    const { run, n } = entry;
    if (digest !== undefined) this.#file.digests.delete(digest);
    const here = this.#runs.get(run);
    if (entry.type === 'run') this.#runs.delete(run);
    else if (isRepeated(entry)) here?.restated.delete(n);
    else if (entry.type === 'robots' || entry.type === 'stored' || entry.type === 'signal') here?.lost.add(n);
  }

  #lose(entries: number, error: unknown): void {
    this.lost += entries;
    this.#warn(error);
  }

  #warn(cause: unknown): void {
    const error = typeof cause === 'string' ? cause : (codeOf(cause) ?? 'ERR_ROBOTS_EVIDENCE');
    if (this.#warned.has(error)) return;
    this.#warned.add(error);
    if (trouble.hasSubscribers) trouble.publish({ path: this.#path, error });
    emitWarning(
      `Evidence in ${quote(this.#path)} has gaps from now on: ${error}. No decision depends on it; this is said once`,
      'CANFETCH_EVIDENCE_LOST',
    );
  }
}

function knownRun(entry: RunEntry): KnownRun {
  return { entry, overrides: [], pauses: new Map(), next: 0, at: entry.at };
}

/** Forgets the pauses that are over when there are many. */
function keepPause(pauses: Map<string, PauseEntry>, pause: PauseEntry): void {
  pauses.set(pause.origin, pause);
  if (pauses.size % PAUSES_SWEPT_AT !== 0) return;
  for (const [origin, { until }] of pauses) if (until <= pause.at) pauses.delete(origin);
}

/** Whether a line counts as lost when it is not written. Others are written again. */
function isCounted({ entry }: Line): boolean {
  return entry.type !== 'run' && !isRepeated(entry);
}

/** Whether an entry was in an earlier file. */
function isRepeated(entry: EvidenceLine): boolean {
  return ('restated' in entry && entry.restated === true) || ('from' in entry && entry.type === 'run');
}

function charactersOf(entry: EvidenceEntry): number {
  const characters = ENTRY_CHARACTERS + ('body' in entry ? (entry.body?.length ?? 0) : 0);
  return 'url' in entry ? characters + entry.url.length : characters;
}
