import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';

const rootUrl = new URL('../../', import.meta.url);
const root = fileURLToPath(rootUrl);
const RELATIVE_IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)';/gm;
/** `#platform` as Node has it. */
const PLATFORM = 'src/core/fetch/platform/undici';
const RELATIVE_LOAD = /\bimport\('(\.[^']+)'\)/g;

/** A script and all of ours that it imports, as JavaScript: Node 20 does not run TypeScript. */
export interface CompiledScript extends Disposable {
  readonly path: string;
}

/** A folder from which no package can be found: one for temporary files, unless packages were installed there. */
function folderWithoutPackages(): string {
  const folders = [tmpdir(), '/var/tmp', '/dev/shm', homedir()];
  const hasPackages = (folder: string): boolean =>
    existsSync(join(folder, 'node_modules')) || (dirname(folder) !== folder && hasPackages(dirname(folder)));
  const found = folders.find((folder) => existsSync(folder) && !hasPackages(folder));
  if (found === undefined) throw new Error(`Expected no packages in one of ${folders.join(', ')}`);
  return found;
}

/**
 * Compiles a TypeScript module for a process of its own.
 *
 * @param where `outside`: to a folder from which no package can be found
 */
export function compileScript(source: URL, where: 'inside' | 'outside' = 'inside'): CompiledScript {
  const parent = where === 'inside' ? join(root, 'build') : folderWithoutPackages();
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'script-'));
  const imports = { '#platform': `./${PLATFORM}.js` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', imports }));
  const placeOf = (url: URL): string =>
    join(folder, relative(root, fileURLToPath(url)).replace(/\.ts$/, '.js'));

  const seen = new Set<string>();
  const waiting = [source];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next.href)) continue;
    seen.add(next.href);
    const text = readFileSync(next, 'utf8');
    for (const [, specifier = ''] of [...text.matchAll(RELATIVE_IMPORT), ...text.matchAll(RELATIVE_LOAD)]) {
      waiting.push(new URL(specifier, next));
    }
    if (text.includes("'#platform'")) waiting.push(new URL(`${PLATFORM}.ts`, rootUrl));
    const { code, errors } = transformSync(fileURLToPath(next), text, {
      typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
    });
    if (errors.length > 0) throw new AggregateError(errors, `Expected ${next.href} to be TypeScript`);
    mkdirSync(dirname(placeOf(next)), { recursive: true });
    writeFileSync(placeOf(next), code);
  }
  return {
    path: placeOf(source),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface WorkerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** No file may grow beyond so many blocks of 512 bytes: to the one who writes it is a full disk. */
  readonly maxFileBlocks?: number;
}

/** A script in a process of its own, which sends and receives a line of JSON at a time. */
export interface Worker {
  /** The next line from it. Rejects when it ends instead. */
  next(): Promise<unknown>;
  send(message: unknown): void;
  /** Ends its input. */
  end(): void;
  /** SIGKILL */
  kill(): Promise<void>;
  /** SIGSTOP, for so long. */
  freeze(ms: number): Promise<void>;
  /** Resolves when it has ended by itself. */
  ended(): Promise<{ readonly code: number | null; readonly stderr: string }>;
}

export function startWorker(
  script: CompiledScript,
  args: readonly string[],
  { env = {}, maxFileBlocks }: WorkerOptions = {},
): Worker {
  const command = [process.execPath, script.path, ...args];
  const [program = '', ...rest] =
    maxFileBlocks === undefined
      ? command
      : ['sh', '-c', `ulimit -f ${maxFileBlocks}; exec "$@"`, 'sh', ...command];
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const killed = (): void => void child.kill('SIGKILL');
  process.once('exit', killed);
  const closed = once(child, 'close').then(() => {
    process.off('exit', killed);
    return child.exitCode;
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // The receiver of a message may have ended.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      const line = await lines.next();
      if (line.done === true) throw new Error(`The worker ended with ${await closed}:\n${stderr}`);
      return JSON.parse(line.value);
    },
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    end: () => void child.stdin.end(),
    async kill() {
      killed();
      await closed;
    },
    async freeze(ms) {
      child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, ms));
      child.kill('SIGCONT');
    },
    ended: async () => ({ code: await closed, stderr }),
  };
}
