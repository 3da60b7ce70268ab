import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import {
  channel,
  codeOf,
  emitWarning,
  type Publisher,
  quote,
  RobotsEvidenceError,
  RobotsInvalidOptionsError,
} from '../../core/base/index.ts';
import { storedBody } from '../../core/store/record/stored-body.ts';
import type { EvidenceEntry } from '../../core/client/evidence/entry.ts';

/** `canfetch:evidence`: entries were lost. Published once per file and kind of trouble. */
export interface EvidenceMessage {
  readonly path: string;
  /**
   * `ENOSPC` and the like; `ERR_ROBOTS_EVIDENCE_SLOW`: the disk did not keep up; `ERR_ROBOTS_EVIDENCE`: the file has
   * something else, and is left as it is.
   */
  readonly error: string;
}

const trouble: Publisher<EvidenceMessage> = channel('canfetch:evidence');

/** What {@link evidenceFile} returns: the option `evidence` of a client. */
export interface EvidenceFile extends AsyncDisposable {
  (entry: EvidenceEntry): void;
  /** Entries that could not be written. */
  readonly lost: number;
  /** Writes what is left, and closes the file. Call it after the client's `close`. */
  close(): Promise<void>;
}

/** Entries that wait for the disk take at most this much memory. What comes then is lost. */
const MAX_WAITING_BYTES = 64 * 1_024 * 1_024;
/** The memory of an entry without its URL and its body. */
const ENTRY_BYTES = 512;
/** A write holds whole lines, up to about this much. */
const WRITE_CHARACTERS = 256 * 1_024;
const CHUNK_BYTES = 1_024 * 1_024;

const SLOW = 'ERR_ROBOTS_EVIDENCE_SLOW';
const LF = 0x0a;
/** How every file begins. */
const START = '{"type":"run"';
const BODY = Buffer.from(',"body":');
/** What stands before a body: see `#lineOf`. */
const DIGEST = /"sha256":"([0-9a-f]{64})"$/;

/**
 * Writes the evidence of one client to a file, a line of JSON an entry, behind what the file has. A body is written once
 * per digest. After a crash the file ends with a whole line, or with the beginning of one, which is cut off when the file
 * is opened again. Trouble loses entries and never a decision: it is told once, on the channel `canfetch:evidence` and as
 * a warning of the process, and the gap shows in the replay.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a path that is no text.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { evidenceFile } from 'canfetch/evidence';
 *
 * const evidence = evidenceFile('evidence.ndjson');
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', evidence });
 * // …
 * await robots.close();
 * await evidence.close();
 * ```
 */
export function evidenceFile(path: string): EvidenceFile {
  if (typeof path !== 'string' || path === '') {
    throw new RobotsInvalidOptionsError(`Expected \`path\` to be the path of a file, got ${quote(path)}`);
  }
  const writer = new EvidenceWriter(path);
  const close = (): Promise<void> => writer.close();
  return Object.defineProperties(
    Object.assign((entry: EvidenceEntry): void => writer.add(entry), {
      close,
      [Symbol.asyncDispose]: close,
      lost: 0,
    }),
    { lost: { get: () => writer.lost } },
  );
}

/** Appends entries to one file, in order, a few lines at a time. */
class EvidenceWriter {
  readonly #path: string;
  readonly #opened: Promise<FileHandle | undefined>;
  /** The digests whose bodies the file has. */
  #written = new Set<string>();
  readonly #told = new Set<string>();
  #waiting: Waiting[] = [];
  /** Of the entries that are not written yet. */
  #waitingBytes = 0;
  #working: Promise<void> | undefined;
  /** Bytes of the whole lines in the file. */
  #length = 0;
  #number = 0;
  #isClosed = false;
  lost = 0;

  constructor(path: string) {
    this.#path = path;
    this.#opened = this.#open();
  }

  add(entry: EvidenceEntry): void {
    if (entry.type === 'run') this.#number = 0;
    const number = this.#number++;
    if (this.#isClosed) return;
    const bytes = bytesOf(entry);
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) return this.#lose(SLOW);
    this.#waiting.push({ entry, number, bytes });
    this.#waitingBytes += bytes;
    this.#working ??= this.#writeAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
    await (await this.#opened)?.close().catch((error: unknown) => this.#tell(error));
  }

  /** Opens the file behind its last whole line. */
  async #open(): Promise<FileHandle | undefined> {
    try {
      const file = await open(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
      try {
        const { length, digests } = await readWritten(file);
        this.#length = length;
        this.#written = digests;
        await file.truncate(length);
        return file;
      } catch (error) {
        await file.close();
        throw error;
      }
    } catch (error) {
      this.#tell(error);
      return undefined;
    }
  }

  async #writeAll(): Promise<void> {
    const file = await this.#opened;
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (let at = 0; at < waiting.length;) at = await this.#writeSome(file, waiting, at);
    }
    this.#working = undefined;
  }

  /** Writes the lines of some entries, from `from` on. Returns where the others begin. */
  async #writeSome(file: FileHandle | undefined, waiting: readonly Waiting[], from: number): Promise<number> {
    const digests: string[] = [];
    let lines = '';
    let bytes = 0;
    let to = from;
    for (let next; lines.length < WRITE_CHARACTERS && (next = waiting[to]) !== undefined; to++) {
      lines += this.#lineOf(next, digests);
      bytes += next.bytes;
    }
    if (file === undefined || !(await this.#write(file, lines))) {
      this.lost += to - from;
      for (const digest of digests) this.#written.delete(digest);
    }
    this.#waitingBytes -= bytes;
    return to;
  }

  /** Whether `text` was written whole. */
  async #write(file: FileHandle, text: string): Promise<boolean> {
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length;) {
        at += (await file.write(bytes, at, bytes.length - at, this.#length + at)).bytesWritten;
      }
      this.#length += bytes.length;
      return true;
    } catch (error) {
      this.#tell(error);
      // What was written of the lines goes.
      await file.truncate(this.#length).catch(() => undefined);
      return false;
    }
  }

  /** The line of an entry. Its body is left out when the file has it; else its digest is added to `digests`. */
  #lineOf({ entry, number }: Waiting, digests: string[]): string {
    if (!('body' in entry) || entry.body === undefined) return `${JSON.stringify({ ...entry, n: number })}\n`;
    const { body, sha256, ...others } = entry;
    if (sha256 === undefined || this.#written.has(sha256))
      return `${JSON.stringify({ ...others, sha256, n: number })}\n`;
    this.#written.add(sha256);
    digests.push(sha256);
    return `${JSON.stringify({ ...others, sha256, body: storedBody(body), n: number })}\n`;
  }

  #lose(error: string): void {
    this.lost++;
    this.#tell(error);
  }

  #tell(cause: unknown): void {
    const error = typeof cause === 'string' ? cause : (codeOf(cause) ?? 'ERR_ROBOTS_EVIDENCE');
    if (this.#told.has(error)) return;
    this.#told.add(error);
    if (trouble.hasSubscribers) trouble.publish({ path: this.#path, error });
    emitWarning(
      `Evidence in ${quote(this.#path)} has gaps from now on: ${error}. No decision depends on it; this is told once`,
      'CANFETCH_EVIDENCE_LOST',
    );
  }
}

interface Waiting {
  readonly entry: EvidenceEntry;
  /** Its number within the run. */
  readonly number: number;
  readonly bytes: number;
}

function bytesOf(entry: EvidenceEntry): number {
  const bytes = ENTRY_BYTES + ('body' in entry ? (entry.body?.length ?? 0) : 0);
  return 'url' in entry ? bytes + entry.url.length : bytes;
}

/**
 * Reads what the file has: the length of its whole lines, and the digests of the bodies in them.
 *
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when it has something else, which must not be written to.
 */
async function readWritten(
  file: FileHandle,
): Promise<{ readonly length: number; readonly digests: Set<string> }> {
  const digests = new Set<string>();
  let length = 0;
  let read = 0;
  let rest = Buffer.alloc(0);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, read);
    if (bytesRead === 0) return { length, digests };
    if (read === 0) assertEvidence(chunk.toString('latin1', 0, Math.min(bytesRead, START.length)));
    read += bytesRead;
    const bytes =
      rest.length === 0 ? chunk.subarray(0, bytesRead) : Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(LF) + 1;
    collectDigests(bytes.subarray(0, end), digests);
    length += end;
    rest = Buffer.from(bytes.subarray(end));
  }
}

function assertEvidence(start: string): void {
  if (START.startsWith(start)) return;
  throw new RobotsEvidenceError(
    `Expected a file of evidence, or none yet, got one that begins with ${quote(start)}`,
  );
}

/** A digest stands before its body in a line, and nearly all lines have no body. */
function collectDigests(lines: Buffer, digests: Set<string>): void {
  for (let at = lines.indexOf(BODY); at >= 0; at = lines.indexOf(BODY, at + 1)) {
    const start = lines.lastIndexOf(LF, at) + 1;
    const [, digest] = DIGEST.exec(lines.toString('latin1', start, at)) ?? [];
    if (digest !== undefined) digests.add(digest);
  }
}
