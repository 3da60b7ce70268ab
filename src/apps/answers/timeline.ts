import { omitUndefined } from '../../core/base/index.ts';
import type { OriginPolicy } from '../../core/decision/index.ts';
import { type Profile, refreshAheadAt } from '../../core/lifecycle/index.ts';
import type { TimelineEvent } from './schema/policy.ts';
import { duration } from './text/layout.ts';

/** Lists the past events in the state of an origin, and the future ones that follow if nothing else happens. */
export function timeline(policy: OriginPolicy, profile: Profile): TimelineEvent[] {
  return [...answerEvents(policy), ...failureEvents(policy, profile), ...siteEvents(policy)].sort(
    (one, other) => one.at - other.at,
  );
}

function answerEvents({ lifetime, attempt, failure, file, state }: OriginPolicy): TimelineEvent[] {
  const copy =
    file !== undefined && (state === 'last-good' || lifetime === undefined)
      ? [event(file.fetchedAt, 'copy', `${file.sizeBytes} bytes`)]
      : [];
  if (lifetime === undefined) return copy;
  const { fetchedAt, staleAt, jitterMs = 0 } = lifetime;
  const status = failure === undefined ? attempt?.hops.at(-1)?.status : undefined;
  const confirmed = failure === undefined && attempt?.kind === 'not-modified';
  return [
    ...copy.filter(({ at }) => at !== fetchedAt),
    event(
      fetchedAt,
      confirmed ? 'confirmed' : 'answered',
      status === undefined ? undefined : `status ${status}`,
    ),
    // After a failure, the retry time alone determines the next attempt.
    ...(failure === undefined ? [event(Math.ceil(refreshAheadAt(lifetime)), 'refresh-ahead')] : []),
    event(
      staleAt,
      'stale',
      jitterMs < 60_000 ? undefined : `${duration(jitterMs)} early, so that many do not expire together`,
    ),
  ];
}

function failureEvents({ failure, file }: OriginPolicy, profile: Profile): TimelineEvent[] {
  if (failure === undefined) return [];
  const { since, at, attempts, retryAt, error, status } = failure;
  const cause = status === undefined ? error : `status ${status}`;
  const treatments = profile.whileUnreachable.map((phase) =>
    file === undefined ? phase.withoutCopy : phase.withCopy,
  );
  return [
    event(since, 'first-failure', attempts === 1 ? cause : undefined),
    ...(attempts === 1 ? [] : [event(at, 'last-failure', `${cause}, ${attempts} in a row`)]),
    event(retryAt, 'retry'),
    ...profile.whileUnreachable.flatMap(({ untilMs }, index) => {
      const next = treatments[index + 1];
      // A phase with the same treatment as the one before it gives no event.
      if (untilMs === null || next === undefined || next === treatments[index]) return [];
      return [event(since + untilMs, 'phase', next)];
    }),
  ];
}

function siteEvents({ site }: OriginPolicy): TimelineEvent[] {
  return site === undefined ? [] : [event(site.at, 'site', site.reachable ? 'reachable' : 'not reachable')];
}

function event(at: number, name: TimelineEvent['event'], detail?: string): TimelineEvent {
  return omitUndefined({ at, event: name, detail });
}
