import { buildConnector } from 'undici';
import { RobotsAddressRefusedError } from '../base/index.ts';
import { isPublicHost, specialPurposeOf } from './addresses.ts';
import { refusedHost } from './hop-addresses.ts';
import { publicOnlyLookup } from './public-lookup.ts';
import type { ReachedOrigins } from './reached-origins.ts';
import type { LookupFunction } from 'node:net';

/** Opens the sockets of an undici agent. */
export type Connector = buildConnector.connector;
/** undici's `buildConnector`, or its replacement in a test. */
export type BuildConnector = (options: buildConnector.BuildOptions) => Connector;

/**
 * Opens sockets to public addresses only. undici reuses kept-alive sockets without another lookup. So requests that
 * must go to public addresses have agents of their own, which never hold a socket to another address.
 */
export function publicOnlyConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction,
  build: BuildConnector = buildConnector,
): Connector {
  const connect = build({ ...options, lookup: publicOnlyLookup(lookup) });
  return (target, callback) => {
    if (isPublicHost(target.hostname) === false) {
      // undici cannot take the callback in the same turn.
      process.nextTick(callback, refusedHost(target.hostname), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      // The lookup has chosen public addresses. This check covers all other ways to a wrong address.
      const address = socket.remoteAddress ?? '';
      const purpose = specialPurposeOf(address);
      if (purpose === undefined) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(new RobotsAddressRefusedError(target.hostname, purpose, address), null);
    });
  };
}

/** Opens sockets to any address, and records which addresses the names led to. */
export function notingConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction,
  reached: ReachedOrigins,
  build: BuildConnector = buildConnector,
): Connector {
  const connect = build({ ...options, lookup });
  return (target, callback) => {
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      // A literal address needs no record.
      if (isPublicHost(target.hostname) === undefined)
        reached.connected(`${target.protocol}//${target.host ?? target.hostname}`, socket);
      callback(null, socket);
    });
  };
}
