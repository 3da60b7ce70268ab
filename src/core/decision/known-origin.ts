import { omitUndefined } from '../base/index.ts';
import {
  type OriginRecord,
  type Profile,
  refreshAheadAt,
  type Suspect,
  type UnavailableReason,
} from '../lifecycle/index.ts';
import { parseRobots, type RobotsFile } from '../rules/index.ts';
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
  return {
    url,
    finalUrl: last?.finalUrl ?? url,
    hops: last?.hops ?? 0,
    ...omitUndefined({
      status: last?.status,
      error: failure?.error,
      unavailable,
      fetchedAt,
      staleAt: answer?.staleAt,
      sha256,
      truncated: truncated || undefined,
      suspect,
    }),
    source,
  };
}

/** The record of an origin, with data derived from it once, for decisions. A new record makes a new object. */
export class KnownOrigin {
  readonly record: OriginRecord;
  readonly profile: Profile;
  #parsed: RobotsFile | undefined;
  #fromMemory: RobotsSource | undefined;
  #answerHeld = false;
  #copyHeld = false;
  /** Start and end of the time in which fresh rules are in force and no refresh is due. */
  readonly #freshFrom: number;
  readonly #freshUntil: number;

  /** @param previous The state before the record changed. Its parsed file is kept if the body is the same. */
  constructor(record: OriginRecord, profile: Profile, previous?: KnownOrigin) {
    this.record = record;
    this.profile = profile;
    const { answer } = record;
    const isFresh = answer?.kind === 'rules' && record.copy !== undefined && record.failure === undefined;
    this.#freshFrom = isFresh ? answer.fetchedAt : 0;
    this.#freshUntil = isFresh ? refreshAheadAt(answer) : 0;
    // A 304, or a failure beside a good copy, does not change the file, so its compiled rules are kept.
    if (
      previous !== undefined &&
      previous.record.copy?.body === record.copy?.body &&
      previous.profile === profile
    ) {
      this.#parsed = previous.#parsed;
    }
  }

  /** The file of the good copy, parsed on first use. */
  get file(): RobotsFile | undefined {
    return this.#parsed ?? this.#parse();
  }

  /** {@link file} if it was parsed before. */
  get parsed(): RobotsFile | undefined {
    return this.#parsed;
  }

  /** Whether fresh rules are in force at `now` and no refresh is due. This is the usual case, and implies a file. */
  isFreshAndNotDue(now: number): boolean {
    return now < this.#freshUntil && now >= this.#freshFrom;
  }

  /** Whether the latest response is in force at `now`, regardless of later failures. */
  isResponseInForce(now: number): boolean {
    const { answer } = this.record;
    return answer !== undefined && now >= answer.fetchedAt && now < answer.staleAt;
  }

  /**
   * The source of decisions: the response, or, after its lifetime, the failure that followed it. From memory, all
   * decisions share one object until it changes with time.
   *
   * @param isByCopy Whether the rules of the copy decide.
   */
  source(source: RobotsSource['source'], isResponseInForce: boolean, isByCopy: boolean): RobotsSource {
    if (source !== 'memory') return sourceOf(this.record, source, isResponseInForce, isByCopy);
    const held = this.#fromMemory;
    if (held !== undefined && this.#answerHeld === isResponseInForce && this.#copyHeld === isByCopy)
      return held;
    this.#answerHeld = isResponseInForce;
    this.#copyHeld = isByCopy;
    return (this.#fromMemory = sourceOf(this.record, source, isResponseInForce, isByCopy));
  }

  #parse(): RobotsFile | undefined {
    const { copy } = this.record;
    if (copy === undefined) return undefined;
    return (this.#parsed = parseRobots(copy.body, { dialect: this.profile.dialect }));
  }
}
