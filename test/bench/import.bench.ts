import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, type Row } from './measure.ts';

const LIBRARIES = ['undici', 'lru-cache', 'zod'];
/** As it was built: what users import. */
const entry = new URL('../../../dist/index.js', import.meta.url).href;

const scripts = {
  bare: '',
  libraries: `await Promise.all([${LIBRARIES.map((name) => `import('${name}')`).join(', ')}])`,
  canfetch: `await import(${JSON.stringify(entry)})`,
};

/** What `import 'canfetch'` takes in a process of its own, against the libraries it rests on, alone. */
export function importing(rounds: number): Row[] {
  const took: Record<keyof typeof scripts, number[]> = { bare: [], libraries: [], canfetch: [] };
  for (let round = -1; round < rounds; round++) {
    for (const name of ['bare', 'libraries', 'canfetch'] as const) {
      const ms = timed(scripts[name]);
      if (round >= 0) took[name].push(ms);
    }
  }
  const [bare, libraries, canfetch] = [median(took.bare), median(took.libraries), median(took.canfetch)];
  const ratio = (canfetch - bare) / (libraries - bare);
  return [
    {
      what: "`import 'canfetch'`, beyond a bare process",
      ours: `${(canfetch - bare).toFixed(0)} ms`,
      peer: `${(libraries - bare).toFixed(0)} ms its libraries`,
      ratio: `${ratio.toFixed(2)} ×`,
      bar: '≤ 0.5 ×',
      used: ratio / 0.5,
    },
  ];
}

function timed(script: string): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Expected the import to succeed:\n${stderr}`);
  return performance.now() - started;
}
