import type { OriginRecord } from '../lifecycle/origin-record.ts';

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
