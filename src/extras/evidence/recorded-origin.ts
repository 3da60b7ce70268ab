import { omitUndefined } from '../../core/base/index.ts';
import { KnownOrigin, type OverriddenOrigin } from '../../core/decision/index.ts';
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

/** One origin of the evidence, under one profile: what is known of it after the entries so far. */
export class RecordedOrigin {
  readonly origin: string;
  readonly profile: Profile;
  override: OverriddenOrigin | undefined;
  #latest: KnownOrigin | undefined;
  /** The latest versions, by the numbers of the entries that brought them; also those that were not kept. */
  readonly #versions = new Map<number, KnownOrigin>();

  constructor(origin: string, profile: Profile) {
    this.origin = origin;
    this.profile = profile;
  }

  /**
   * What is known after the entry of that number within the run; by default after the latest.
   *
   * @returns `undefined` when there is none: nothing was known, or the evidence lacks it.
   */
  versionOf(number: number | undefined): KnownOrigin | undefined {
    return number === undefined ? this.#latest : this.#versions.get(number);
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
    const { at: now, detached } = recorded;
    const previous = this.versionOf(recorded.previous)?.record;
    const plain = nextRecord({ previous, origin, outcome, profile, now, random: random ?? 0 });
    const found = random ?? jitterOf(recorded, plain);
    const record = random === undefined ? withTimes(plain, recorded) : plain;
    this.#remember(record, number, detached);
    return { record, random: found };
  }

  /** Takes over a record from a store or a snapshot. */
  restored({ record, sha256, detached }: StoredEntry, bodyOf: BodyOf, number: number): void {
    const { copy, ...others } = record;
    const body = copy === undefined ? undefined : bodyOf(sha256);
    const isWhole = copy !== undefined && body !== undefined;
    this.#remember(isWhole ? { ...others, copy: { ...copy, body } } : others, number, detached);
  }

  signalled({ reachable, at }: SignalEntry, number: number): void {
    this.#remember(withSiteSignal(this.#latest?.record, this.origin, reachable, at), number);
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

  forgotten(): void {
    this.#latest = undefined;
  }

  #remember(record: OriginRecord, number: number, detached?: true): void {
    const entry = new KnownOrigin(record, this.profile, this.#latest);
    if (detached === undefined) this.#latest = entry;
    this.#versions.set(number, entry);
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > MAX_VERSIONS && oldest !== undefined) this.#versions.delete(oldest);
  }
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

/** The outcome that was recorded. `undefined` when the evidence lacks the bytes of a success. */
export function outcomeOf(recorded: AttemptEntry, bodyOf: BodyOf): Outcome | undefined {
  const { outcome: kind, hops, status, headers, because, error, suspect, retryAfterMs, sha256 } = recorded;
  const redirects = hops
    .slice(0, -1)
    .map(({ url, status: answered = 0, location = '' }) => ({ url, status: answered, location }));
  const route = omitUndefined({
    finalUrl: hops.at(-1)?.url ?? recorded.origin + ROBOTS_PATH,
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
      return { ...answered, kind, ...(because === undefined ? {} : { reason: because }) };
    case 'restricted':
      return { ...answered, kind };
  }
}
