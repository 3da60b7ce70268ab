import { type Profile, refreshAheadAt } from '../lifecycle/index.ts';
import type { OriginPolicy } from '../decision/index.ts';
import type { TimelineEvent } from '../report/schema.ts';

/** Lists the past events in the state of an origin, and the future ones that follow if nothing else happens. */
export function timeline(policy: OriginPolicy, profile: Profile): TimelineEvent[] {
  return [...answerEvents(policy), ...failureEvents(policy, profile), ...siteEvents(policy)].sort(
    (one, other) => one.at - other.at,
  );
}

function answerEvents({ lifetime, attempt, failure, file, state }: OriginPolicy): TimelineEvent[] {
  const copy: TimelineEvent[] =
    file !== undefined && (state === 'last-good' || lifetime === undefined)
      ? [
          {
            at: file.fetchedAt,
            event: 'copy',
            detail: `${file.sizeBytes} octets`,
          },
        ]
      : [];
  if (lifetime === undefined) return copy;
  const { fetchedAt, staleAt } = lifetime;
  const status = failure === undefined ? attempt?.hops.at(-1)?.status : undefined;
  const confirmed = failure === undefined && attempt?.kind === 'not-modified';
  return [
    ...copy.filter(({ at }) => at !== fetchedAt),
    {
      at: fetchedAt,
      event: confirmed ? 'confirmed' : 'answered',
      ...(status === undefined ? {} : { detail: `status ${status}` }),
    },
    // After a failure, the retry time alone determines the next attempt.
    ...(failure === undefined
      ? [
          {
            at: Math.ceil(refreshAheadAt(lifetime)),
            event: 'refresh-ahead',
          } as const,
        ]
      : []),
    { at: staleAt, event: 'stale' },
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
    {
      at: since,
      event: 'first-failure',
      ...(attempts === 1 ? { detail: cause } : {}),
    },
    ...(attempts === 1
      ? []
      : [
          {
            at,
            event: 'last-failure',
            detail: `${cause}, ${attempts} in a row`,
          } as const,
        ]),
    { at: retryAt, event: 'retry' },
    ...profile.whileUnreachable.flatMap(({ untilMs }, index): TimelineEvent[] => {
      const next = treatments[index + 1];
      // A phase with the same treatment as the one before it gives no event.
      if (untilMs === null || next === undefined || next === treatments[index]) return [];
      return [{ at: since + untilMs, event: 'phase', detail: next }];
    }),
  ];
}

function siteEvents({ site }: OriginPolicy): TimelineEvent[] {
  if (site === undefined) return [];
  return [
    {
      at: site.at,
      event: 'site',
      detail: site.reachable ? 'reachable' : 'not reachable',
    },
  ];
}
