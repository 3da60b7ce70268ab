import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PauseCause, RobotsStore, StorePause } from '../../src/core/store/store.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/client.ts';

/** A store with nothing in it. */
export interface StoreUnderTest {
  readonly store: RobotsStore;
  /** Lets so much of the time pass that a value or a lease has. */
  elapse(kind: 'value' | 'lease', key: string, ms: number): Promise<void>;
  /** The time by the store's clock. @default the system's */
  now?(): number;
  close(): Promise<void>;
}

/** Keys that are easily mixed up. */
const KEYS = [
  ...['https://example.com', 'https://example.com:8443', 'http://example.com', 'https://example.co'],
  ...['a', 'a:lease', 'a:slot', 'lease:a', '{a}', 'a}{b', '}', '{}', '%', '%007b', '{'],
  ...['https://xn--exmple-cua.com', 'ключ', '🔑', 'a\u0001b', 'a\nb', ' ', 'é', 'e\u0301'],
  ...['x', 'y'].map((end) => `https://${'long-label.'.repeat(40)}example/${end}`),
];

const VALUES: Readonly<Record<string, string>> = {
  'an empty one': '',
  'a record': JSON.stringify({
    version: 1,
    origin: 'https://example.com',
    body: 'User-agent: *\nDisallow: /',
  }),
  'white space at its ends': ' \r\n\t value \0',
  'a byte order mark': '\ufeffUser-agent: *',
  'what looks like a number': '0012',
  '1,024 bytes': 'x'.repeat(1_024),
  '1,025 bytes': 'x'.repeat(1_025),
  '1 MB of one line': 'Disallow: /private/*.html$\n'.repeat(40_000),
  '1 MB that nothing compresses': randomBytes(750_000).toString('base64'),
  '512,000 control characters in JSON': JSON.stringify('\0'.repeat(512_000)),
};

/**
 * What every store owes, wherever it keeps things.
 *
 * @param has `fleet`: leases and slots too; `values`: values alone
 */
export function storeContract(
  name: string,
  open: () => Promise<StoreUnderTest>,
  has: 'fleet' | 'values' = 'fleet',
): void {
  const describeFleet = (part: string, tests: () => void): void => {
    if (has === 'fleet') describe(part, tests);
  };

  describe(`the contract of stores: ${name}`, () => {
    let tested: StoreUnderTest;
    let store: StoreOfTests;

    beforeEach(async () => {
      tested = await open();
      store = complete(tested.store, has);
    });

    afterEach(() => tested.close());

    describe('values', () => {
      it('has no value for a key that was not set', async () => {
        expect(await store.get('https://example.com')).toBeUndefined();
      });

      it('gives what was set last', async () => {
        await store.set('k', 'first', { ttlMs: DAY });
        expect(await store.get('k')).toBe('first');
        await store.set('k', 'x'.repeat(5_000), { ttlMs: DAY });
        await store.set('k', 'last', { ttlMs: DAY });
        expect(await store.get('k')).toBe('last');
      });

      it('forgets what is deleted, and nothing else', async () => {
        await store.set('k', 'value', { ttlMs: DAY });
        await store.set('other', 'value', { ttlMs: DAY });
        await store.delete('k');
        expect(await store.get('k')).toBeUndefined();
        expect(await store.get('other')).toBe('value');
        await expect(Promise.resolve(store.delete('k'))).resolves.toBeUndefined();
      });

      it.each(Object.entries(VALUES))('keeps %s as it is', async (_, value) => {
        await store.set('k', value, { ttlMs: DAY });
        // Not `toBe`, which would print a megabyte.
        expect((await store.get('k')) === value).toBe(true);
      });

      it('keeps the values of all keys apart', async () => {
        await Promise.all(KEYS.map((key, at) => store.set(key, `value ${at}`, { ttlMs: DAY })));
        const values = await Promise.all(KEYS.map((key) => store.get(key)));
        expect(values).toEqual(KEYS.map((_, at) => `value ${at}`));
        await store.delete(KEYS[0]!);
        const left = await Promise.all(KEYS.map((key) => store.get(key)));
        expect(left).toEqual(KEYS.map((_, at) => (at === 0 ? undefined : `value ${at}`)));
      });

      it('keeps one of many concurrent values for one key, whole', async () => {
        const values = Array.from({ length: 50 }, (_, at) => String(at).repeat(3_000));
        await Promise.all(values.map((value) => store.set('k', value, { ttlMs: DAY })));
        expect(values).toContain(await store.get('k'));
      });
    });

    describe('time', () => {
      it('keeps a value for its time, and no longer', async () => {
        await store.set('k', 'value', { ttlMs: HOUR });
        await tested.elapse('value', 'k', HOUR / 2);
        expect(await store.get('k')).toBe('value');
        await tested.elapse('value', 'k', HOUR / 2);
        expect(await store.get('k')).toBeUndefined();
      });

      it('restarts when a value is set again', async () => {
        await store.set('k', 'first', { ttlMs: HOUR });
        await tested.elapse('value', 'k', HOUR / 2);
        await store.set('k', 'second', { ttlMs: HOUR });
        await tested.elapse('value', 'k', (3 * HOUR) / 4);
        expect(await store.get('k')).toBe('second');
        await store.set('k', 'third', { ttlMs: MINUTE });
        await tested.elapse('value', 'k', MINUTE);
        expect(await store.get('k')).toBeUndefined();
      });

      it('keeps a value for months', async () => {
        await store.set('k', 'value', { ttlMs: 90 * DAY });
        await tested.elapse('value', 'k', 89 * DAY);
        expect(await store.get('k')).toBe('value');
      });

      it('refuses a time that is none', async () => {
        const invalid = { code: 'ERR_ROBOTS_INVALID_OPTIONS' };
        for (const ms of [Number.NaN, Infinity, -1, 0]) {
          await expect(async () => store.set('k', 'value', { ttlMs: ms })).rejects.toMatchObject(invalid);
          if (has === 'values') continue;
          await expect(async () => store.lease('k', ms)).rejects.toMatchObject(invalid);
          if (ms !== 0) await expect(async () => store.reserve('k', ms)).rejects.toMatchObject(invalid);
        }
        expect(await store.get('k')).toBeUndefined();
      });

      it('takes a time that is no whole number of milliseconds', async () => {
        await store.set('k', 'value', { ttlMs: HOUR + 1 / 3 });
        expect(await store.get('k')).toBe('value');
      });
    });

    describeFleet('the later of two responses wins', () => {
      const nowOf = (): number => tested.now?.() ?? Date.now();
      const set = async (value: string, recordedAt: number): Promise<void> =>
        store.set('k', value, { ttlMs: HOUR, recordedAt });

      it('whichever is written last', async () => {
        const now = nowOf();
        await set('later', now - SECOND);
        await set('earlier', now - MINUTE);
        expect(await store.get('k')).toBe('later');
        await set('of the same time', now - SECOND);
        expect(await store.get('k')).toBe('of the same time');
        await set('latest '.repeat(1_000), now);
        await set('late', now - SECOND);
        expect(await store.get('k')).toBe('latest '.repeat(1_000));
      });

      it('unless it has expired, was deleted, or is from the future', async () => {
        const now = nowOf();
        await set('expired', now);
        await tested.elapse('value', 'k', HOUR);
        await set('next', now - DAY);
        expect(await store.get('k')).toBe('next');
        await store.delete('k');
        await set('earlier', now - 2 * DAY);
        expect(await store.get('k')).toBe('earlier');
        await set('of a wrong clock', now + 2 * DAY);
        await set('present', now);
        expect(await store.get('k')).toBe('present');
      });

      it('and a value without a time is of now', async () => {
        await set('earlier', nowOf() - MINUTE);
        await store.set('k', 'now', { ttlMs: HOUR });
        expect(await store.get('k')).toBe('now');
      });
    });

    describeFleet('leases', () => {
      const heldAmong = (leases: readonly unknown[]): number =>
        leases.filter((lease) => lease !== undefined).length;

      it('go to one of many', async () => {
        const leases = await Promise.all(Array.from({ length: 50 }, () => store.lease('k', HOUR)));
        expect(heldAmong(leases)).toBe(1);
      });

      it('are given for each key by itself', async () => {
        const leases = await Promise.all(KEYS.map((key) => store.lease(key, HOUR)));
        expect(heldAmong(leases)).toBe(KEYS.length);
      });

      it('can be taken again once released', async () => {
        const first = await store.lease('k', HOUR);
        await first?.release();
        const second = await store.lease('k', HOUR);
        expect(second).toBeDefined();
        // A second release of the first is none of the second.
        await first?.release();
        expect(await store.lease('k', HOUR)).toBeUndefined();
      });

      it('run out, and then go to one of many', async () => {
        await store.lease('k', HOUR);
        await tested.elapse('lease', 'k', HOUR / 2);
        expect(await store.lease('k', HOUR)).toBeUndefined();
        await tested.elapse('lease', 'k', HOUR / 2);
        const leases = await Promise.all(Array.from({ length: 20 }, () => store.lease('k', HOUR)));
        expect(heldAmong(leases)).toBe(1);
      });

      it('stay where a holder is late to give back its own', async () => {
        const late = await store.lease('k', SECOND);
        await tested.elapse('lease', 'k', SECOND);
        const next = await store.lease('k', HOUR);
        expect(next).toBeDefined();
        await late?.release();
        expect(await store.lease('k', HOUR)).toBeUndefined();
        await next?.release();
        expect(await store.lease('k', HOUR)).toBeDefined();
      });

      it('do not change the value of their key', async () => {
        await store.set('k', 'value', { ttlMs: DAY });
        const lease = await store.lease('k', HOUR);
        expect(await store.get('k')).toBe('value');
        await store.delete('k');
        expect(await store.lease('k', HOUR)).toBeUndefined();
        await store.set('k', 'new value', { ttlMs: DAY });
        await lease?.release();
        expect(await store.get('k')).toBe('new value');
      });
    });

    describeFleet('slots', () => {
      it('the first is now', async () => {
        expect(await store.reserve('k', HOUR)).toBe(0);
      });

      it('the next is now when the time of the last one has passed', async () => {
        expect(await store.reserve('k', 0)).toBe(0);
        expect(await store.reserve('k', 0)).toBe(0);
      });

      it('a hundred at once are exactly so far apart, one for each', async () => {
        const startedAt = performance.now();
        const waits = await Promise.all(Array.from({ length: 100 }, () => store.reserve('k', MINUTE)));
        const last = await store.reserve('k', 0);
        const tookMs = performance.now() - startedAt + 1;
        const ranks = waits.map((wait) => Math.ceil(wait / MINUTE)).sort((a, b) => a - b);
        expect(ranks).toEqual(Array.from({ length: 100 }, (_, rank) => rank));
        for (const wait of [...waits, last]) expect(timeLost(wait, MINUTE)).toBeLessThanOrEqual(tookMs);
        // The delay of its neighbour, which is longer.
        expect(Math.ceil(last / MINUTE)).toBe(100);
      });

      it('are apart by the longer delay of two neighbours', async () => {
        const startedAt = performance.now();
        const waits: number[] = [];
        for (const delay of [HOUR, SECOND, MINUTE, 0, 0.5 * MINUTE])
          waits.push(await store.reserve('k', delay));
        const tookMs = performance.now() - startedAt + 1;
        const slots = [0, HOUR, HOUR + MINUTE, HOUR + 2 * MINUTE, HOUR + 2.5 * MINUTE];
        waits.forEach((wait, at) => {
          expect(wait).toBeLessThanOrEqual(slots[at]!);
          expect(slots[at]! - wait).toBeLessThanOrEqual(tookMs);
        });
      });

      it('are not booked beyond the longest wait, of which the time is returned', async () => {
        await store.reserve('k', HOUR, { maxWaitMs: 0 });
        for (let count = 0; count < 3; count++) {
          const wait = await store.reserve('k', HOUR, { maxWaitMs: HOUR - MINUTE });
          expect(Math.ceil(wait / MINUTE)).toBe(60);
        }
        expect(Math.ceil((await store.reserve('k', HOUR, { maxWaitMs: HOUR })) / MINUTE)).toBe(60);
        expect(Math.ceil((await store.reserve('k', HOUR)) / MINUTE)).toBe(120);
      });

      it('come no earlier than the shortest wait', async () => {
        const waits = [
          await store.reserve('k', MINUTE, { minWaitMs: HOUR }),
          await store.reserve('k', MINUTE, { minWaitMs: MINUTE }),
        ];
        expect(waits.map((wait) => Math.ceil(wait / MINUTE))).toEqual([60, 61]);
        await expect(store.reserve('k', MINUTE, { minWaitMs: -1 })).rejects.toMatchObject({
          code: 'ERR_ROBOTS_INVALID_OPTIONS',
        });
      });

      it('of one key do not delay those of another', async () => {
        await Promise.all(KEYS.map((key) => store.reserve(key, HOUR)));
        const waits = await Promise.all(KEYS.map((key) => store.reserve(key, HOUR)));
        for (const wait of waits) expect(Math.ceil(wait / HOUR)).toBe(1);
        expect(await store.reserve('another', HOUR)).toBe(0);
      });
    });

    describeFleet('pauses', () => {
      /** Whole minutes, so that the time that the calls took does not count. */
      const minutes = (ms: number): number => Math.ceil(ms / MINUTE);

      it('are none until a key is paused, and reading begins none', async () => {
        expect(await store.pause('k', 0)).toBe(0);
        expect(await store.reserve('k', HOUR)).toBe(0);
        expect(await store.pause('k', 0)).toBe(0);
      });

      it('move all later slots after them', async () => {
        expect(minutes(await store.pause('k', 10 * MINUTE))).toBe(10);
        expect(minutes(await store.reserve('k', MINUTE))).toBe(10);
        expect(minutes(await store.reserve('k', MINUTE))).toBe(11);
        expect(minutes(await store.pause('k', 0))).toBe(10);
      });

      it('are learnt with each booking, also with one that is too late to be made', async () => {
        expect(await store.slot('k', MINUTE)).toEqual({ waitMs: 0, pauseMs: 0 });
        await store.pause('k', 10 * MINUTE);
        for (const maxWaitMs of [MINUTE, HOUR]) {
          const { waitMs, pauseMs } = Object(await store.slot('k', HOUR, { maxWaitMs }));
          expect([minutes(waitMs), minutes(pauseMs)]).toEqual([60, 10]);
        }
      });

      it('leave slots that are already after them', async () => {
        await store.reserve('k', HOUR);
        await store.reserve('k', HOUR);
        await store.pause('k', 10 * MINUTE);
        expect(minutes(await store.reserve('k', MINUTE))).toBe(120);
      });

      it('are never shortened by another', async () => {
        await store.pause('k', HOUR);
        expect(minutes(await store.pause('k', MINUTE))).toBe(60);
        expect(minutes(await store.pause('k', 2 * HOUR))).toBe(120);
      });

      it('keep the cause of the longest, through bookings', async () => {
        expect(await store.paused('k', 0)).toEqual({ pauseMs: 0 });
        expect(await store.paused('k', MINUTE, 'back-off')).toMatchObject({ cause: 'back-off' });
        expect(await store.paused('k', HOUR, 'retry-after')).toMatchObject({ cause: 'retry-after' });
        expect(await store.paused('k', MINUTE, 'back-off')).toMatchObject({ cause: 'retry-after' });
        for (const maxWaitMs of [MINUTE, 2 * HOUR]) {
          expect(await store.slot('k', 0, { maxWaitMs })).toMatchObject({ cause: 'retry-after' });
        }
        expect(await store.paused('k', 0)).toMatchObject({ cause: 'retry-after' });
        await store.paused('k', 2 * HOUR);
        expect(await store.paused('k', 0)).toEqual({ pauseMs: expect.any(Number) });
      });

      it('of one key do not hold for another', async () => {
        await Promise.all(KEYS.map((key) => store.pause(key, HOUR)));
        const left = await Promise.all(KEYS.map((key) => store.pause(key, 0)));
        expect(left.map(minutes)).toEqual(KEYS.map(() => 60));
        expect([await store.pause('another', 0), await store.reserve('another', HOUR)]).toEqual([0, 0]);
      });

      it('refuse a time that is none', async () => {
        for (const ms of [Number.NaN, -1, Infinity]) {
          await expect(store.pause('k', ms)).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
        }
        expect(await store.pause('k', 0)).toBe(0);
      });
    });
  });
}

/** How much of the time until a slot had passed already when it was told. */
function timeLost(waitMs: number, delayMs: number): number {
  return Math.ceil(waitMs / delayMs) * delayMs - waitMs;
}

interface StoreOfTests extends Required<Omit<RobotsStore, 'reserve' | 'pause'>> {
  reserve(...booking: Parameters<Required<RobotsStore>['reserve']>): Promise<number>;
  pause(key: string, pauseMs: number): Promise<number>;
  readonly slot: Required<RobotsStore>['reserve'];
  paused(key: string, pauseMs: number, cause?: PauseCause): Promise<StorePause>;
}

/** The store, which must be able to do all that it should, and no more. */
function complete(store: RobotsStore, has: 'fleet' | 'values'): StoreOfTests {
  const none = (): never => {
    throw new Error('The store has no leases, or no slots');
  };
  const { lease = none, reserve = none, pause = none } = store;
  const isFleet = has === 'fleet';
  expect([lease, reserve, pause].map((each) => each !== none)).toEqual([isFleet, isFleet, isFleet]);
  return {
    get: (key) => store.get(key),
    set: (key, value, options) => store.set(key, value, options),
    delete: (key) => store.delete(key),
    lease: (key, ttlMs) => lease.call(store, key, ttlMs),
    reserve: async (key, delayMs, options) => (await reserve.call(store, key, delayMs, options)).waitMs,
    slot: (key, delayMs, options) => reserve.call(store, key, delayMs, options),
    paused: async (key, pauseMs, cause) => Object(await pause.call(store, key, pauseMs, cause)),
    pause: async (key, pauseMs) => Object(await pause.call(store, key, pauseMs)).pauseMs,
  };
}
