import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The `canfetch` program, as it was built. */
export const PROGRAM: string = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/** A process of this folder that sends its port when it listens, and ends when it is disconnected. */
export async function startProcess(
  name: string,
  ...argv: string[]
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(new URL(name, import.meta.url), argv);
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}

/** `canfetch serve` in a process of its own. */
export interface ServeProcess {
  readonly port: number;
  readonly peakBytes: () => number;
  stop(): Promise<void>;
}

export async function startServe(argv: readonly string[]): Promise<ServeProcess> {
  const args = [PROGRAM, 'serve', '--port', '0', '--allow-private', ...argv];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const port = Number(/:(\d+)\/$/.exec(line)?.[1]);
  return {
    port,
    peakBytes: () => peakBytes(child.pid),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Processor time of a process so far in ms, where the system tells: all threads. */
function processorMs(pid: number | undefined): number {
  try {
    // After the name in brackets, which may hold anything, come fields 3 and on.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/** Linux counts processor time in ticks, a hundred a second. */
const TICK_MS = 10;

/** The most memory a process has had so far, where the system tells. */
export function peakBytes(pid: number | undefined): number {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib) * 1024;
  } catch {
    return Number.NaN;
  }
}

export interface ProgramRun {
  /** Processor time where the system tells it, else the time that passed. */
  readonly ms: number;
  readonly peakBytes: number;
  readonly bytes: number;
  readonly lines: number;
}

/** Runs `canfetch ...argv`, with `stdin` as its standard input, to its end, and reads all that it prints. */
export async function runProgram(argv: readonly string[], stdin: Readable | 'ignore'): Promise<ProgramRun> {
  const started = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...argv], {
    stdio: [stdin === 'ignore' ? 'ignore' : stdin, 'pipe', 'inherit'],
  });
  let [peak, processor] = [0, 0];
  const watching = setInterval(() => {
    peak = Math.max(peak, peakBytes(child.pid) || 0);
    processor = Math.max(processor, processorMs(child.pid) || 0);
  }, TICK_MS);
  let [bytes, lines] = [0, 0];
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  });
  await once(child, 'close');
  clearInterval(watching);
  return { ms: processor || performance.now() - started, peakBytes: peak, bytes, lines };
}
