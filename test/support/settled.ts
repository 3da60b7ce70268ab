import { setTimeout as delay } from 'node:timers/promises';

const LOOKS = 40;

/**
 * Resolves with `value()` once it has risen above 0, and then stayed the same for 40 looks 5 ms apart. Both the work and
 * the looks need the event loop, so a slow machine slows both.
 */
export async function settled(value: () => number): Promise<number> {
  let last = 0;
  for (let same = 0; same < LOOKS; same++) {
    await delay(5);
    const now = value();
    if (now !== last || now === 0) same = 0;
    last = now;
  }
  return last;
}
