/** What a client knew by a recorded outcome. */
import { omitUndefined } from '../../core/base/index.ts';
import {
  classifyStatus,
  type ConclusiveResponse,
  type OriginRecord,
  type Profile,
} from '../../core/lifecycle/index.ts';
import { ROBOTS_PATH } from '../../core/url/index.ts';
import type { AttemptEntry, DecisionEntry, StoredEntry } from '../../core/client/evidence/entry.ts';

/** An outcome that decisions rest on. */
type OutcomeEntry = AttemptEntry | StoredEntry;

/** Whether a file decides from then on. */
export function isByFile({ outcome }: OutcomeEntry): boolean {
  return outcome === 'success' || outcome === 'not-modified';
}

/** Whether the profile reads the recorded status as the recorded outcome. Replies of FTP are no statuses of HTTP. */
export function isReadBy(
  profile: Profile,
  { origin, outcome, status, error, reason }: OutcomeEntry,
): boolean {
  if (origin.startsWith('ftp:') || outcome === 'not-modified') return true;
  if (reason !== undefined) return outcome === 'unavailable';
  if (error !== undefined && error !== 'ERR_ROBOTS_STATUS') return outcome === 'unreachable';
  const meaning = status === undefined ? 'unreachable' : classifyStatus(status, profile);
  return meaning === (outcome === 'success' ? 'rules' : outcome);
}

/** A response with the file of a decision, in force when that was made: for a decision by an entry that is not known. */
export function fileOnly({ at, run, n, origin, profile, sha256 }: DecisionEntry): StoredEntry {
  const response = { finalUrl: origin + ROBOTS_PATH, hops: 0, fetchedAt: at, staleAt: at + 1 };
  const stamp = { type: 'stored', at, run, n, origin, profile } as const;
  return { ...stamp, outcome: 'success', status: 200, ...response, ...omitUndefined({ sha256 }) };
}

/** The record that a client has after an outcome, as far as decisions depend on it. */
export function recordOf(
  entry: OutcomeEntry,
  body: Uint8Array | undefined,
  profile: Profile,
  siteReachable: boolean,
): OriginRecord {
  const { origin, outcome, status, error, reason, headers, suspect, sha256, copyUntil } = entry;
  const { at, ...route } =
    entry.type === 'stored'
      ? { at: entry.fetchedAt, finalUrl: entry.finalUrl, hops: entry.hops }
      : { at: entry.at, finalUrl: entry.requests.at(-1)?.url ?? origin, hops: entry.requests.length - 1 };
  const course = { ...route, ...omitUndefined({ headers, suspect }) };
  const isFailure = outcome === 'unreachable';
  // Beside a failure there is the last good copy, of some time before.
  const times = isFailure ? { fetchedAt: 0, staleAt: 0 } : { fetchedAt: at, staleAt: entry.staleAt ?? at };
  const ofCopy = { ...route, status: 200, truncated: false, fetchedAt: isByFile(entry) ? at : 0 };
  const copy = body && {
    ...ofCopy,
    body,
    ...omitUndefined({ sha256, suspect: isByFile(entry) ? suspect : undefined }),
  };
  const ofFile = isFailure || outcome === 'not-modified';
  const response = { ...course, ...times, status: (ofFile ? undefined : status) ?? 200 };
  const since = copyUntil === undefined ? at : copyUntil - profile.keepCopyOnUnavailableMs;
  const answer: ConclusiveResponse =
    outcome === 'unavailable' || copyUntil !== undefined
      ? { ...response, kind: 'unavailable', since, ...omitUndefined({ reason }) }
      : { ...response, kind: outcome === 'restricted' ? 'restricted' : 'rules' };
  const failure = {
    ...course,
    at,
    since: entry.since ?? at,
    retryAt: entry.retryAt ?? at,
    attempts: 1,
    error: error ?? 'ERR_ROBOTS_STATUS',
    ...omitUndefined({ status }),
  };
  return {
    origin,
    ...omitUndefined({
      answer: isFailure && copy === undefined ? undefined : answer,
      copy,
      failure: isFailure ? failure : undefined,
      site: siteReachable ? { reachable: true, at: 0 } : undefined,
    }),
  };
}
