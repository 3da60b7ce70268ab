/**
 * What happens inside, told through `node:diagnostics_channel`. Messages are made only while somebody has subscribed.
 */
import { channel } from 'node:diagnostics_channel';
import type { Outcome } from './access/index.ts';
import type { StoreEvent } from './cache/store-event.ts';
import type { Decision, OriginState } from './decision.ts';

/** `canfetch:fetch`: an attempt to fetch a robots.txt has ended. */
export interface FetchMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** What came of it; its body, if any, is not to be changed. `undefined` when everybody who waited had left. */
  readonly outcome: Outcome | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Whether a copy was known, so that the request could ask for changes only. */
  readonly revalidation: boolean;
}

/** `canfetch:decision`: a question was answered. */
export interface DecisionMessage {
  readonly decision: Decision;
}

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

interface Publisher<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

export const channels: {
  readonly fetch: Publisher<FetchMessage>;
  readonly decision: Publisher<DecisionMessage>;
  readonly cache: Publisher<CacheMessage>;
  readonly policyChange: Publisher<PolicyChangeMessage>;
  /** `canfetch:store`: trouble with the store, or its end. */
  readonly store: Publisher<StoreEvent>;
} = {
  fetch: channel('canfetch:fetch'),
  decision: channel('canfetch:decision'),
  cache: channel('canfetch:cache'),
  policyChange: channel('canfetch:policy-change'),
  store: channel('canfetch:store'),
};
