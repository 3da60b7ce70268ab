import { cpus } from 'node:os';
import { cpuMs } from '../support/cpu-time.ts';

/**
 * Runs each body once a round, in turn, and returns the median processor time of each in milliseconds. Other processes of
 * the machine then do not count, and their effect on the caches is the same for all bodies.
 */
export function interleave<Name extends string>(
  bodies: Readonly<Record<Name, () => void>>,
  rounds: number,
): Record<Name, number> {
  const names = Object.keys(bodies) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  // Two rounds that are not counted let the compiler settle.
  for (let round = -2; round < rounds; round++) {
    for (const name of names) {
      const ms = cpuMs(bodies[name]);
      if (round >= 0) times.get(name)!.push(ms);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name)!)])) as Record<Name, number>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/** How long something took. */
export interface Took {
  readonly ms: number;
  /** Of this process, all threads: what other processes do does not count. */
  readonly processorMs: number;
}

export async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  return { ms, processorMs: (user + system) / 1_000 };
}

export interface Row {
  readonly what: string;
  /** Of what is measured in several ways: which one. The table has the one that comes nearest to the bar. */
  readonly way?: string;
  readonly ours: string;
  readonly peer?: string;
  readonly ratio?: string;
  readonly bar: string;
  /** The share of the bar that is used: above 1 it is missed. */
  readonly used: number;
  /** Measured twice, and held once: the distance to the bar is within the noise of the machine. */
  readonly noisy?: boolean;
}

export const isHeld = ({ used }: Row): boolean => used <= 1;

/** The table of `test/bench/measured.md`: a line for each thing that is measured. */
export function tableOf(rows: readonly Row[]): string {
  const worst = new Map<string, Row>();
  for (const row of rows) if (row.used > (worst.get(row.what)?.used ?? -1)) worst.set(row.what, row);
  return markdown([
    ['what', 'canfetch', 'peer', 'ratio', 'bar'],
    ...[...worst.values()].map((row) => {
      const { what, way, ours, peer = '', ratio = '', bar, noisy } = row;
      const missed = noisy === true ? ': missed once of two' : isHeld(row) ? '' : ': **missed**';
      return [way === undefined ? what : `${what}: ${way}`, ours, peer, ratio, bar + missed];
    }),
  ]);
}

/** A row as one line, for those who watch. */
export function lineOf(row: Row): string {
  const { what, way, ours, peer, ratio, bar, noisy } = row;
  const found = [ours, peer, ratio].filter((cell) => cell !== undefined).join(' · ');
  const missed = noisy === true ? ', within noise' : isHeld(row) ? '' : ', MISSED';
  return `${what}${way === undefined ? '' : `: ${way}`}: ${found} (bar ${bar}${missed})`;
}

/** Rows of cells as a table in Markdown. The first row is the head. */
function markdown([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

export function machine(): string {
  const [cpu] = cpus();
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model ?? 'unknown CPU'}`;
}
