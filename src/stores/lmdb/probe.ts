import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';

/**
 * The result of opening a database in a child process.
 *
 * - `sound`: no damage found, or the probe could not run to its end.
 * - `damaged`: what was read cannot be what the store has written, or LMDB threw when it read.
 * - `refused`: LMDB threw when it opened the database.
 * - `crashed`: the process died, as this one would have.
 */
export type Probe =
  | { readonly kind: 'sound' }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'refused'; readonly code: unknown; readonly reason: string }
  | { readonly kind: 'crashed'; readonly reason: string };

/** Processes and worker threads that may read a database at the same time; LMDB's default is 126. */
export const MAX_READERS = 1_024;

/** What a fault of LMDB raises. Any other signal has come from outside, as of Ctrl-C, which ends all of a terminal's job. */
const CRASHES: ReadonlySet<string | null> = new Set([
  'SIGSEGV',
  'SIGBUS',
  'SIGABRT',
  'SIGILL',
  'SIGFPE',
  'SIGTRAP',
]);

/** Longer than opening and reading take on a busy machine. */
const DEADLINE_MS = 20_000;
/** Opening must not wait for all of a large database. */
const READING_MS = 1_000;

/**
 * Opens the database, reads entries until its time is over, and rewrites some of them in eight transactions, because each
 * takes pages that an earlier one has freed. Names that do not ascend show a page that belongs
 * elsewhere. No name of the store begins with a space.
 *
 * It is source text, because the package may be bundled with its caller.
 */
const SCRIPT = `
const [library, path, mode] = process.argv.slice(1);
const tell = (result) => console.log(JSON.stringify(result));
let kind = 'refused';
try {
  const { open } = require(library);
  const options = { encoding: 'binary', eventTurnBatching: false, overlappingSync: false, noMetaSync: true, maxReaders: ${MAX_READERS} };
  const database = open({ path, keyEncoding: 'binary', ...options });
  kind = 'damaged';
  const until = Date.now() + ${READING_MS};
  let last, damage;
  let left = database.getStats().entryCount;
  for (const { key } of database.getRange()) {
    if (left-- === 0 || (last && last.compare(key) >= 0)) damage = 'its entries are not in order';
    if (damage || Date.now() > until) break;
    last = Buffer.from(key);
  }
  if (!damage && last && mode === 'alone') {
    const own = Buffer.from(' ');
    kind = 'refused';
    for (const bytes of [100_000, 1, 5_000, 1, 200_000, 1, 0, 0]) {
      database.transactionSync(() => {
        for (const reverse of [false, true]) {
          for (const { key, value } of [...database.getRange({ limit: 20, reverse })]) database.put(key, value);
        }
        if (bytes > 0) database.put(own, Buffer.alloc(bytes));
        else database.remove(own);
      });
    }
  }
  tell(damage ? { kind: 'damaged', reason: damage } : { kind: 'sound' });
} catch (error) {
  // As many readers as the database has room for.
  if (error.code === -30790) kind = 'sound';
  tell({ kind, code: error.code, reason: String(error.message) });
}
process.exit();
`;

/**
 * Opens a database in a child process first. LMDB trusts its file and the disk: a damaged page, and a lock file
 * for which the disk has no room, end the process with SIGBUS or SIGSEGV instead of an error.
 *
 * Costs the start of a process. Where this process is not plain Node, such as an executable that contains it, nothing is probed.
 *
 * @param library The file of the package `lmdb`.
 * @param mode `shared`: another process may be writing, so the probe does not wait for its turn to write.
 */
export function probe(library: string, path: string, mode: 'alone' | 'shared'): Probe {
  if (!/^node(?:js)?(?:\.exe)?$/.test(basename(process.execPath))) return { kind: 'sound' };
  const { signal, stdout, error } = spawnSync(process.execPath, ['-e', SCRIPT, library, path, mode], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: DEADLINE_MS,
    windowsHide: true,
  });
  // The child could not be started, or did not end in time.
  if (error !== undefined) return { kind: 'sound' };
  if (CRASHES.has(signal)) return { kind: 'crashed', reason: `LMDB dies of it (${signal})` };
  return readProbe(stdout) ?? { kind: 'sound' };
}

function readProbe(line: string): Probe | undefined {
  try {
    const { kind, code, reason }: Record<string, unknown> = Object(JSON.parse(line));
    if (kind === 'damaged' && typeof reason === 'string') return { kind, reason };
    if (kind === 'refused' && typeof reason === 'string') return { kind, code, reason };
  } catch {
    // The child ended before it reported anything.
  }
  return undefined;
}
