import { channel } from 'node:diagnostics_channel';
import type { OriginState } from '../lifecycle/index.ts';
import type { StoreEvent } from './store-event.ts';

/** `canfetch:cache`: what memory did about an origin. */
export interface CacheMessage {
  readonly origin: string;
  /**
   * - `hit`: memory answered.
   * - `miss`: the question has to wait.
   * - `refresh`: memory answered, and a new answer is fetched ahead of its end.
   * - `evict`: the origin was forgotten to make room.
   */
  readonly event: 'hit' | 'miss' | 'refresh' | 'evict';
}

/** `canfetch:policy-change`: other rules, or another state, are in force for an origin than before. */
export interface PolicyChangeMessage {
  readonly origin: string;
  /** `unknown` when nothing was known before. */
  readonly before: OriginState;
  readonly after: OriginState;
  /** Whether the octets of the file changed. */
  readonly fileChanged: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What is told through one channel of `node:diagnostics_channel`. */
export interface Publisher<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

/** The channels on which this room tells what it does. */
export const cacheChannels: {
  readonly cache: Publisher<CacheMessage>;
  readonly policyChange: Publisher<PolicyChangeMessage>;
  /** `canfetch:store`: trouble with the store, or its end. */
  readonly store: Publisher<StoreEvent>;
} = {
  cache: channel('canfetch:cache'),
  policyChange: channel('canfetch:policy-change'),
  store: channel('canfetch:store'),
};
