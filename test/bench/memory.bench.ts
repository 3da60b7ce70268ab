import { fork } from 'node:child_process';
import { once } from 'node:events';
import { hostileFamilies } from '../support/hostile-files.ts';
import type { Row } from './measure.ts';
import type { ClientMemory } from './memory-process.ts';

/** The bar for the memory of an origin: bytes for each byte of its body, and a constant. */
const BODY_SHARE = 1.35;
const ORIGIN_BYTES = 1_024;
/** What the default of `cache.maxBytes` should hold of origins with real files. */
const MIN_ORIGINS = 20_000;
/** How far `stats().bytes` may be from the truth. */
const ERROR = 0.1;

/** What a client holds in memory, against its budget, and against what `stats()` says. */
export async function clientMemory(): Promise<Row[]> {
  const measured = (await sentBy('memory-process.js')) as ClientMemory;
  const { origins, bodyBytes, steps } = measured;
  const budget = bodyBytes * BODY_SHARE + origins * ORIGIN_BYTES;
  const each = (bytes: number): string => `${(bytes / origins).toFixed(0)} bytes`;
  const rows = steps.map(({ step, heldBytes, reckonedBytes, severalAgents }): Row => {
    const error = reckonedBytes / heldBytes - 1;
    const share = `${((heldBytes / budget) * 100).toFixed(0)} % of the budget`;
    const sign = error < 0 ? '−' : '+';
    return {
      what: 'memory of a cached origin',
      way: `after \`${step}\``,
      ours: each(heldBytes),
      peer: `${each(reckonedBytes)} by \`stats()\``,
      ratio: `${share}, \`stats()\` ${sign} ${Math.abs(error * 100).toFixed(1)} %`,
      bar: severalAgents ? '± 10 %' : '≤ 100 %, ± 10 %',
      used: Math.max(severalAgents ? 0 : heldBytes / budget, Math.abs(error) / ERROR),
    };
  });
  const held = measured.originsByDefault;
  return [
    ...rows,
    {
      what: 'origins in the cache by default',
      ours: held.toLocaleString('en'),
      peer: MIN_ORIGINS.toLocaleString('en'),
      ratio: `${((held / MIN_ORIGINS) * 100).toFixed(0)} %`,
      bar: '≥ 100 %',
      used: MIN_ORIGINS / held,
    },
    await questionRow(),
  ];
}

/** What a question takes that hostile files and URLs make the most of. */
async function questionRow(): Promise<Row> {
  let most = { family: '', bytes: 0 };
  for (const family of Object.keys(hostileFamilies)) {
    const sent = await sentBy('question-memory.js', family);
    // Messages are JSON, which has no NaN.
    const bytes = typeof sent === 'number' ? sent : NaN;
    if (!(bytes <= most.bytes)) most = { family, bytes };
  }
  const megabytes = most.bytes / 1_048_576;
  return {
    what: 'memory of one question, URL of 65,536 bytes',
    way: most.family,
    ours: Number.isNaN(megabytes) ? 'not known here' : `${megabytes.toFixed(0)} MiB`,
    bar: '≤ 32 MiB',
    used: Number.isNaN(megabytes) ? 0 : megabytes / 32,
  };
}

/** The one message that a process of this folder sends before it ends. Rejects when it ends without. */
async function sentBy(name: string, ...args: readonly string[]): Promise<unknown> {
  const child = fork(new URL(name, import.meta.url), args, { execArgv: ['--expose-gc'] });
  const sent: unknown[] = [];
  child.on('message', (message) => sent.push(message));
  // After the last message, unlike `exit`.
  const [exitCode]: unknown[] = await once(child, 'close');
  if (sent.length === 0)
    throw new Error(`Expected a message of ${name}, but it ended with ${String(exitCode)}`);
  return sent[0];
}
