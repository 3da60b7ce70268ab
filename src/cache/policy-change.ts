import { type OriginRecord, type OriginState, type Profile, stateOf } from '../lifecycle/index.ts';
import { cacheChannels } from './channels.ts';
import type { CacheEntry } from './entry.ts';

/** Publishes a change of the rules, or of the state, of an origin. */
export function publishPolicyChange(entry: CacheEntry, previous: CacheEntry | undefined, at: number): void {
  const { record, profile } = entry;
  const before = stateInForce(previous?.record, profile, at);
  const after = stateOf(record, profile, at).state;
  // A record that needs a refresh before its use changes nothing yet.
  if (after === 'unknown') return;
  const fileChanged = !sameOctets(previous?.record.copy?.body, record.copy?.body);
  if (before === after && !fileChanged) return;
  cacheChannels.policyChange.publish({ origin: record.origin, before, after, fileChanged, at });
}

/** The state of a record; if its answer is stale, the state it had until then. */
function stateInForce(record: OriginRecord | undefined, profile: Profile, now: number): OriginState {
  const { state } = stateOf(record, profile, now);
  const answer = record?.answer;
  return state === 'unknown' && answer !== undefined
    ? stateOf(record, profile, answer.fetchedAt).state
    : state;
}

function sameOctets(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((octet, index) => octet === other[index]);
}
