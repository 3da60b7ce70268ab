import type { OriginRecord } from './origin-record.ts';
import type { Profile } from './profile.ts';

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

/** When the latest attempt ended that a record tells of; -Infinity when it tells of none. */
export function recordedAt({ answer, failure }: OriginRecord): number {
  return Math.max(answer?.fetchedAt ?? -Infinity, failure?.at ?? -Infinity);
}

/**
 * Of two records of one origin the one of the later attempt, with the later of the two site signals: a signal is
 * noted beside a record, whichever attempt that tells of. Of two equally late the first.
 */
export function newest(one: OriginRecord, other: OriginRecord | undefined): OriginRecord {
  if (other === undefined) return one;
  const record = recordedAt(other) > recordedAt(one) ? other : one;
  const site = (other.site?.at ?? -Infinity) > (one.site?.at ?? -Infinity) ? other.site : one.site;
  return site === undefined || site === record.site ? record : { ...record, site };
}

/** Clocks of one fleet differ by some milliseconds, and a record is read as soon as it is written. */
export const CLOCK_SKEW_MS = 500;

/** The latest moment that a record says has passed. */
export function latestTime({ answer, copy, failure, site }: OriginRecord): number {
  return Math.max(
    answer?.fetchedAt ?? -Infinity,
    answer?.kind === 'unavailable' ? answer.since : -Infinity,
    copy?.fetchedAt ?? -Infinity,
    failure?.at ?? -Infinity,
    site?.at ?? -Infinity,
  );
}

/** What a clock a little ahead of ours noted counts from now: else it would be of no use until then. */
export function noLaterThan(record: OriginRecord, now: number): OriginRecord {
  if (latestTime(record) <= now) return record;
  const { answer, copy, failure, site } = record;
  const earlier = (time: number): number => Math.min(time, now);
  return {
    ...record,
    ...(answer === undefined ? {} : { answer: answerNoLaterThan(answer, earlier) }),
    ...(copy === undefined ? {} : { copy: { ...copy, fetchedAt: earlier(copy.fetchedAt) } }),
    ...(failure === undefined
      ? {}
      : { failure: { ...failure, since: earlier(failure.since), at: earlier(failure.at) } }),
    ...(site === undefined ? {} : { site: { ...site, at: earlier(site.at) } }),
  };
}

function answerNoLaterThan(
  answer: NonNullable<OriginRecord['answer']>,
  earlier: (time: number) => number,
): NonNullable<OriginRecord['answer']> {
  const fetchedAt = earlier(answer.fetchedAt);
  return answer.kind === 'unavailable'
    ? { ...answer, fetchedAt, since: earlier(answer.since) }
    : { ...answer, fetchedAt };
}
