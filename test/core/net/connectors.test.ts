import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  type BuildConnector,
  type Connector,
  publicOnlyConnector,
} from '../../../src/core/net/connectors.ts';
import { lookupIn, PUBLIC } from '../../support/internet.ts';

/** Connects at once, to where it likes. */
function straying(address: string | undefined): {
  readonly build: BuildConnector;
  readonly sockets: Socket[];
} {
  const sockets: Socket[] = [];
  return {
    sockets,
    build: () => (_target, callback) => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
      sockets.push(socket);
      callback(null, socket);
    },
  };
}

/** What came of connecting: the socket or the error. */
function connected(connect: Connector, hostname: string): Promise<unknown> {
  return new Promise((resolve) =>
    connect({ hostname, host: hostname, protocol: 'http:', port: '80' }, (error, socket) =>
      resolve(error ?? socket),
    ),
  );
}

describe('a connector to public addresses', () => {
  it.each(['127.0.0.1', '10.0.0.1', 'fd00::1', undefined])(
    'gives up a socket that leads to %s all the same',
    async (address) => {
      const { build, sockets } = straying(address);
      const connect = publicOnlyConnector({}, lookupIn({}), build);
      expect(await connected(connect, 'a.example')).toMatchObject({ code: 'ERR_ROBOTS_ADDRESS_REFUSED' });
      expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
    },
  );

  it('passes on a socket to a public address', async () => {
    const { build, sockets } = straying(PUBLIC);
    const connect = publicOnlyConnector({}, lookupIn({}), build);
    expect(await connected(connect, 'a.example')).toBe(sockets[0]);
    expect(await connected(connect, PUBLIC)).toBe(sockets[1]);
    for (const socket of sockets) socket.destroy();
  });

  it('does not connect to a literal private address', async () => {
    const { build, sockets } = straying(PUBLIC);
    const connect = publicOnlyConnector({}, lookupIn({}), build);
    for (const hostname of ['127.0.0.1', '::1', '::ffff:7f00:1', 'localhost', 'a.localhost.']) {
      expect(await connected(connect, hostname)).toMatchObject({
        code: 'ERR_ROBOTS_ADDRESS_REFUSED',
        host: hostname,
      });
    }
    expect(sockets).toEqual([]);
  });
});
