import { omitUndefined } from '../../core/base/index.ts';
import { CacheEntry } from '../../core/cache/index.ts';
import type { OverriddenOrigin } from '../../core/decision/index.ts';
import {
  JITTER_SHARE,
  nextRecord,
  type OriginRecord,
  type Outcome,
  type Profile,
  withSiteSignal,
} from '../../core/lifecycle/index.ts';
import { parseRobots } from '../../core/rules/index.ts';
import { ROBOTS_PATH } from '../../core/url/index.ts';
import type {
  AttemptEntry,
  OverrideEntry,
  SignalEntry,
  StoredEntry,
} from '../../core/client/evidence/entry.ts';

/** The bytes of a digest; `undefined` when the evidence does not have them. */
export type BodyOf = (sha256: string | undefined) => Uint8Array | undefined;

/** One origin of a run, under one profile: what is known of it after the entries so far. */
export class RecordedOrigin {
  readonly origin: string;
  readonly profile: Profile;
  override: OverriddenOrigin | undefined;
  /** The latest versions, by the numbers of their entries; also those that were not kept. */
  readonly #versions = new Map<number, CacheEntry>();

  constructor(origin: string, profile: Profile) {
    this.origin = origin;
    this.profile = profile;
  }

  /** What is known after the entry of that number; `undefined` when the evidence lacks it. */
  versionOf(number: number | undefined): CacheEntry | undefined {
    return number === undefined ? undefined : this.#versions.get(number);
  }

  /**
   * Takes the end of an attempt.
   *
   * @param random The jitter; by default the one that makes the recorded times.
   * @returns the record, and its jitter: `undefined` when no number makes the recorded times.
   */
  attempted(
    recorded: AttemptEntry,
    outcome: Outcome,
    random?: number,
  ): { readonly record: OriginRecord; readonly random: number | undefined } {
    const { origin, profile } = this;
    const previous = this.versionOf(recorded.previous)?.record;
    const plain = nextRecord({ previous, origin, outcome, profile, now: recorded.at, random: random ?? 0 });
    const found = random ?? jitterOf(recorded, plain);
    const record = random === undefined ? withTimes(plain, recorded) : plain;
    this.#remember(record, recorded.n, recorded.previous);
    return { record, random: found };
  }

  /** Takes a record from a store, from a snapshot, or from an earlier file. */
  restored({ record, n }: StoredEntry, body: Uint8Array | undefined): void {
    const { copy, ...others } = record;
    const isWhole = copy !== undefined && body !== undefined;
    this.#remember(isWhole ? { ...others, copy: { ...copy, body } } : others, n);
  }

  signalled({ reachable, at, n, previous }: SignalEntry): void {
    const before = this.versionOf(previous)?.record;
    this.#remember(withSiteSignal(before, this.origin, reachable, at), n, previous);
  }

  overridden({ override, because, sha256, profile }: OverrideEntry, text: Uint8Array | undefined): void {
    const url = this.origin + ROBOTS_PATH;
    const robots = omitUndefined({ url, finalUrl: url, hops: 0, source: 'override', sha256 } as const);
    const base = { origin: this.origin, profile, robots };
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

  #remember(record: OriginRecord, number: number, previous?: number): void {
    this.#versions.set(number, new CacheEntry(record, this.profile, this.versionOf(previous)));
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > MAX_VERSIONS && oldest !== undefined) this.#versions.delete(oldest);
  }
}

/** Versions of an origin that are kept, so that a late decision still finds the record that it was made from. */
const MAX_VERSIONS = 8;

/** The record with the recorded times, which may differ by 1 ms (rounding). */
function withTimes(record: OriginRecord, { staleAt, retryAt }: AttemptEntry): OriginRecord {
  const { answer, failure } = record;
  if (failure !== undefined) {
    return retryAt === undefined ? record : { ...record, failure: { ...failure, retryAt } };
  }
  return answer === undefined || staleAt === undefined
    ? record
    : { ...record, answer: { ...answer, staleAt } };
}

/** The jitter, in [0, 1], that turns the times of `record`, which has none, into the recorded ones; `undefined` if none does. */
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

/** The recorded outcome; `undefined` when the evidence lacks the bytes of a success. */
export function outcomeOf(recorded: AttemptEntry, bodyOf: BodyOf): Outcome | undefined {
  const { outcome: kind, requests, status, headers, reason, error, suspect, retryAfterMs, sha256 } = recorded;
  const redirects = requests
    .slice(0, -1)
    .map(({ url, status: answered = 0, location = '' }) => ({ url, status: answered, location }));
  const route = omitUndefined({
    finalUrl: requests.at(-1)?.url ?? recorded.origin + ROBOTS_PATH,
    hops: redirects.length,
    redirects: redirects.length === 0 ? undefined : redirects,
    suspect,
  });
  if (kind === 'unreachable') {
    const known = { ...route, kind, error: error ?? 'ERR_ROBOTS_STATUS' };
    return { ...known, ...omitUndefined({ status, headers, retryAfterMs }) };
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
      return { ...answered, kind, ...omitUndefined({ reason }) };
    case 'restricted':
      return { ...answered, kind };
  }
}
