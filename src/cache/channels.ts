import { channel, type Publisher } from '../base/index.ts';
import type { OriginState } from '../lifecycle/index.ts';

/** `canfetch:cache`: a question met the memory cache. */
export interface CacheMessage {
  readonly origin: string;
  /**
   * - `hit`: answered from memory.
   * - `miss`: the question waits.
   * - `refresh`: answered from memory, and a refresh ahead was started.
   * - `evict`: the origin was evicted to make room.
   */
  readonly event: 'hit' | 'miss' | 'refresh' | 'evict';
}

/** `canfetch:policy-change`: the rules, or the state, of an origin changed. */
export interface PolicyChangeMessage {
  readonly origin: string;
  /** `unknown` when there was no record. */
  readonly before: OriginState;
  readonly after: OriginState;
  /** Whether the octets of the file changed. */
  readonly fileChanged: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The channels of this room. The client publishes on `cache`, too: what a question met. */
export const cacheChannels: {
  readonly cache: Publisher<CacheMessage>;
  readonly policyChange: Publisher<PolicyChangeMessage>;
} = { cache: channel('canfetch:cache'), policyChange: channel('canfetch:policy-change') };
