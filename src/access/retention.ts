import type { OriginRecord } from '../lifecycle/origin-record.ts';
import type { Profile } from '../lifecycle/profile.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** What serves without end is kept this long after anybody last had use for it; each attempt counts anew. */
const OUTLASTS_MS = 30 * DAY_MS;
/** However long the phases of a profile are. */
const MAX_MS = 10 * 365 * DAY_MS;

/**
 * How much longer a record is of use, in ms from `now`; 0 when it is of none.
 *
 * A copy and the start of a failure outlive the answer: a site may go down at any time after, and the phases of the
 * profile are counted from there. An answer without a file is of no use once it is stale.
 */
export function retentionMs(record: OriginRecord, profile: Profile, now: number): number {
  const { answer, copy, failure, site } = record;
  const heldUntil = Math.max(answer?.staleAt ?? -Infinity, failure?.retryAt ?? -Infinity);
  const outlasts = copy !== undefined || failure !== undefined;
  const untilMs = outlasts ? heldUntil - now + lastPhaseMs(profile) + OUTLASTS_MS : heldUntil - now;
  const siteMs = site === undefined ? 0 : site.at + OUTLASTS_MS - now;
  return Math.ceil(Math.min(Math.max(untilMs, siteMs, 0), MAX_MS));
}

/** Where the last phase of an outage begins. */
function lastPhaseMs({ whileUnreachable }: Profile): number {
  return Math.max(0, ...whileUnreachable.map(({ untilMs }) => untilMs ?? 0));
}
