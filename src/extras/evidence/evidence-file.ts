import { resolve } from 'node:path';
import {
  codeOf,
  emitWarning,
  isRobotsError,
  quote,
  RobotsEvidenceError,
  RobotsInvalidOptionsError,
} from '../../core/base/index.ts';
import type { EvidenceEntry } from '../../core/client/evidence/entry.ts';
import { type Line, RunLines } from './run-lines.ts';
import { WrittenFile } from './written-file.ts';

/** What {@link evidenceFile} resolves with: the option `evidence` of one client, or of several. */
export interface EvidenceFile extends AsyncDisposable {
  (entry: EvidenceEntry): void;
  /** Entries that could not be written. */
  readonly lost: number;
  /** Starts a new file under the same path. Call it when the old one was renamed. */
  reopen(): void;
  /** Writes what is left, and the end of each run, and closes the file. Call it after the clients' `close`. */
  close(): Promise<void>;
}

/** Entries wait at most this long, and this many characters, for the next write. */
const WRITE_EVERY_MS = 20;
const WRITE_CHARACTERS = 256 * 1_024;
/** Characters of an entry without its URL and its body, more or less. */
const ENTRY_CHARACTERS = 300;

/**
 * Opens a file for the evidence of one client, or of several. Entries are appended as NDJSON, a body once per digest. Other
 * processes may write to the same file: whole lines are appended by one write each, and each names its run.
 *
 * Entries are written synchronously, at most 20 ms after they came, and at the end of the process. After a crash the file
 * ends with a whole line, or with the beginning of one, which is removed when the file is opened again. What the disk
 * refuses is lost, never a decision: `lost` counts it, the process is warned once (`CANFETCH_EVIDENCE_LOST`), and the replay
 * shows the gap. After a rotation call `reopen`: the next entries begin a new file, which replays by itself.
 *
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when the file cannot be opened, or has something else;
 *   RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a path that is no text.
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
  let writer: EvidenceWriter;
  try {
    // The directory of the process may change.
    const full = resolve(path);
    const file = new WrittenFile(full);
    await file.heal();
    writer = new EvidenceWriter(full, file);
  } catch (cause) {
    if (isRobotsError(cause)) throw cause;
    throw new RobotsEvidenceError(
      `Expected a path that evidence can be written to, got ${quote(path)}: ${codeOf(cause)}`,
      { cause },
    );
  }
  const close = async (): Promise<void> => writer.close();
  const file = Object.assign((entry: EvidenceEntry): void => writer.add(entry), {
    close,
    reopen: (): void => writer.reopen(),
    [Symbol.asyncDispose]: close,
    lost: 0,
  });
  return Object.defineProperty(file, 'lost', { get: () => writer.lost });
}

/** The writers of this process. What still waits is written when it ends. */
const openWriters = new Set<EvidenceWriter>();

function closeAll(): void {
  for (const writer of openWriters) writer.close();
}

class EvidenceWriter {
  readonly #path: string;
  readonly #runs = new RunLines();
  readonly #warned = new Set<string>();
  #file: WrittenFile;
  #waiting: EvidenceEntry[] = [];
  #waitingCharacters = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  lost = 0;

  constructor(path: string, file: WrittenFile) {
    this.#path = path;
    this.#file = file;
    if (openWriters.size === 0) process.on('exit', closeAll);
    openWriters.add(this);
  }

  add(entry: EvidenceEntry): void {
    if (this.#isClosed) return this.#lose(1, 'ERR_ROBOTS_CLOSED');
    // Without its run an entry cannot be replayed.
    if (!this.#runs.accepts(entry)) return this.#lose(1, 'ERR_ROBOTS_EVIDENCE');
    this.#waiting.push(entry);
    this.#waitingCharacters += charactersOf(entry);
    if (this.#waitingCharacters > WRITE_CHARACTERS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), WRITE_EVERY_MS);
  }

  /** The entries so far are in the old file. */
  reopen(): void {
    if (this.#isClosed) return;
    this.#flush();
    try {
      const file = new WrittenFile(this.#path);
      this.#end();
      this.#file.close();
      this.#file = file;
      this.#runs.startFile();
    } catch (error) {
      // The entries go on in the old file.
      this.#warn(error);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#end();
    openWriters.delete(this);
    if (openWriters.size === 0) process.off('exit', closeAll);
    this.#file.close();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingCharacters = 0;
    for (let at = 0; at < waiting.length;) at = this.#writeSome(waiting, at);
  }

  /** Writes the lines of some entries. Returns where the others begin. */
  #writeSome(entries: readonly EvidenceEntry[], from: number): number {
    const lines: Line[] = [];
    let characters = 0;
    let to = from;
    for (let entry; characters < WRITE_CHARACTERS && (entry = entries[to]) !== undefined; to++) {
      for (const line of this.#runs.linesOf(entry)) {
        lines.push(line);
        characters += line.text.length;
      }
    }
    this.#write(lines);
    return to;
  }

  /** Writes the end of each run in the file. */
  #end(): void {
    const ends = this.#runs.ends();
    if (ends !== '') this.#file.append(ends);
  }

  #write(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    const { lines: written, error } = this.#file.append(lines.map(({ text }) => text).join(''));
    this.#runs.wrote(lines.slice(0, written));
    const rest = lines.slice(written);
    this.#runs.lost(rest);
    if (error !== undefined) this.#lose(rest.filter(isCounted).length, error);
  }

  #lose(entries: number, error: unknown): void {
    this.lost += entries;
    this.#warn(error);
  }

  #warn(cause: unknown): void {
    const error = typeof cause === 'string' ? cause : (codeOf(cause) ?? 'ERR_ROBOTS_EVIDENCE');
    if (this.#warned.has(error)) return;
    this.#warned.add(error);
    emitWarning(
      `Evidence in ${quote(this.#path)} has gaps from now on: ${error}. No decision depends on it; this is said once`,
      'CANFETCH_EVIDENCE_LOST',
    );
  }
}

/** Whether a line counts as lost when it is not written. Others are written again. */
function isCounted({ entry, isRepeated }: Line): boolean {
  return entry.type !== 'run' && !isRepeated;
}

function charactersOf(entry: EvidenceEntry): number {
  const characters = ENTRY_CHARACTERS + ('body' in entry ? (entry.body?.length ?? 0) : 0);
  return 'url' in entry ? characters + entry.url.length : characters;
}
