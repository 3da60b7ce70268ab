import { virtualClock, type VirtualClock } from '../../src/extras/testing/index.ts';

export interface LateClock extends VirtualClock {
  /**
   * The time has passed, as in a process that was stopped: everybody whose time came meanwhile goes on now, late.
   */
  jump(ms: number): Promise<void>;
}

/** A virtual clock that can jump over the times that sleeps wait for. */
export function lateClock(): LateClock {
  const clock = virtualClock();
  let jumpedTo = -Infinity;
  return {
    now: () => Math.max(clock.now(), jumpedTo),
    sleep: (ms, signal) => clock.sleep(Math.max(0, jumpedTo - clock.now()) + ms, signal),
    advance: (ms) => clock.advance(ms),
    whenWaiting: (count) => clock.whenWaiting(count),
    get waiting() {
      return clock.waiting;
    },
    jump(ms) {
      jumpedTo = clock.now() + ms;
      return clock.advance(ms);
    },
  };
}
