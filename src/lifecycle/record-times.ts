import type { OriginRecord } from './origin-record.ts';

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
