import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

/** Answers a request: with a reply, or by itself, in a stream. */
export type Handler = (exchange: Exchange) => Promise<Reply | undefined> | Reply;

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
