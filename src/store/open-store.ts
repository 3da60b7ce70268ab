import type { Clock } from '../base/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import type { RecordCodec } from './record/record-codec.ts';
import { namespaceKey } from './store-key.ts';
import type { RobotsStore } from './store.ts';
import type { StoreEvent } from './store-event.ts';
import { StoredOrigins } from './stored-origins.ts';

/** The settings of a client that concern its store. */
export interface StoreSettings {
  readonly store: RobotsStore;
  readonly storeDeadlineMs: number;
  readonly onStoreEvent: (event: StoreEvent) => void;
  /** The client's own agent. Requests carry the first token. */
  readonly tokens: readonly [string, ...string[]];
  readonly addressPolicy: string;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A lease lasts longer than the attempt, but not much: its holder may have died. */
const LEASE_MARGIN_MS = 2_000;
const MAX_LEASE_MS = 30_000;

/** The origins in a client's store. */
export function openStore(
  settings: StoreSettings,
  codec: RecordCodec,
  profileOf: (origin: string) => Profile,
): StoredOrigins {
  const { store, storeDeadlineMs, onStoreEvent, tokens, addressPolicy, deadlineMs, clock, random } = settings;
  return new StoredOrigins({
    store,
    deadlineMs: storeDeadlineMs,
    leaseMs: Math.min(deadlineMs + LEASE_MARGIN_MS, MAX_LEASE_MS),
    namespace: namespaceKey({ token: tokens[0], addressPolicy }),
    codec,
    clock,
    random,
    profileOf,
    onEvent: onStoreEvent,
  });
}
