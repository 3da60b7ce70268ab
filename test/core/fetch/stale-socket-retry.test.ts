import { EventEmitter } from 'node:events';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { LightAbortController } from '../../../src/core/base/index.ts';
import { StaleSocketRetry } from '../../../src/core/fetch/stale-socket-retry.ts';

const ORIGIN = 'https://example.com';
const URL_OF_ROBOTS = new URL(`${ORIGIN}/robots.txt`);
const init = { headers: {}, signal: new LightAbortController(), publicOnly: false };

/** A dispatcher whose requests end as `request` does. */
const sending = (request: () => Promise<unknown>) => ({ request }) as unknown as Dispatcher;

const closed = (): Error => Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' });

/** Sockets of one dispatcher, whose events are emitted by hand. */
function setUp() {
  const dispatcher = new EventEmitter();
  const sockets = new StaleSocketRetry();
  sockets.watch(dispatcher as unknown as Dispatcher);
  const emit = (...names: ('connect' | 'disconnect')[]): void => {
    for (const name of names) dispatcher.emit(name, new URL(ORIGIN));
  };
  /** A request during which the events happen, and which then fails. Gives the number of times that it is sent. */
  const failing = async (during: () => void): Promise<number> => {
    let sent = 0;
    const send = async (): Promise<never> => {
      if (++sent === 1) during();
      throw closed();
    };
    await expect(sockets.send(sending(send), URL_OF_ROBOTS, init)).rejects.toThrow('closed');
    return sent;
  };
  return { dispatcher, sockets, emit, failing };
}

describe('a request whose connection ends', () => {
  it('is sent once more where it reused a socket: one was closed, and none opened', async () => {
    const { emit, failing } = setUp();
    expect(await failing(() => emit('disconnect'))).toBe(2);
  });

  it('is not sent again where it opened the socket', async () => {
    const { emit, failing } = setUp();
    expect(await failing(() => emit('connect', 'disconnect'))).toBe(1);
    expect(await failing(() => emit('connect'))).toBe(1);
  });

  it('is not sent again where no socket was closed', async () => {
    const { emit, failing } = setUp();
    expect(await failing(() => undefined)).toBe(1);
    emit('disconnect');
    expect(await failing(() => undefined)).toBe(1);
  });

  it('is not sent again for the socket of another origin', async () => {
    const { dispatcher, failing } = setUp();
    const other = (): void => void dispatcher.emit('disconnect', new URL('https://www.example.com'));
    expect(await failing(other)).toBe(1);
  });

  it('counts the events since it was sent, beside another request to the origin', async () => {
    const { emit, sockets, failing } = setUp();
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const first = sockets.send(
      sending(() => answered),
      URL_OF_ROBOTS,
      init,
    );
    emit('connect');
    expect(await failing(() => undefined)).toBe(1);
    emit('disconnect');
    expect(await failing(() => undefined)).toBe(1);
    expect(await failing(() => emit('disconnect'))).toBe(2);
    answer();
    await first;
    expect(await failing(() => emit('disconnect'))).toBe(2);
  });
});

describe('a dispatcher', () => {
  it('has no listener after the end', () => {
    const { dispatcher, sockets } = setUp();
    expect(dispatcher.eventNames()).toEqual(['connect', 'disconnect']);
    sockets.unwatch();
    expect(dispatcher.eventNames()).toEqual([]);
    sockets.watch(dispatcher as unknown as Dispatcher);
    sockets.unwatch();
    expect(dispatcher.eventNames()).toEqual([]);
  });

  it('has one listener of each event for all clients, until the last one ends', async () => {
    const { dispatcher, sockets, emit, failing } = setUp();
    const others = Array.from({ length: 11 }, () => new StaleSocketRetry());
    for (const other of others) other.watch(dispatcher as unknown as Dispatcher);
    const listeners = (): number[] => ['connect', 'disconnect'].map((name) => dispatcher.listenerCount(name));
    expect(listeners()).toEqual([1, 1]);
    for (const other of others) {
      other.unwatch();
      other.unwatch();
    }
    expect(listeners()).toEqual([1, 1]);
    expect(await failing(() => emit('disconnect'))).toBe(2);
    sockets.unwatch();
    expect(listeners()).toEqual([0, 0]);
  });

  it('without events counts as one that opens every socket', async () => {
    const sockets = new StaleSocketRetry();
    sockets.watch({ dispatch: () => true } as unknown as Dispatcher);
    let sent = 0;
    const send = async (): Promise<never> => {
      sent++;
      throw closed();
    };
    await expect(sockets.send(sending(send), URL_OF_ROBOTS, init)).rejects.toThrow('closed');
    expect(sent).toBe(1);
    sockets.unwatch();
  });
});
