import type { Clock } from '../base/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import type { RecordCodec } from './record/record-codec.ts';
import { askerKey } from './store-key.ts';
import type { RobotsStore, StoreEvent } from './store.ts';
import { StoredOrigins } from './stored-origins.ts';

/** The part of a client's settings that concerns its store. */
export interface StoreSettings {
  readonly store: RobotsStore | undefined;
  readonly storeDeadlineMs: number;
  readonly onStoreEvent: (event: StoreEvent) => void;
  /** The client's own agent. The first token is the one that its requests carry. */
  readonly tokens: readonly [string, ...string[]];
  readonly addressPolicy: string;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A lease outlives the attempt it is held for, but not for long: its holder may have died. */
const LEASE_MARGIN_MS = 2_000;
const MAX_LEASE_MS = 30_000;

/** The origins in the store of a client, if it has one. */
export function openStore(
  settings: StoreSettings,
  codec: RecordCodec,
  profileOf: (origin: string) => Profile,
): StoredOrigins | undefined {
  const { store, storeDeadlineMs, onStoreEvent, tokens, addressPolicy, deadlineMs, clock, random } = settings;
  if (store === undefined) return undefined;
  return new StoredOrigins({
    store,
    deadlineMs: storeDeadlineMs,
    leaseMs: Math.min(deadlineMs + LEASE_MARGIN_MS, MAX_LEASE_MS),
    asker: askerKey({ token: tokens[0], addressPolicy }),
    codec,
    clock,
    random,
    profileOf,
    onEvent: onStoreEvent,
  });
}
