import { writeFileSync } from 'node:fs';
import { RobotsClient } from '../../src/index.ts';
import { hostileFamilies, urlOf } from '../support/hostile-files.ts';
import { peakBytes } from './program.ts';

/*
 * `question-memory.js FAMILY`, with `--expose-gc`: sends what one question takes at the most, about a hostile file of that
 * family and by a URL as long as they may be. In a process of its own for each, which has no memory to use again. Where
 * the system does not tell peaks it sends NaN, which arrives as `null`.
 */
const FILE_BYTES = 500_000;
/** Longer URLs are refused. */
const LONGEST_URL = 65_536;

const { file, path } = hostileFamilies[process.argv[2] ?? '']!;
const body = Uint8Array.from(file(FILE_BYTES));
const client = new RobotsClient({
  agent: 'ExampleBot',
  transport: { fetch: async () => new Response(body) },
});
const times = Math.floor(LONGEST_URL / new URL(urlOf(path, 0)).href.length);
const { href } = new URL(urlOf(path.repeat(times), 0));
// What an answer makes once for the file, and code that is loaded, is not the question's.
await client.check('https://example.com/page');
globalThis.gc?.();
const before = process.memoryUsage.rss();
forgetPeak();
await client.check(href);
process.send?.(peakBytes(process.pid) - before);
await client.close();

/** The system measures the peak anew (Linux). */
function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Elsewhere `peakBytes` knows nothing either.
  }
}
