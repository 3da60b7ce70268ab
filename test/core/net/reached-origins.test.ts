import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ConnectedAddresses } from '../../../src/core/net/connectors.ts';

const ORIGIN = 'http://example.com';

/** A socket that says it leads to `address`, and closes when it is told to. */
function socketTo(address: string | undefined): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
}

/** Ends when the socket has told everybody. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.destroy();
  });
}

describe('the addresses that the sockets of an origin reach', () => {
  it('are known as long as a socket, or a request over it, lasts', async () => {
    const reached = new ConnectedAddresses();
    const socket = socketTo('10.0.0.1');
    reached.begin(ORIGIN);
    reached.connected(ORIGIN, socket);
    reached.end(ORIGIN);
    expect(reached.isPublic(ORIGIN)).toBe(false);
    reached.begin(ORIGIN);
    await closed(socket);
    expect(reached.isPublic(ORIGIN)).toBe(false);
    reached.end(ORIGIN);
    expect(reached.isPublic(ORIGIN)).toBe(undefined);
  });

  it('are private once the public sockets are closed', async () => {
    const reached = new ConnectedAddresses();
    const socket = socketTo('93.184.215.14');
    reached.begin(ORIGIN);
    reached.connected(ORIGIN, socket);
    await closed(socket);
    reached.connected(ORIGIN, socketTo('10.0.0.1'));
    expect(reached.isPublic(ORIGIN)).toBe(false);
  });
});
