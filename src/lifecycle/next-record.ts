import { freshness } from './freshness.ts';
import type { Answer, Copy, Failure, OriginRecord } from './origin-record.ts';
import type { AnswerHeaders, Outcome } from './outcome.ts';
import type { Profile } from './profile.ts';
import type { Suspect } from './challenge-pages.ts';

/** An attempt that ended, and what was known before it. */
export interface Attempt {
  readonly previous: OriginRecord | undefined;
  readonly origin: string;
  readonly outcome: Outcome;
  readonly profile: Profile;
  /** When the attempt ended, in epoch ms. */
  readonly now: number;
  /** Drawn from [0, 1). Takes up to a tenth off the lifetime or the pause that follows. */
  readonly random: number;
}

/** What is known of the origin after the attempt. The record before it is left as it was. */
export function nextRecord(attempt: Attempt): OriginRecord {
  const { outcome } = attempt;
  switch (outcome.kind) {
    case 'success':
      return afterSuccess(attempt, outcome);
    case 'not-modified':
      return afterNotModified(attempt, outcome);
    case 'unavailable':
      return afterUnavailable(attempt, outcome);
    case 'restricted': {
      const { status, finalUrl, hops } = outcome;
      return concluded(attempt, {
        kind: 'restricted',
        status,
        finalUrl,
        hops,
        ...life(attempt, outcome.headers),
        ...course(outcome),
        ...suspicion(outcome),
      });
    }
    case 'unreachable':
      return afterFailure(attempt, outcome);
  }
}

/** Notes whether the rest of the site answers. The last signal wins. */
export function withSiteSignal(
  record: OriginRecord | undefined,
  origin: string,
  reachable: boolean,
  now: number,
): OriginRecord {
  return { ...record, origin, site: { reachable, at: now } };
}

type Of<Kind extends Outcome['kind']> = Extract<Outcome, { readonly kind: Kind }>;

/**
 * RFC 9309 §2.3.1.1: "If the crawler successfully downloads the robots.txt file, the crawler MUST follow the parseable
 * rules."
 */
function afterSuccess(attempt: Attempt, outcome: Of<'success'>): OriginRecord {
  const { status, finalUrl, hops, body, truncated, headers } = outcome;
  const answer: Answer = {
    kind: 'rules',
    status,
    finalUrl,
    hops,
    ...life(attempt, headers),
    ...course(outcome),
  };
  return concluded(attempt, answer, {
    body,
    truncated,
    status,
    finalUrl,
    hops,
    fetchedAt: attempt.now,
    ...validators(headers),
    ...(headers.contentType === undefined ? {} : { contentType: headers.contentType }),
    ...suspicion(outcome),
  });
}

/**
 * The copy is as good as new: the same octets, a new date. The 304 alone sets the lifetime, for RFC 9110 §15.4.5
 * has the server repeat the `Cache-Control` and `Expires` "that would have been sent in a 200".
 */
function afterNotModified(attempt: Attempt, outcome: Of<'not-modified'>): OriginRecord {
  const { finalUrl, hops, headers } = outcome;
  const held = attempt.previous?.copy;
  if (held === undefined) {
    // A 304 that confirms nothing we hold is no answer.
    return afterFailure(attempt, {
      kind: 'unreachable',
      status: 304,
      error: 'ERR_ROBOTS_NOT_MODIFIED',
      finalUrl,
      hops,
      ...course(outcome),
    });
  }
  const answer: Answer = {
    kind: 'rules',
    status: held.status,
    notModified: true,
    finalUrl,
    hops,
    ...life(attempt, headers),
    ...course(outcome),
  };
  return concluded(attempt, answer, { ...held, fetchedAt: attempt.now, ...validators(headers) });
}

/**
 * RFC 9309 §2.3.1.3: "If a server status code indicates that the robots.txt file is unavailable to the crawler, then
 * the crawler MAY access any resources on the server." The copy goes with it, unless the profile uses what the draft
 * before the RFC added: "or MAY use a cached version of a robots.txt file for up to 24 hours".
 */
function afterUnavailable(attempt: Attempt, outcome: Of<'unavailable'>): OriginRecord {
  const { previous, profile, now } = attempt;
  const { status, finalUrl, hops, reason } = outcome;
  const since = previous?.answer?.kind === 'unavailable' ? previous.answer.since : now;
  const answer: Answer = {
    kind: 'unavailable',
    status,
    finalUrl,
    hops,
    ...life(attempt, outcome.headers),
    since,
    ...(reason === undefined ? {} : { reason }),
    ...course(outcome),
    ...suspicion(outcome),
  };
  const keepsCopy = now - since < profile.keepCopyOnUnavailableMs;
  return concluded(attempt, answer, keepsCopy ? previous?.copy : undefined);
}

/**
 * A failure is set beside what was known and takes nothing away: a fresh answer stays in force to its end, and a
 * good copy is held for the phases that use one. RFC 9309 §2.4: "Crawlers SHOULD NOT use the cached version for more
 * than 24 hours, unless the robots.txt file is unreachable."
 */
function afterFailure(attempt: Attempt, outcome: Of<'unreachable'>): OriginRecord {
  const { previous, origin, profile, now } = attempt;
  const { status, error, finalUrl, hops, retryAfterMs } = outcome;
  const attempts = (previous?.failure?.attempts ?? 0) + 1;
  const backoffMs = Math.min(profile.backoff.initialMs * 2 ** (attempts - 1), profile.backoff.maxMs);
  const failure: Failure = {
    // A clock that was set back behind the first failure starts the phases anew.
    since: Math.min(previous?.failure?.since ?? now, now),
    at: now,
    attempts,
    // RFC 9110 §10.2.3: "Servers send the "Retry-After" header field to indicate how long the user agent ought to
    // wait before making a follow-up request." So it replaces our own pause, and no jitter shortens it.
    retryAt: now + (retryAfterMs ?? jittered(backoffMs, attempt.random)),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
    error,
    finalUrl,
    hops,
    ...course(outcome),
    ...suspicion(outcome),
  };
  return { ...previous, origin, failure };
}

/** A conclusive answer ends the failure; only what is known of the rest of the site is carried over. */
function concluded({ previous, origin }: Attempt, answer: Answer, copy?: Copy): OriginRecord {
  return {
    origin,
    answer,
    ...(copy === undefined ? {} : { copy }),
    ...(previous?.site === undefined ? {} : { site: previous.site }),
  };
}

function life(
  { profile, now, random }: Attempt,
  headers: AnswerHeaders,
): Pick<Answer, 'fetchedAt' | 'staleAt'> {
  return { fetchedAt: now, staleAt: now + jittered(freshness(headers, profile, now).lifetimeMs, random) };
}

/** At most this share is taken off at random, so that origins met together do not come due together. */
export const JITTER_SHARE = 0.1;

/** Whole milliseconds. */
function jittered(ms: number, random: number): number {
  return Math.round(ms * (1 - JITTER_SHARE * random));
}

/** The header section is kept as it is, unless there is nothing in it. */
function course({ redirects, headers }: Outcome): Pick<Answer, 'redirects' | 'headers'> {
  return {
    ...(redirects === undefined ? {} : { redirects }),
    ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

function suspicion({ suspect }: Outcome): { suspect?: Suspect } {
  return suspect === undefined ? {} : { suspect };
}

function validators({ etag, lastModified }: AnswerHeaders): Pick<Copy, 'etag' | 'lastModified'> {
  return { ...(etag === undefined ? {} : { etag }), ...(lastModified === undefined ? {} : { lastModified }) };
}
