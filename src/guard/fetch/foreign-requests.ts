import { type RequestLike, withoutRequest } from './request.ts';
import type { ResponseLike } from './response.ts';

/** The wrapped fetch, with the types of the Fetch standard. */
export type Send = (input: string | RequestLike, init?: object) => Promise<ResponseLike>;

/**
 * A fetch accepts Requests of its own realm only. It converts any other to the text "[object Request]", which is no
 * URL. So foreign Requests are passed as URL and init.
 */
export function acceptingForeignRequests(fetch: Send): Send {
  const foreign = new WeakSet<object>();
  const sendRequest = async (request: RequestLike, init: object): Promise<ResponseLike> => {
    const realm: object = Object.getPrototypeOf(request);
    if (!foreign.has(realm)) {
      try {
        return await fetch(request, init);
      } catch (error) {
        if (!isUnparsable(error, String(request))) throw error;
        foreign.add(realm);
      }
    }
    return fetch(...withoutRequest(request, init));
  };
  return (input, init = {}) => (typeof input === 'string' ? fetch(input, init) : sendRequest(input, init));
}

function isUnparsable(error: unknown, text: string): boolean {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return false;
  return Reflect.get(error.cause, 'code') === 'ERR_INVALID_URL' && Reflect.get(error.cause, 'input') === text;
}
