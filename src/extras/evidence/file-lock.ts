import { randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { codeOf, quote, RobotsEvidenceError } from '../../core/base/index.ts';

/** A lock that was not touched for so long is stale, unless its process is known to live. */
const STALE_MS = 60_000;
const MAX_TRIES = 5;

/** Who holds a lock. Processes on one machine may have the same id one after the other, so the start counts, too. */
interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When the process started, in clock ticks since the machine did; `null` where /proc does not exist. */
  readonly started: string | null;
  readonly id: string;
}

/** Keeps other writers away from a file, in this process or another, by a file `<path>.lock` beside it. */
export class FileLock {
  readonly #path: string;
  /** What the lock contains. No other lock has its `id`. */
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /** @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when another writer holds the lock. */
  static acquire(file: string): FileLock {
    const path = `${file}.lock`;
    const owner: Owner = {
      pid: process.pid,
      host: hostname(),
      started: startOf(process.pid),
      id: randomUUID(),
    };
    const text = JSON.stringify(owner);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (create(path, text)) return new FileLock(path, text);
      removeIfStale(path, file);
    }
    throw held(file, 'other processes lock it at the same moment');
  }

  /** Shows other machines that the holder lives. Returns false when another writer has taken the lock over. */
  touch(): boolean {
    try {
      const text = read(this.#path);
      // A lock that is missing was removed by hand, or another writer is about to make its own.
      if (text === undefined ? !create(this.#path, this.#text) : text !== this.#text) return false;
      const now = new Date();
      utimesSync(this.#path, now, now);
    } catch {
      // Where it cannot be touched, processes of this machine still see the owner.
    }
    return true;
  }

  release(): void {
    if (read(this.#path) === this.#text) rmSync(this.#path, { force: true });
  }
}

/** Whether the lock was free. */
function create(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(file, text);
  } catch (error) {
    // The disk is full. A lock without an owner would be in the way for a minute.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

/** @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when it is not stale. */
function removeIfStale(path: string, file: string): void {
  const text = read(path);
  if (text === undefined) return;
  const owner = ownerIn(text);
  const isFresh = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < STALE_MS;
  if (isHeld(owner, isFresh)) {
    throw held(file, owner === undefined ? 'another writer locks it' : `process ${owner.pid} writes to it`);
  }
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    // Another process may have replaced the stale lock by its own meanwhile.
    if (read(aside) !== text) linkSync(aside, path);
  } catch {
    // Another process was faster.
  }
  rmSync(aside, { force: true });
}

function held(file: string, why: string): RobotsEvidenceError {
  return new RobotsEvidenceError(
    `Expected to be the only writer of ${quote(file)}, but ${why}; give each process a file of its own, and its clients one \`evidenceFile\``,
  );
}

function isHeld(owner: Omit<Owner, 'id'> | undefined, isFresh: boolean): boolean {
  if (owner === undefined || owner.host !== hostname()) return isFresh;
  if (!isAlive(owner.pid)) return false;
  const started = startOf(owner.pid);
  return started === null || owner.started === null ? isFresh : started === owner.started;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is the process of another user.
    return codeOf(error) !== 'ESRCH';
  }
}

/** Field 22 of /proc/PID/stat. The name of the program, before it, may have spaces and parentheses. */
function startOf(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function ownerIn(text: string): Omit<Owner, 'id'> | undefined {
  try {
    const owner: Partial<Owner> = JSON.parse(text);
    const { pid, host, started = null } = owner;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host, started } : undefined;
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
