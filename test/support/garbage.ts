import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** Bytes of memory in use after garbage collection: some of it only after a turn. */
export async function usedBytes(): Promise<number> {
  if (typeof collect !== 'function') throw new Error('Expected V8 to give its garbage collector');
  for (let turn = 0; turn < 4; turn++) {
    collect();
    await setImmediate();
  }
  // `external` includes `arrayBuffers`.
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
