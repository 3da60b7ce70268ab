/** The channels of `node:diagnostics_channel`. A message is made only while its channel has a subscriber. */
import { channel, type Publisher } from '../base/index.ts';
import type { Outcome } from '../lifecycle/index.ts';
import { cacheChannels, type CacheMessage } from '../cache/index.ts';
import { storeChannels } from '../store/index.ts';
import { type Decision, decisionChannels } from '../decision/index.ts';

export type {
  DecisionMessage,
  DeferralMessage,
  IgnoredMessage,
  UsageRefusalMessage,
} from '../decision/index.ts';
export type { CacheMessage, PolicyChangeMessage } from '../cache/index.ts';

/** `canfetch:fetch`: an attempt to fetch a robots.txt has ended. */
export interface FetchMessage {
  readonly origin: string;
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** The outcome. Do not change its body. `undefined` when all waiting callers had left. */
  readonly outcome: Outcome | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Whether the request was conditional. */
  readonly revalidation: boolean;
}

/** All channels: those of the cache and of the store, those about decisions, and that of the client. */
export const channels: {
  readonly fetch: Publisher<FetchMessage>;
} & typeof cacheChannels &
  typeof storeChannels &
  typeof decisionChannels = {
  fetch: channel('canfetch:fetch'),
  ...decisionChannels,
  ...cacheChannels,
  ...storeChannels,
};

export function publishDecision(decision: Decision, client: object): Decision {
  if (channels.decision.hasSubscribers) channels.decision.publish({ decision, client });
  return decision;
}

export function publishCacheEvent(origin: string, event: CacheMessage['event']): void {
  if (channels.cache.hasSubscribers) channels.cache.publish({ origin, event });
}
