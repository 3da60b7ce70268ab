import { spawnSync } from 'node:child_process';
import { parseRobots } from '../../src/core/rules/index.ts';
import type { BenchFile } from './files.ts';
import { median, type Row } from './measure.ts';

const AGENT = 'ExampleBot';

/**
 * First answers against google/robotstxt in C++, by processor time. `CANFETCH_ROBOTS_CPP` names the program; the
 * README says what it reads and prints. Without it there is nothing to compare with.
 */
export function compiledPeer(files: readonly BenchFile[], rounds: number): Row[] {
  const program = process.env['CANFETCH_ROBOTS_CPP'];
  if (program === undefined) return [];
  const questions = files.flatMap(({ bytes, urls }) => urls.slice(0, 1).map((url) => ({ bytes, url })));
  const input = Buffer.concat(
    questions.flatMap(({ bytes, url }) => [Buffer.from(`${AGENT} ${bytes.length} ${url}\n`), bytes]),
  );
  const { stdout, status, stderr, error } = spawnSync(program, [String(rounds)], { input, encoding: 'utf8' });
  const peerMicros = Number(stdout);
  if (status !== 0 || !(peerMicros > 0)) {
    throw new Error(`Expected ${program} to print microseconds, got status ${status}: ${stdout}${stderr}`, {
      cause: error,
    });
  }
  const took: number[] = [];
  for (let round = -2; round < rounds; round++) {
    const before = process.cpuUsage();
    for (const { bytes, url } of questions) parseRobots(bytes).check(url, AGENT);
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) took.push(user + system);
  }
  const ours = median(took);
  const each = (micros: number): string => `${(micros / questions.length).toFixed(1)} µs`;
  return [
    {
      what: 'first answer of a file, against C++',
      ours: each(ours),
      peer: `${each(peerMicros)} google/robotstxt, C++`,
      ratio: `${(peerMicros / ours).toFixed(2)} ×`,
      bar: '≥ 1.5 ×',
      used: (1.5 * ours) / peerMicros,
    },
  ];
}
