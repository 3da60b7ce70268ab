import type { Socket } from 'node:net';
import { isPublicAddress } from './addresses.ts';

interface Reached {
  sockets: number;
  requests: number;
  isPublic: boolean | undefined;
}

/**
 * Where the sockets of an agent lead, by origin. undici does not tell which socket an answer came over, so an origin
 * is public when any socket to it is: that can only refuse more. What is known lasts as long as a socket does, or a
 * request that may have gone over it.
 */
export class ReachedOrigins {
  readonly #origins = new Map<string, Reached>();

  /** A request to `origin` begins. */
  begin(origin: string): void {
    this.#entry(origin).requests++;
  }

  /** It has been answered, or never will be. */
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

  /** `undefined` when nothing has been connected to. */
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
