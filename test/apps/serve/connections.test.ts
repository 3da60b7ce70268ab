import { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Connections } from '../../../src/apps/serve/connections.ts';
import { Exchange, type Service } from '../../../src/apps/serve/exchange.ts';

const STALLED_MS = 1_000;

/** The part of a socket that connections use. */
class FakeSocket extends EventEmitter {
  isPaused = false;
  destroyed = false;
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function fakeSocket(): FakeSocket & Socket {
  return Object.assign(new FakeSocket()) as FakeSocket & Socket;
}

function exchange(): Exchange {
  const request = { url: '/', headers: {} } as IncomingMessage;
  return new Exchange(request, new ServerResponse(request), {} as Service);
}

/** Lets the event loop turn, often enough for all that can begin. */
function turns(): void {
  // A fake `setImmediate` within another takes a millisecond.
  for (let turn = 0; turn < 40; turn++) vi.advanceTimersByTime(1);
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a connection', () => {
  it('begins one request in each turn, 16 in all, and others as responses are read', () => {
    const socket = fakeSocket();
    const connection = new Connections(STALLED_MS).of(socket);
    const begun: Exchange[] = [];
    for (let at = 0; at < 40; at++) {
      const each = exchange();
      connection.add(each, () => begun.push(each));
    }
    expect(begun).toHaveLength(1);
    expect(socket.isPaused).toBe(true);
    vi.advanceTimersByTime(0);
    expect(begun).toHaveLength(2);
    turns();
    expect(begun).toHaveLength(16);
    for (const each of begun.slice(0, 3)) connection.remove(each);
    turns();
    expect(begun).toHaveLength(19);
    expect(socket.isPaused).toBe(true);
    for (const each of begun.slice(3)) connection.remove(each);
    turns();
    expect(socket.isPaused).toBe(false);
    for (const each of begun.slice(19)) connection.remove(each);
    turns();
    expect(begun).toHaveLength(40);
  });

  it('lets another begin its requests in between', () => {
    const connections = new Connections(STALLED_MS);
    const begun: string[] = [];
    const add = (name: string, socket: Socket, many: number): void => {
      for (let at = 0; at < many; at++) connections.of(socket).add(exchange(), () => begun.push(name));
    };
    add('a', fakeSocket(), 10);
    add('b', fakeSocket(), 3);
    turns();
    expect(begun.join('')).toBe('ababab' + 'a'.repeat(7));
  });

  it('is closed when its peer reads nothing for the time, however many requests it sends meanwhile', () => {
    const socket = fakeSocket();
    const connection = new Connections(STALLED_MS).of(socket);
    const reply = (): void => {
      const each = exchange();
      connection.add(each, () => connection.replied(each));
    };
    reply();
    for (let at = 0; at < 9; at++) {
      vi.advanceTimersByTime(STALLED_MS / 10);
      reply();
    }
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(STALLED_MS / 10);
    expect(socket.destroyed).toBe(true);
  });

  it('is closed when a request waits for the time, whatever the responses to the ones before', () => {
    const socket = fakeSocket();
    const connection = new Connections(STALLED_MS).of(socket);
    const begun: Exchange[] = [];
    for (let at = 0; at < 40; at++) {
      const each = exchange();
      connection.add(each, () => begun.push(each));
    }
    turns();
    vi.advanceTimersByTime(STALLED_MS / 2);
    connection.remove(begun[0]!);
    vi.advanceTimersByTime(STALLED_MS / 2 - 41);
    expect([begun.length, socket.destroyed]).toEqual([17, false]);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });

  it('has its time anew with each part that its peer reads', () => {
    const socket = fakeSocket();
    const connection = new Connections(STALLED_MS).of(socket);
    const each = exchange();
    connection.add(each, () => connection.replied(each));
    for (let at = 0; at < 5; at++) {
      vi.advanceTimersByTime(STALLED_MS - 1);
      connection.wasRead();
    }
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(STALLED_MS);
    expect(socket.destroyed).toBe(true);
  });

  it('stays open while the service still makes its first answer', () => {
    const socket = fakeSocket();
    const connection = new Connections(STALLED_MS).of(socket);
    const [slow, quick] = [exchange(), exchange()];
    connection.add(slow, () => undefined);
    connection.add(quick, () => connection.replied(quick));
    vi.advanceTimersByTime(STALLED_MS * 10);
    expect(socket.destroyed).toBe(false);
    connection.replied(slow);
    vi.advanceTimersByTime(STALLED_MS - 1);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });

  it('that closes leaves its exchanges, and begins none that waited', () => {
    const socket = fakeSocket();
    const connection = new Connections(STALLED_MS).of(socket);
    const all = Array.from({ length: 20 }, exchange);
    const begun: Exchange[] = [];
    for (const each of all) connection.add(each, () => begun.push(each));
    turns();
    socket.emit('close');
    expect(all.map(({ isOver }) => isOver)).toEqual(all.map((_, at) => at < 16));
    for (const each of begun) connection.remove(each);
    turns();
    expect(begun).toHaveLength(16);
  });
});

it('all connections together hold some thousand requests that wait: the one with most of them is closed', () => {
  const connections = new Connections(STALLED_MS);
  const sockets = Array.from({ length: 5 }, fakeSocket);
  const begun = sockets.map(() => 0);
  for (const [index, socket] of sockets.entries()) {
    // 17 of each begin, or fit beside the 4,096 that wait.
    for (let at = 0; at < (index === 2 ? 1_200 : 900); at++) {
      connections.of(socket).add(exchange(), () => (begun[index] = (begun[index] ?? 0) + 1));
    }
  }
  turns();
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, true, false, false]);
  expect(begun).toEqual([16, 16, 1, 16, 16]);
});
