import { omitUndefined } from '../base/index.ts';
import { freshness } from './freshness.ts';
import {
  type ConclusiveResponse,
  type Copy,
  type Failure,
  type OriginRecord,
  backoffMs,
} from './origin-record.ts';
import type { Suspect } from './challenge-pages.ts';
import { isAbsent, type RobotsResponseHeaders, type Outcome, withThrown } from './outcome.ts';
import type { Profile } from './profile.ts';

/** The end of an attempt, and the record before it. */
export interface EndedAttempt {
  readonly previous: OriginRecord | undefined;
  readonly origin: string;
  readonly outcome: Outcome;
  readonly profile: Profile;
  /** The time at which the attempt ended, in epoch ms. */
  readonly now: number;
  /** A number in [0, 1). It shortens the lifetime, or the pause of a backoff, by up to a tenth. */
  readonly random: number;
}

/** The record after an attempt. The previous record is not changed. */
export function nextRecord(attempt: EndedAttempt): OriginRecord {
  const { outcome } = attempt;
  switch (outcome.kind) {
    case 'success':
      return afterSuccess(attempt, outcome);
    case 'not-modified':
      return afterNotModified(attempt, outcome);
    case 'unavailable':
      return afterUnavailable(attempt, outcome);
    case 'restricted': {
      const { status, suspect } = outcome;
      const answer = { kind: 'restricted', ...answered(attempt, outcome, status) } as const;
      return withResponse(attempt, { ...answer, ...omitUndefined({ suspect }) });
    }
    case 'unreachable':
      return afterFailure(attempt, outcome);
  }
}

type OutcomeOf<Kind extends Outcome['kind']> = Extract<Outcome, { readonly kind: Kind }>;

/**
 * RFC 9309 §2.3.1.1: "If the crawler successfully downloads the robots.txt file, the crawler MUST follow the parseable
 * rules."
 */
function afterSuccess(attempt: EndedAttempt, outcome: OutcomeOf<'success'>): OriginRecord {
  const { status, finalUrl, hops, body, sha256, truncated, headers, suspect } = outcome;
  const answer: ConclusiveResponse = { kind: 'rules', ...answered(attempt, outcome, status, suspect) };
  return withResponse(attempt, answer, {
    body,
    truncated,
    status,
    finalUrl,
    hops,
    fetchedAt: attempt.now,
    ...validatorsOf(headers),
    ...omitUndefined({ sha256, contentType: headers.contentType, suspect }),
  });
}

/**
 * The copy is revalidated: same bytes, new date. Only the 304 sets the lifetime. RFC 9110 §15.4.5 makes the server
 * repeat the `Cache-Control` and `Expires` "that would have been sent in a 200".
 */
function afterNotModified(attempt: EndedAttempt, outcome: OutcomeOf<'not-modified'>): OriginRecord {
  const { finalUrl, hops, headers } = outcome;
  const held = attempt.previous?.copy;
  if (held === undefined) {
    // No copy is stored, so this 304 confirms nothing.
    return afterFailure(attempt, {
      kind: 'unreachable',
      status: 304,
      error: 'ERR_ROBOTS_NOT_MODIFIED',
      finalUrl,
      hops,
      ...attemptDetails(outcome),
    });
  }
  const answer: ConclusiveResponse = {
    kind: 'rules',
    notModified: true,
    ...answered(attempt, outcome, held.status, held.suspect),
  };
  return withResponse(attempt, answer, { ...held, fetchedAt: attempt.now, ...validatorsOf(headers) });
}

/**
 * RFC 9309 §2.3.1.3: "If a server status code indicates that the robots.txt file is unavailable to the crawler, then
 * the crawler MAY access any resources on the server." The copy is discarded, unless the profile follows the draft
 * before the RFC, which added: "or MAY use a cached version of a robots.txt file for up to 24 hours".
 */
function afterUnavailable(attempt: EndedAttempt, outcome: OutcomeOf<'unavailable'>): OriginRecord {
  const { previous, profile, now } = attempt;
  const { status, reason, suspect } = outcome;
  const since = previous?.answer?.kind === 'unavailable' ? previous.answer.since : now;
  const answer: ConclusiveResponse = {
    kind: 'unavailable',
    ...answered(attempt, outcome, status),
    since,
    ...omitUndefined({ reason, suspect }),
  };
  const keepsCopy = now - since < profile.keepCopyOnUnavailableMs;
  return withResponse(attempt, answer, keepsCopy ? previous?.copy : undefined);
}

/**
 * A failure removes nothing: a fresh response stays in force until it is stale, and a good copy is kept for the phases
 * that use it. RFC 9309 §2.4: "Crawlers SHOULD NOT use the cached version for more than 24 hours, unless the
 * robots.txt file is unreachable."
 */
function afterFailure(attempt: EndedAttempt, outcome: OutcomeOf<'unreachable'>): OriginRecord {
  const { previous, origin, profile, now } = attempt;
  const { status, error, finalUrl, hops, retryAfterMs, suspect } = outcome;
  const attempts = (previous?.failure?.attempts ?? 0) + 1;
  const hasResponded = previous?.failure ? previous.failure.dead !== true : previous?.answer !== undefined;
  const dead = (!hasResponded && isAbsent(outcome)) || undefined;
  const failure: Failure = {
    // If the clock was set back before the first failure, the phases start again.
    since: Math.min(previous?.failure?.since ?? now, now),
    at: now,
    attempts,
    // RFC 9110 §10.2.3: "Servers send the "Retry-After" header field to indicate how long the user agent ought to
    // wait before making a follow-up request." So it replaces our backoff, and jitter does not shorten it.
    retryAt: now + (retryAfterMs ?? jittered(backoffMs(attempts, profile), attempt.random)),
    error,
    finalUrl,
    hops,
    ...attemptDetails(outcome),
    ...omitUndefined({ retryAfterMs, dead, status, suspect }),
  };
  return { ...previous, origin, failure: withThrown(failure, outcome) };
}

/** A conclusive response ends the failure. Only the site signal is carried over. */
function withResponse(
  { previous, origin }: EndedAttempt,
  answer: ConclusiveResponse,
  copy?: Copy,
): OriginRecord {
  return { origin, answer, ...omitUndefined({ copy, site: previous?.site }) };
}

/** What every conclusive response has. */
function answered(
  { profile, now, random }: EndedAttempt,
  outcome: Exclude<Outcome, { readonly kind: 'unreachable' }>,
  status: number,
  suspect?: Suspect,
): Omit<Extract<ConclusiveResponse, { readonly kind: 'restricted' }>, 'kind'> {
  const { finalUrl, hops, headers } = outcome;
  const { lifetimeMs } = freshness(headers, profile, now, suspect);
  const staleAt = now + jittered(lifetimeMs, random);
  return { status, finalUrl, hops, fetchedAt: now, staleAt, ...attemptDetails(outcome) };
}

/** The maximum share that jitter takes off, so that origins fetched together do not expire together. */
export const JITTER_SHARE = 0.1;

/** Rounded to whole milliseconds. */
function jittered(ms: number, random: number): number {
  return Math.round(ms * (1 - JITTER_SHARE * random));
}

/** The details of the attempt. An empty header section is left out. */
function attemptDetails({ redirects, headers }: Outcome): Pick<ConclusiveResponse, 'redirects' | 'headers'> {
  const hasHeaders = headers !== undefined && Object.keys(headers).length > 0;
  return omitUndefined({ redirects, headers: hasHeaders ? headers : undefined });
}

function validatorsOf({ etag, lastModified }: RobotsResponseHeaders): Pick<Copy, 'etag' | 'lastModified'> {
  return omitUndefined({ etag, lastModified });
}
