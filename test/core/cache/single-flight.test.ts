import { describe, expect, it } from 'vitest';
import type { LightAbortSignal } from '../../../src/core/base/index.ts';
import { SingleFlight } from '../../../src/core/cache/single-flight.ts';

/** Flights that land when they are told to. */
function hangar() {
  const flights = new SingleFlight<string>();
  const started: {
    readonly signal: LightAbortSignal;
    readonly isCurrent: () => boolean;
    readonly land: (value: string) => void;
    readonly crash: (reason: unknown) => void;
  }[] = [];
  const join = (key: string, signal?: AbortSignal): Promise<string> =>
    flights.join(
      key,
      (stop, isCurrent) =>
        new Promise((land, crash) => void started.push({ signal: stop, isCurrent, land, crash })),
      signal,
    );
  return { flights, started, join };
}

/** Lets everything go on that can. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a flight', () => {
  it('is shared by all callers until it ends; a later caller starts another', async () => {
    const { flights, started, join } = hangar();
    const both = [join('a'), join('a', new AbortController().signal)];
    const other = join('b');
    expect([started.length, flights.size, flights.has('a'), flights.has('c')]).toEqual([2, 2, true, false]);
    started[0]?.land('first');
    expect(await Promise.all(both)).toEqual(['first', 'first']);
    expect([flights.size, flights.has('a')]).toEqual([1, false]);
    const again = join('a');
    expect(started).toHaveLength(3);
    started[2]?.land('second');
    started[1]?.land('other');
    expect(await Promise.all([again, other])).toEqual(['second', 'other']);
    expect(flights.size).toBe(0);
  });

  it('that fails rejects all its callers, and ends', async () => {
    const { flights, started, join } = hangar();
    const both = [join('a'), join('a', new AbortController().signal)].map((each) => expect(each).rejects);
    started[0]?.crash('engine');
    for (const each of both) await each.toBe('engine');
    expect(flights.has('a')).toBe(false);
  });
});

describe('an aborted caller', () => {
  it('that is the last one ends the flight, with its reason', async () => {
    const { flights, started, join } = hangar();
    const [one, two] = [new AbortController(), new AbortController()];
    const left = [join('a', one.signal), join('a', two.signal)].map((each) => expect(each).rejects);
    one.abort('first');
    two.abort('second');
    await left[0]?.toBe('first');
    await left[1]?.toBe('second');
    expect(started[0]?.signal).toMatchObject({ aborted: true, reason: 'second' });
    expect([flights.has('a'), started[0]?.isCurrent()]).toEqual([false, false]);
    // No caller is left to receive its result.
    started[0]?.crash('too late');
    await settled();
  });

  it('does not end a flight that a caller without a signal waits for', async () => {
    const { started, join } = hangar();
    const stays = join('a');
    const leaving = new AbortController();
    const left = join('a', leaving.signal);
    leaving.abort('tired');
    await expect(left).rejects.toBe('tired');
    expect(started[0]?.signal.aborted).toBe(false);
    started[0]?.land('there');
    expect(await stays).toBe('there');
  });
});

describe('a flight that is detached', () => {
  it('still answers its callers, and reports that it is no longer current', async () => {
    const { flights, started, join } = hangar();
    const before = join('a');
    expect(started[0]?.isCurrent()).toBe(true);
    flights.detach('a');
    expect([flights.has('a'), started[0]?.isCurrent()]).toEqual([false, false]);
    const after = join('a');
    expect(started.map(({ isCurrent }) => isCurrent())).toEqual([false, true]);
    started[0]?.land('old');
    expect(await before).toBe('old');
    // Its landing does not end the one that came after.
    expect([flights.has('a'), started[1]?.isCurrent()]).toEqual([true, true]);
    started[1]?.land('new');
    expect(await after).toBe('new');
    expect(flights.has('a')).toBe(false);
  });

  it('is ended by close, beside the one that came after', async () => {
    const { flights, started, join } = hangar();
    const before = expect(join('a')).rejects;
    flights.detach('a');
    const after = expect(join('a')).rejects;
    flights.close('closed');
    expect(started.map(({ signal }) => signal.reason)).toEqual(['closed', 'closed']);
    await before.toBe('closed');
    await after.toBe('closed');
  });

  it('is forgotten when it has ended', async () => {
    const { flights, started, join } = hangar();
    const before = join('a');
    flights.detach('a');
    started[0]?.land('old');
    expect(await before).toBe('old');
    flights.close('closed');
    expect(started[0]?.signal.aborted).toBe(false);
  });
});

it('close ends every flight at once, even if the work ignores its signal, and lets none start', async () => {
  const { flights, started, join } = hangar();
  const waiting = [join('a'), join('b', new AbortController().signal)].map((each) => expect(each).rejects);
  flights.close('closed');
  expect(flights.size).toBe(0);
  for (const each of waiting) await each.toBe('closed');
  expect(started.map(({ signal }) => [signal.aborted, signal.reason])).toEqual([
    [true, 'closed'],
    [true, 'closed'],
  ]);
  started[0]?.land('ignored');
  await expect(join('a')).rejects.toBe('closed');
  await expect(join('a', AbortSignal.abort('early'))).rejects.toBe('early');
  expect(started).toHaveLength(2);
});
