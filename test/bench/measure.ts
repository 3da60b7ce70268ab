import { cpus } from 'node:os';

/** Runs each body once a round, in turn, so that whatever else the machine does falls on all alike. */
export function interleave<Name extends string>(
  bodies: Readonly<Record<Name, () => void>>,
  rounds: number,
): Record<Name, number> {
  const names = Object.keys(bodies) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  // Two rounds nobody counts let the compiler settle.
  for (let round = -2; round < rounds; round++) {
    for (const name of names) {
      const started = performance.now();
      bodies[name]();
      if (round >= 0) times.get(name)!.push(performance.now() - started);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name)!)])) as Record<Name, number>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly bar: string;
  readonly held: boolean;
}

export function print(rows: readonly Row[]): void {
  printTable([
    ['what', 'canfetch', 'peer', 'ratio', 'bar', ''],
    ...rows.map(({ what, ours, peer, ratio, bar, held }) => [
      what,
      ours,
      peer,
      ratio,
      bar,
      held ? 'ok' : 'MISSED',
    ]),
  ]);
}

/** Rows of cells, the first one the heads. */
export function printTable(table: readonly (readonly string[])[]): void {
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
}

export function machine(): string {
  const [cpu] = cpus();
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model ?? 'unknown CPU'}`;
}
