import type { OriginRecord } from './origin-record.ts';
import { ROBOTS_PATH } from '../url/index.ts';

/** The robots.txt answer that a decision stands on. All times are epoch milliseconds. */
export interface RobotsSource {
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** URL of the last hop. */
  readonly finalUrl: string;
  /** Redirects followed. */
  readonly hops: number;
  /** Status of the last hop; absent when no response arrived. */
  readonly status?: number;
  /** Error code of the last attempt when it failed (`ENOTFOUND`, `ERR_ROBOTS_DEADLINE`, …). */
  readonly error?: string;
  readonly fetchedAt?: number;
  readonly staleAt?: number;
  readonly source: 'memory' | 'store' | 'network' | 'override';
}

/** What decisions by a record rest on: its answer, or its failure. */
export function sourceOf(
  record: OriginRecord,
  source: RobotsSource['source'],
  answerHolds: boolean,
): RobotsSource {
  const { answer, copy } = record;
  const failure = answerHolds ? undefined : record.failure;
  const url = record.origin + ROBOTS_PATH;
  const staleAt = answer === undefined ? {} : { staleAt: answer.staleAt };
  const fetchedAt = answer?.fetchedAt ?? copy?.fetchedAt;
  const last = failure ?? answer;
  return {
    url,
    finalUrl: last?.finalUrl ?? url,
    hops: last?.hops ?? 0,
    ...(last?.status === undefined ? {} : { status: last.status }),
    ...(failure === undefined ? {} : { error: failure.error }),
    ...(fetchedAt === undefined ? {} : { fetchedAt }),
    ...staleAt,
    source,
  };
}
