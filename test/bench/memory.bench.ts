import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Row } from './measure.ts';
import type { ClientMemory } from './memory-process.ts';

/** What the design grants an origin in memory: octets for each of its body, and beside that. */
const BODY_SHARE = 1.3;
const ORIGIN_BYTES = 1_024;
/** How far `stats().bytes` may be from the truth. */
const ERROR = 0.1;

/** What a client holds in memory, against its budget, and against what `stats()` says. */
export async function clientMemory(): Promise<Row[]> {
  const child = fork(new URL('memory-process.js', import.meta.url), { execArgv: ['--expose-gc'] });
  const [measured] = (await once(child, 'message')) as [ClientMemory];
  const { origins, bodyBytes, steps } = measured;
  const budget = bodyBytes * BODY_SHARE + origins * ORIGIN_BYTES;
  const each = (bytes: number): string => `${(bytes / origins).toFixed(0)} octets`;
  return steps.map(({ step, heldBytes, reckonedBytes, severalAgents }): Row => {
    const error = reckonedBytes / heldBytes - 1;
    const fits = severalAgents || heldBytes <= budget;
    const share = `${((heldBytes / budget) * 100).toFixed(0)} % of the budget`;
    const sign = error < 0 ? '−' : '+';
    return {
      what: `memory of an origin in a client, after \`${step}\``,
      ours: each(heldBytes),
      peer: `${each(reckonedBytes)} by \`stats()\``,
      ratio: `${share}, \`stats()\` ${sign} ${Math.abs(error * 100).toFixed(1)} %`,
      bar: severalAgents ? '± 10 %' : '≤ 100 %, ± 10 %',
      held: fits && Math.abs(error) <= ERROR,
    };
  });
}
