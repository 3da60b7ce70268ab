import { CacheEntry } from '../cache/index.ts';
import type { OverriddenOrigin } from '../decision/index.ts';
import {
  JITTER_SHARE,
  nextRecord,
  type OriginRecord,
  type Outcome,
  type Profile,
  withSiteSignal,
} from '../lifecycle/index.ts';
import { parseRobots } from '../rules/index.ts';
import { ROBOTS_PATH } from '../url/index.ts';
import type { AttemptEntry, DecisionEntry, OverrideEntry, SignalEntry, StoredEntry } from './entry.ts';

/** The octets of a digest; `undefined` when the evidence does not have them. */
export type BodyOf = (sha256: string | undefined) => Uint8Array | undefined;

/** One origin of the evidence, under one profile: what is known of it after the entries so far. */
export class RecordedOrigin {
  readonly origin: string;
  readonly profile: Profile;
  override: OverriddenOrigin | undefined;
  #entry: CacheEntry | undefined;
  /** What was in memory before the origin was forgotten. An attempt that was under way goes on from there. */
  #forgotten: OriginRecord | undefined;
  /** The latest entries that were in memory, the latest first, each with the number of the first entry of evidence behind it. */
  readonly #versions: Version[] = [];
  /** The latest entries that were never in memory, by the number of the attempt. */
  readonly #detached = new Map<number, CacheEntry>();

  constructor(origin: string, profile: Profile) {
    this.origin = origin;
    this.profile = profile;
  }

  /** What decides a recorded question. */
  entryFor({ after, attempt }: DecisionEntry): CacheEntry | undefined {
    if (attempt !== undefined) return this.#detached.get(attempt);
    return after === undefined ? this.#entry : this.#versions.find(({ from }) => from < after)?.entry;
  }

  /**
   * Takes in the end of an attempt.
   *
   * @param number The number of the entry within its run.
   * @param random The number that the jitter is made of; by default the one that the recorded times tell.
   * @returns the record after it, and that number: `undefined` when no number makes the recorded times.
   */
  attempted(
    recorded: AttemptEntry,
    outcome: Outcome,
    number: number,
    random?: number,
  ): { readonly record: OriginRecord; readonly random: number | undefined } {
    const { origin, profile } = this;
    const { at: now, id, resumed, detached } = recorded;
    const previous = resumed === true ? this.#forgotten : this.#entry?.record;
    const plain = nextRecord({ previous, origin, outcome, profile, now, random: random ?? 0 });
    const found = random ?? jitterOf(recorded, plain);
    const record = random === undefined ? withTimes(plain, recorded) : plain;
    if (detached === true) {
      this.#detached.set(id, new CacheEntry(record, profile));
      const [first] = this.#detached.keys();
      if (this.#detached.size > MAX_VERSIONS && first !== undefined) this.#detached.delete(first);
    } else {
      this.#remember(record, number);
    }
    return { record, random: found };
  }

  /** Takes over a record from a store or a snapshot. */
  restored({ record, sha256 }: StoredEntry, bodyOf: BodyOf, number: number): void {
    const { copy, ...others } = record;
    const body = copy === undefined ? undefined : bodyOf(sha256);
    const isWhole = copy !== undefined && body !== undefined;
    this.#remember(isWhole ? { ...others, copy: { ...copy, body } } : others, number);
  }

  signalled({ reachable, at }: SignalEntry, number: number): void {
    this.#remember(withSiteSignal(this.#entry?.record, this.origin, reachable, at), number);
  }

  overridden({ override, because, sha256, profile }: OverrideEntry, text: Uint8Array | undefined): void {
    const url = this.origin + ROBOTS_PATH;
    const robots = { url, finalUrl: url, hops: 0, source: 'override' } as const;
    const digest = sha256 === undefined ? {} : { sha256 };
    const base = { origin: this.origin, profile, robots: { ...robots, ...digest } };
    const { dialect } = this.profile;
    this.override =
      override === 'text'
        ? { ...base, state: 'rules', file: parseRobots(text ?? '', { dialect }), because }
        : {
            ...base,
            state: override === 'allow' ? 'allow-all' : 'disallow-all',
            file: undefined,
            because: because ?? '',
          };
  }

  forgotten(number: number): void {
    this.#forgotten = this.#entry?.record;
    this.#entry = undefined;
    this.#keepVersion(number);
  }

  #remember(record: OriginRecord, number?: number): CacheEntry {
    const entry = new CacheEntry(record, this.profile, this.#entry);
    this.#entry = entry;
    if (number !== undefined) this.#keepVersion(number);
    return entry;
  }

  #keepVersion(from: number): void {
    this.#versions.unshift({ from, entry: this.#entry });
    if (this.#versions.length > MAX_VERSIONS) this.#versions.pop();
  }
}

interface Version {
  readonly from: number;
  readonly entry: CacheEntry | undefined;
}

/** More changes of one origin do not come between a decision and the request that it is for. */
const MAX_VERSIONS = 8;

/** The record with the times that were recorded: rounding may have made one a millisecond other. */
function withTimes(record: OriginRecord, { staleAt, retryAt }: AttemptEntry): OriginRecord {
  const { answer, failure } = record;
  if (failure !== undefined) {
    return retryAt === undefined ? record : { ...record, failure: { ...failure, retryAt } };
  }
  return answer === undefined || staleAt === undefined
    ? record
    : { ...record, answer: { ...answer, staleAt } };
}

/**
 * The number in [0, 1] that, as jitter, makes the recorded times out of those of `record`, which has none; `undefined`
 * when there is no such number.
 */
export function jitterOf(
  { at, staleAt, retryAt }: AttemptEntry,
  { answer, failure }: OriginRecord,
): number | undefined {
  const [recorded, longest] = failure === undefined ? [staleAt, answer?.staleAt] : [retryAt, failure.retryAt];
  if (recorded === undefined || longest === undefined) return recorded === longest ? 0 : undefined;
  const shareTaken = longest === at ? 0 : (longest - recorded) / (longest - at);
  // Times are whole milliseconds.
  const tolerance = 1 / Math.max(1, longest - at);
  if (shareTaken < -tolerance || shareTaken > JITTER_SHARE + tolerance) return undefined;
  return Math.min(1, Math.max(0, shareTaken / JITTER_SHARE));
}

/** The outcome that was recorded. `undefined` when the evidence lacks the octets of a success. */
export function outcomeOf(recorded: AttemptEntry, bodyOf: BodyOf): Outcome | undefined {
  const { outcome: kind, hops, status, headers, because, error, suspect, retryAfterMs, sha256 } = recorded;
  const redirects = hops
    .slice(0, -1)
    .map(({ url, status: answered = 0, location = '' }) => ({ url, status: answered, location }));
  const route = {
    finalUrl: hops.at(-1)?.url ?? recorded.origin + ROBOTS_PATH,
    hops: redirects.length,
    ...(redirects.length === 0 ? {} : { redirects }),
    ...(suspect === undefined ? {} : { suspect }),
  };
  if (kind === 'unreachable') {
    return {
      ...route,
      kind,
      error: error ?? 'ERR_ROBOTS_STATUS',
      ...(status === undefined ? {} : { status }),
      ...(headers === undefined ? {} : { headers }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }
  if (status === undefined) return undefined;
  const answered = { ...route, status, headers: headers ?? {} };
  switch (kind) {
    case 'success': {
      const body = bodyOf(sha256);
      if (body === undefined || sha256 === undefined) return undefined;
      return { ...answered, kind, body, sha256, truncated: recorded.truncated === true };
    }
    case 'not-modified':
      return { ...answered, kind, status: 304 };
    case 'unavailable':
      return { ...answered, kind, ...(because === undefined ? {} : { reason: because }) };
    case 'restricted':
      return { ...answered, kind };
  }
}
