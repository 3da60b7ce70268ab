import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

/** Answers a request. It returns a reply, or `undefined` when it wrote the response itself. */
export type Handler = (exchange: Exchange) => Promise<Reply | undefined> | Reply;

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
