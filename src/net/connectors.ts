import { buildConnector } from 'undici';
import { RobotsAddressRefusedError } from '../base/index.ts';
import { isPublicHost, specialPurposeOf } from './addresses.ts';
import { publicOnlyLookup, refusedHost } from './public-lookup.ts';
import type { ReachedOrigins } from './reached-origins.ts';
import type { LookupFunction } from 'node:net';

/** What opens the sockets of an undici agent. */
export type Connector = buildConnector.connector;
/** undici's `buildConnector`, or what stands for it in a test. */
export type BuildConnector = (options: buildConnector.BuildOptions) => Connector;

/**
 * Opens sockets to public addresses alone. undici keeps sockets alive, and a request that goes over one is not looked
 * up again; so what must be public goes through agents of its own, which never held a socket to a private address,
 * whoever asked for it.
 */
export function publicOnlyConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction,
  build: BuildConnector = buildConnector,
): Connector {
  const connect = build({ ...options, lookup: publicOnlyLookup(lookup) });
  return (target, callback) => {
    if (isPublicHost(target.hostname) === false) {
      // Not in undici's own turn: it is not ready for the answer yet.
      process.nextTick(callback, refusedHost(target.hostname), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      // The addresses were chosen by the lookup; this holds for whatever else may lead a socket astray.
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

/** Opens sockets to any address, and notes where names have led. */
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
      // A literal address tells by itself.
      if (isPublicHost(target.hostname) === undefined)
        reached.connected(`${target.protocol}//${target.host ?? target.hostname}`, socket);
      callback(null, socket);
    });
  };
}
