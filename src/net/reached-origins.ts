import type { Socket } from 'node:net';
import { isPublicAddress } from './addresses.ts';

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
export class ReachedOrigins {
  readonly #origins = new Map<string, Reached>();

  /** Call when a request to `origin` starts. */
  begin(origin: string): void {
    this.#entry(origin).requests++;
  }

  /** Call when the request has been answered, or has failed. */
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
