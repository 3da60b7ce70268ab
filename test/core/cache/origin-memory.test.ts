import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { OriginMemory } from '../../../src/core/cache/origin-memory.ts';
import { profiles } from '../../../src/core/lifecycle/index.ts';
import { VirtualClock } from '../../support/client.ts';

const A = 'https://a.example';
const B = 'https://b.example';

describe('a signal about a site, before memory is open', () => {
  let clock: VirtualClock;
  let memory: OriginMemory;
  const noted = async (): Promise<unknown[]> => {
    await memory.open();
    await setImmediate();
    return memory.records().map(({ origin, site }) => [origin, site?.reachable]);
  };

  beforeEach(() => {
    clock = new VirtualClock();
    const profileOf = () => profiles.rfc9309;
    memory = new OriginMemory({ maxOrigins: 9, maxBytes: 99_999, clock, profileOf, client: {} });
  });

  it('is noted once it is open; the last one of an origin wins', async () => {
    memory.noteSite(A, false);
    memory.noteSite(B, true);
    memory.noteSite(A, true);
    expect((await noted()).sort()).toEqual([
      [A, true],
      [B, true],
    ]);
  });

  it('is gone when the origin is forgotten', async () => {
    memory.noteSite(A, true);
    memory.noteSite(B, true);
    memory.forget(A);
    expect(await noted()).toEqual([[B, true]]);
  });

  it('is gone when memory is closed', async () => {
    memory.noteSite(A, true);
    memory.close();
    expect(await noted()).toEqual([]);
  });

  it('does not win over one that comes when memory has just been opened', async () => {
    const opened = memory.open().then(() => memory.noteSite(A, false));
    memory.noteSite(A, true);
    await opened;
    expect(await noted()).toEqual([[A, false]]);
  });

  it('of which the clock throws is dropped, and no rejection is unhandled', async () => {
    const unhandled: unknown[] = [];
    const heard = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', heard);
    clock.now = () => {
      throw new Error('no time');
    };
    memory.noteSite(A, true);
    expect(await noted()).toEqual([]);
    await setImmediate();
    process.off('unhandledRejection', heard);
    expect(unhandled).toEqual([]);
  });
});
