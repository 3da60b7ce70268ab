import { omitUndefined } from '../base/index.ts';
import type { ConclusiveResponse, Copy, Failure, OriginRecord } from './origin-record.ts';
import { type RobotsResponseHeaders, classifyStatus, type Outcome } from './outcome.ts';
import type { Profile, StatusClass } from './profile.ts';
import { isBotChallenge } from './challenge-pages.ts';
import { nextRecord } from './next-record.ts';

/**
 * The record that `profile` would have made instead of another one. Its last response, and the failure since, go through
 * `nextRecord` again; nothing is fetched. A copy that the other profile discarded cannot be used. `unread`: `profile`
 * would have followed a redirect, or read a body, that the attempt did not.
 */
export function recordUnderProfile(
  record: OriginRecord,
  profile: Profile,
): OriginRecord | 'unread' | undefined {
  const { origin, answer, copy, failure } = record;
  let known: OriginRecord | undefined = record.site && { origin, site: record.site };
  const apply = (outcome: Outcome, at: number): void => {
    known = nextRecord({ previous: known, origin, outcome, profile, now: at, random: 0 });
  };
  if (answer !== undefined) {
    if (answer.kind !== 'rules' && copy !== undefined) apply(successOf(copy, {}), copy.fetchedAt);
    const outcome = replayResponse(answer, copy, profile);
    if (outcome === undefined) return 'unread';
    // Stryker disable next-line EqualityOperator,LogicalOperator: the same outcome at the same time changes nothing.
    if (answer.kind === 'unavailable' && answer.since < answer.fetchedAt) apply(outcome, answer.since);
    apply(outcome, answer.fetchedAt);
  }
  if (failure !== undefined) {
    const outcome = replayFailure(failure, profile);
    if (outcome === undefined) return 'unread';
    apply(outcome, failure.since);
    // Stryker disable next-line all: equivalent, for the state goes by the first failure of a run.
    if (failure.since < failure.at) apply(outcome, failure.at);
  }
  return known;
}

/** The outcome of the recorded response under `profile`. `undefined` when `profile` would have gone on fetching. */
function replayResponse(
  answer: ConclusiveResponse,
  copy: Copy | undefined,
  profile: Profile,
): Outcome | undefined {
  const { status, headers = {} } = answer;
  const reason = answer.kind === 'unavailable' ? answer.reason : undefined;
  if (reason === 'too-many-redirects' && answer.hops < profile.maxRedirects) return undefined;
  if (reason === 'disallowed-redirect' && profile.disallowedRedirect === 'followed') return undefined;
  const cut = reason === 'too-many-redirects' || reason === 'redirect-loop';
  if (cut || answer.hops > profile.maxRedirects) return cutShort(answer, profile);
  const suspect = answer.kind === 'rules' ? copy?.suspect : answer.suspect;
  if (profile.challenge === 'unreachable' && isBotChallenge(suspect)) {
    return { kind: 'unreachable', status, error: CHALLENGE, ...routeOf(answer) };
  }
  const meaning = reason === undefined ? meaningOf(answer, status, profile) : 'unavailable';
  switch (meaning ?? answer.kind) {
    case 'rules':
      return answer.kind === 'rules' && copy !== undefined ? successOf(copy, headers) : undefined;
    case 'unavailable':
      return { kind: 'unavailable', status, headers, ...routeOf(answer) };
    case 'restricted':
      return { kind: 'restricted', status, headers, ...routeOf(answer) };
    case 'unreachable':
      return { kind: 'unreachable', status, error: STATUS, ...routeOf(answer) };
  }
}

/** The meaning of an HTTP status. `undefined` for FTP replies, which mean the same under every profile. */
function meaningOf(
  { finalUrl }: ConclusiveResponse | Failure,
  status: number | undefined,
  profile: Profile,
): StatusClass | undefined {
  return status === undefined || finalUrl.startsWith('ftp:') ? undefined : classifyStatus(status, profile);
}

const STATUS = 'ERR_ROBOTS_STATUS';
const CHALLENGE = 'ERR_ROBOTS_CHALLENGE';

function replayFailure(failure: Failure, profile: Profile): Outcome | undefined {
  const { status, error, hops, headers = {} } = failure;
  if (error === 'ERR_ROBOTS_REDIRECT_LIMIT' && hops < profile.maxRedirects) return undefined;
  const cut = error === 'ERR_ROBOTS_REDIRECT_LIMIT' || error === 'ERR_ROBOTS_REDIRECT_LOOP';
  if (cut || hops > profile.maxRedirects) return cutShort(failure, profile);
  const byStatus = error === STATUS || (error === CHALLENGE && profile.challenge === 'as-status');
  const meaning = byStatus ? meaningOf(failure, status, profile) : undefined;
  if (meaning === 'rules') return undefined;
  if (status === undefined || meaning === undefined || meaning === 'unreachable') {
    return { kind: 'unreachable', ...omitUndefined({ status }), error, ...routeOf(failure) };
  }
  return { kind: meaning, status, headers, ...routeOf(failure) };
}

/** The outcome when `profile` follows fewer redirects than the recorded attempt did. */
function cutShort(last: ConclusiveResponse | Failure, { tooManyRedirects }: Profile): Outcome {
  const { status = 302, headers = {} } = last;
  return tooManyRedirects === 'unavailable'
    ? { kind: 'unavailable', status, headers, reason: 'too-many-redirects', ...routeOf(last) }
    : { kind: 'unreachable', error: 'ERR_ROBOTS_REDIRECT_LIMIT', ...routeOf(last) };
}

function successOf(copy: Copy, headers: RobotsResponseHeaders): Outcome {
  const { body, sha256, truncated, status, suspect } = copy;
  return {
    kind: 'success',
    status,
    headers,
    body,
    truncated,
    ...omitUndefined({ sha256, suspect }),
    ...routeOf(copy),
  };
}

function routeOf({ finalUrl, hops }: ConclusiveResponse | Failure | Copy): {
  finalUrl: string;
  hops: number;
} {
  return { finalUrl, hops };
}
