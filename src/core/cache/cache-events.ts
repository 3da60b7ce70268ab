import { channel, type ClientMessage, type Publisher } from '../base/index.ts';
import {
  type OriginRecord,
  type OriginState,
  type Outcome,
  type Profile,
  stateOf,
} from '../lifecycle/index.ts';
import type { CacheEntry } from './entry.ts';

/** `canfetch:cache`: what memory did for an origin. */
export interface CacheMessage extends ClientMessage {
  readonly origin: string;
  /**
   * - `hit`: memory decided a question.
   * - `miss`: a question had to wait, for the store or for a request.
   * - `refresh`: a request was started in the background, ahead of the end of a lifetime.
   * - `evict`: the origin was dropped for another one.
   */
  readonly event: 'hit' | 'miss' | 'refresh' | 'evict';
}

/** `canfetch:policy-change`: the rules, or the state, of an origin changed. */
export interface PolicyChangeMessage extends ClientMessage {
  readonly origin: string;
  /** The state before; `unknown` if the origin was not in memory. */
  readonly before: OriginState;
  readonly after: OriginState;
  /** Whether the bytes of robots.txt differ. */
  readonly fileChanged: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const cacheChannels: {
  readonly cache: Publisher<CacheMessage>;
  readonly policyChange: Publisher<PolicyChangeMessage>;
} = {
  cache: channel('canfetch:cache'),
  policyChange: channel('canfetch:policy-change'),
};

/** What happened to the record of an origin, for the evidence. */
export type RecordChange =
  | {
      readonly type: 'attempt';
      readonly origin: string;
      readonly outcome: Outcome;
      /** The record after it. */
      readonly record: OriginRecord;
      readonly profile: Profile;
      /** The time at which the record was made. */
      readonly at: number;
    }
  /** A record from a store is in force. */
  | { readonly type: 'restored'; readonly record: OriginRecord; readonly profile: Profile }
  /** `report`, or a guard, said whether the site is reachable. */
  | { readonly type: 'signal'; readonly origin: string; readonly reachable: boolean; readonly at: number }
  /** The clock went back: the pause after a failure restarts. */
  | { readonly type: 'backoff-restarted'; readonly before: OriginRecord; readonly after: OriginRecord }
  | { readonly type: 'removed'; readonly origin: string; readonly reason: 'invalidated' | 'evicted' };

/**
 * The events of origins in memory. Subscribers may call the client, so nothing is published during an update:
 * events wait here, in order, until {@link publish} is called after the update.
 */
export class CacheEvents {
  readonly #waiting: (() => void)[] = [];
  readonly #client: object;
  readonly #onRecordChange: ((change: RecordChange) => void) | undefined;

  constructor(client: object, onRecordChange?: (change: RecordChange) => void) {
    this.#client = client;
    this.#onRecordChange = onRecordChange;
  }

  add(origin: string, event: CacheMessage['event']): void {
    const { cache } = cacheChannels;
    if (event === 'evict') this.addRecordChange({ type: 'removed', origin, reason: 'evicted' });
    if (!cache.hasSubscribers) return;
    const message = { origin, event, client: this.#client };
    this.#waiting.push(() => cache.publish(message));
  }

  /** Adds a change of the rules, or of the state, of an origin, if there is one. */
  addChange(entry: CacheEntry, previous: CacheEntry | undefined, at: number): void {
    const { policyChange } = cacheChannels;
    if (!policyChange.hasSubscribers) return;
    const change = changeOf(entry, previous, at);
    if (change === undefined) return;
    const message = { ...change, client: this.#client };
    this.#waiting.push(() => policyChange.publish(message));
  }

  addRecordChange(change: RecordChange): void {
    const listener = this.#onRecordChange;
    if (listener !== undefined) this.#waiting.push(() => listener(change));
  }

  /** Publishes the waiting events. A subscriber that calls the client gets the rest before the events of its own call. */
  publish(): void {
    if (this.#waiting.length === 0) return;
    for (let next; (next = this.#waiting.shift()) !== undefined;) next();
  }
}

function changeOf(
  { record, profile }: CacheEntry,
  previous: CacheEntry | undefined,
  at: number,
): Omit<PolicyChangeMessage, 'client'> | undefined {
  const before = stateInForce(previous?.record, profile, at);
  const after = stateOf(record, profile, at).state;
  // A record that needs a refresh before its use changes nothing yet.
  if (after === 'unknown') return undefined;
  const fileChanged = !sameBytes(previous?.record.copy?.body, record.copy?.body);
  if (before === after && !fileChanged) return undefined;
  return { origin: record.origin, before, after, fileChanged, at };
}

/** The state of a record; if its response is stale, the state until then. */
function stateInForce(record: OriginRecord | undefined, profile: Profile, now: number): OriginState {
  const { state } = stateOf(record, profile, now);
  const answer = record?.answer;
  return state === 'unknown' && answer !== undefined
    ? stateOf(record, profile, answer.fetchedAt).state
    : state;
}

function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
