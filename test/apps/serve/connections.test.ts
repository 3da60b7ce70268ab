import { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Connections } from '../../../src/apps/serve/connections.ts';
import { Exchange, type Service } from '../../../src/apps/serve/exchange.ts';

const UNREAD_MS = 1_000;

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

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a connection', () => {
  it('begins 16 requests, reads no more meanwhile, and begins others as answers are read', () => {
    const socket = fakeSocket();
    const connection = new Connections(UNREAD_MS).of(socket);
    const begun: Exchange[] = [];
    for (let at = 0; at < 40; at++) {
      const each = exchange();
      connection.add(each, () => begun.push(each));
    }
    expect(begun).toHaveLength(16);
    expect(socket.isPaused).toBe(true);
    for (const each of begun.slice(0, 3)) connection.remove(each);
    vi.advanceTimersByTime(0);
    expect(begun).toHaveLength(19);
    expect(socket.isPaused).toBe(true);
    for (const each of begun.slice(3)) connection.remove(each);
    vi.advanceTimersByTime(0);
    for (const each of begun.slice(19)) connection.remove(each);
    vi.advanceTimersByTime(0);
    expect(begun).toHaveLength(40);
    expect(socket.isPaused).toBe(false);
  });

  it('is closed when its peer reads nothing for the time, however many requests it sends meanwhile', () => {
    const socket = fakeSocket();
    const connection = new Connections(UNREAD_MS).of(socket);
    const reply = (): void => {
      const each = exchange();
      connection.add(each, () => connection.replied(each));
    };
    reply();
    for (let at = 0; at < 9; at++) {
      vi.advanceTimersByTime(UNREAD_MS / 10);
      reply();
    }
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(UNREAD_MS / 10);
    expect(socket.destroyed).toBe(true);
  });

  it('has its time anew with each part that its peer reads', () => {
    const socket = fakeSocket();
    const connection = new Connections(UNREAD_MS).of(socket);
    const each = exchange();
    connection.add(each, () => connection.replied(each));
    for (let at = 0; at < 5; at++) {
      vi.advanceTimersByTime(UNREAD_MS - 1);
      connection.wasRead();
    }
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(UNREAD_MS);
    expect(socket.destroyed).toBe(true);
  });

  it('stays open while the service still makes its first answer', () => {
    const socket = fakeSocket();
    const connection = new Connections(UNREAD_MS).of(socket);
    const [slow, quick] = [exchange(), exchange()];
    connection.add(slow, () => undefined);
    connection.add(quick, () => connection.replied(quick));
    vi.advanceTimersByTime(UNREAD_MS * 10);
    expect(socket.destroyed).toBe(false);
    connection.replied(slow);
    vi.advanceTimersByTime(UNREAD_MS - 1);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });

  it('that closes leaves its exchanges, and begins none that waited', () => {
    const socket = fakeSocket();
    const connection = new Connections(UNREAD_MS).of(socket);
    const all = Array.from({ length: 20 }, exchange);
    const begun = all.filter((each) => {
      let now = false;
      connection.add(each, () => (now = true));
      return now;
    });
    socket.emit('close');
    expect(all.map(({ isOver }) => isOver)).toEqual(all.map((_, at) => at < 16));
    for (const each of begun) connection.remove(each);
    vi.advanceTimersByTime(0);
    expect(begun).toHaveLength(16);
  });
});

it('all connections together hold some thousand requests that wait: the one that sends more is closed', () => {
  const connections = new Connections(UNREAD_MS);
  const sockets = Array.from({ length: 5 }, fakeSocket);
  for (const socket of sockets) {
    for (let at = 0; at < 1_016 && !socket.destroyed; at++) {
      connections.of(socket).add(exchange(), () => undefined);
    }
  }
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false, true]);
  const other = fakeSocket();
  let begun = false;
  connections.of(other).add(exchange(), () => (begun = true));
  expect(begun).toBe(true);
});
