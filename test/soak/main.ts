import { setTimeout } from 'node:timers/promises';
import { soak } from './soak.ts';

/**
 * `npm run soak [seconds] [seed]`: hours of trouble in virtual time, for so many real seconds (60 unless told). Ends
 * with 1 where an answer was not the model's, a rejected promise was unhandled, a handle stayed open, or
 * memory went on growing.
 */
const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
if (!(seconds > 0) || !Number.isInteger(seed)) throw new RangeError('Expected: soak [seconds] [seed]');
console.log(`seed ${seed}, ${seconds} s`);

const complaints: string[] = [];
process.on('unhandledRejection', (reason) => complaints.push(`Unhandled rejection: ${String(reason)}`));

/** Nothing that lives as long as the process counts. */
const openHandles = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => !/^(?:TTYWrap|PipeWrap|FSReqPromise|Timeout)$/.test(kind));

const usedBytes = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const before = openHandles();
const started = performance.now();
let early: number | undefined;
const report = await soak({
  seed,
  goesOn: () => {
    const elapsed = (performance.now() - started) / 1_000;
    if (elapsed > seconds / 3) early ??= usedBytes();
    return elapsed < seconds;
  },
}).catch((error: Error) => {
  complaints.push(`${error.message}: ${error.cause instanceof Error ? error.cause.message : ''}`);
  return undefined;
});
const late = usedBytes();

// Connections of the platform's fetch close some seconds after they were last used.
for (let tries = 0; tries < 100 && openHandles().length > before.length; tries++) await setTimeout(100);
const left = openHandles();
if (left.length > before.length) complaints.push(`Still open: ${left.join(', ')}`);

const grownMiB = early === undefined ? 0 : (late - early) / 1_048_576;
if (grownMiB > 16) complaints.push(`Memory grew by ${grownMiB.toFixed(1)} MiB`);

if (report !== undefined) {
  const { rounds, clients, questions, requests, met } = report;
  console.log(`${rounds} rounds, ${clients} clients, ${questions} origins asked, ${requests} requests`);
  console.log(`memory ${(late / 1_048_576).toFixed(1)} MiB, ${grownMiB.toFixed(1)} more than after a third`);
  const behaviours = Object.entries(met).sort(([, one], [, other]) => other - one);
  console.log(behaviours.map(([name, times]) => `${name} (${times})`).join(', '));
}
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
