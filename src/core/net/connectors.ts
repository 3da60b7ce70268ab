import { buildConnector } from 'undici';
import { RobotsAddressRefusedError } from '../base/index.ts';
import { isPublicAddress, isPublicHost, specialPurposeOf } from './addresses.ts';
import { refusedHost } from './hop-addresses.ts';
import { publicOnlyLookup } from './public-lookup.ts';
import type { LookupFunction, Socket } from 'node:net';

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
      // undici cannot handle a callback in the same turn.
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

/** Opens sockets to any address, and records the address of each connection. */
export function recordingConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction,
  reached: ConnectedAddresses,
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

interface Reached {
  sockets: number;
  requests: number;
  isPublic: boolean | undefined;
}

/**
 * Records, by origin, whether the sockets of an agent lead to public addresses. undici does not report which socket a
 * response came over, so an origin is public when any of its sockets is; this can only refuse more. An entry lasts as
 * long as one of its sockets, or a request that may have used one.
 */
export class ConnectedAddresses {
  readonly #origins = new Map<string, Reached>();

  /** Call when a request to `origin` starts. */
  begin(origin: string): void {
    this.#entry(origin).requests++;
  }

  /** Call when the response has come, or the request has failed. */
  end(origin: string): void {
    const entry = this.#entry(origin);
    entry.requests--;
    this.#forgetIfOver(origin, entry);
  }

  connected(origin: string, socket: Socket): void {
    const entry = this.#entry(origin);
    const isPublic = socket.remoteAddress === undefined || isPublicAddress(socket.remoteAddress);
    entry.isPublic = isPublic || (entry.isPublic === true && entry.sockets > 0);
    entry.sockets++;
    socket.once('close', () => {
      entry.sockets--;
      this.#forgetIfOver(origin, entry);
    });
  }

  /** `undefined` when no connection has been made. */
  isPublic(origin: string): boolean | undefined {
    return this.#origins.get(origin)?.isPublic;
  }

  #entry(origin: string): Reached {
    let entry = this.#origins.get(origin);
    if (entry === undefined) {
      entry = { sockets: 0, requests: 0, isPublic: undefined };
      this.#origins.set(origin, entry);
    }
    return entry;
  }

  #forgetIfOver(origin: string, entry: Reached): void {
    if (entry.sockets === 0 && entry.requests === 0) this.#origins.delete(origin);
  }
}
