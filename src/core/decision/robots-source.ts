import { omitUndefined } from '../base/index.ts';
import type { OriginRecord, Suspect, UnavailableReason } from '../lifecycle/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';

/** Where a response can come from. */
export const ROBOTS_SOURCES = ['memory', 'store', 'network', 'override'] as const;

/** The robots.txt response that a decision rests on. All times are epoch milliseconds. */
export interface RobotsSource {
  /** `<origin>/robots.txt`. */
  readonly url: string;
  /** URL of the last request, after redirects. */
  readonly finalUrl: string;
  /** Number of redirects followed. */
  readonly hops: number;
  /** Status of the last response; absent when none arrived. */
  readonly status?: number;
  /** Error code of the last attempt if it failed (`ENOTFOUND`, `ERR_ROBOTS_DEADLINE`, …). */
  readonly error?: string;
  /** The address that refused the connection; of an error without a code of its own its message. */
  readonly detail?: string;
  /** The reason why the response counts as unavailable, when that is not its status. */
  readonly unavailable?: UnavailableReason;
  readonly fetchedAt?: number;
  readonly staleAt?: number;
  /**
   * SHA-256 of the bytes whose rules decide, in hex: the output of `sha256sum` for the decoded file. For a
   * truncated file: of the whole lines up to the limit.
   */
  readonly sha256?: string;
  /** Set when bytes past `maxBodyBytes` were not read. Rules in them do not count. */
  readonly truncated?: true;
  /** Set when the response does not look like a robots.txt. Its rules, or its status, still apply. */
  readonly suspect?: Suspect;
  readonly source: (typeof ROBOTS_SOURCES)[number];
}

/**
 * The source of a decision: the record's response, or its failure.
 *
 * @param responseHolds Whether the response is in force, even if attempts have failed since.
 * @param copyHolds Whether the rules of the copy decide.
 */
export function sourceOf(
  record: OriginRecord,
  source: RobotsSource['source'],
  responseHolds: boolean,
  copyHolds: boolean,
): RobotsSource {
  const { answer, copy } = record;
  const failure = responseHolds ? undefined : record.failure;
  const url = record.origin + ROBOTS_PATH;
  const fetchedAt = answer?.fetchedAt ?? copy?.fetchedAt;
  const last = failure ?? answer;
  const suspect = failure?.suspect ?? (copyHolds ? copy?.suspect : answer?.suspect);
  const truncated = copyHolds && copy?.truncated === true;
  const sha256 = copyHolds ? copy?.sha256 : undefined;
  const unavailable = failure === undefined && answer?.kind === 'unavailable' ? answer.reason : undefined;
  if (
    failure === undefined &&
    answer !== undefined &&
    !truncated &&
    suspect === undefined &&
    unavailable === undefined
  ) {
    // The usual case, and the object is kept: a literal takes half the memory of spreads.
    const { finalUrl, hops, status, fetchedAt, staleAt } = answer;
    const same = url === finalUrl ? finalUrl : url;
    return sha256 === undefined
      ? { url: same, finalUrl, hops, status, fetchedAt, staleAt, source }
      : { url: same, finalUrl, hops, status, fetchedAt, staleAt, sha256, source };
  }
  const described: RobotsSource = {
    url,
    finalUrl: last?.finalUrl ?? url,
    hops: last?.hops ?? 0,
    ...omitUndefined({
      status: last?.status,
      error: failure?.error,
      detail: failure?.detail,
      unavailable,
      fetchedAt,
      staleAt: answer?.staleAt,
      sha256,
      truncated: truncated || undefined,
      suspect,
    }),
    source,
  };
  // JSON and logs do not have it.
  return failure?.cause === undefined
    ? described
    : Object.defineProperty(described, 'cause', { value: failure.cause });
}

/** The error that code of the caller, such as a `fetch`, threw for a request. */
export function thrownCause(robots: RobotsSource): unknown {
  return Reflect.get(robots, 'cause');
}

/** The source of a decision about an origin that was not fetched. */
export function neverFetched(origin: string): RobotsSource {
  const url = origin + ROBOTS_PATH;
  return { url, finalUrl: url, hops: 0, source: 'memory' };
}

/** The source of a decision about an `ftp:` origin without a transport. */
export function noFtpTransport(origin: string): RobotsSource {
  return { ...neverFetched(origin), error: 'ERR_ROBOTS_NO_FTP_TRANSPORT' };
}

/** The source of a decision by the caller's text, of which the digest is, or by the caller's verdict. */
export function overridden(origin: string, sha256?: string): RobotsSource {
  return { ...neverFetched(origin), ...omitUndefined({ sha256 }), source: 'override' };
}
