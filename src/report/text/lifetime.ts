import type { Freshness, StatedLifetime } from '../../lifecycle/index.ts';
import type { PolicyLifetime, PolicyNextAttempt } from '../../decision/index.ts';
import { ahead, count, duration } from './durations.ts';

/** Explains the lifetime of a response: `max-age=60 raised to the floor of 10 min, 25 s taken off at random`. */
export function lifetimeReason({ why, jitterMs = 0 }: PolicyLifetime): string | undefined {
  if (why === undefined) return undefined;
  const jitter = jitterMs < 1 ? [] : [`${duration(jitterMs)} taken off at random`];
  return [`${statedReason(why)}${clamped(why)}`, ...jitter].join(', ');
}

function statedReason(stated: StatedLifetime & Pick<Freshness, 'lifetimeMs'>): string {
  switch (stated.source) {
    case 's-maxage':
    case 'max-age':
      return stated.seconds === undefined
        ? `${stated.source} is not a whole number, which counts as 0`
        : `${stated.source}=${stated.seconds}${less(stated.ageSeconds)}`;
    case 'expires':
      if (stated.expiresAt === undefined) return 'Expires is not a date, which counts as past';
      return `Expires ${fromTo(stated.servedAt, stated.expiresAt)}${less(stated.servedAt === undefined ? 0 : stated.ageSeconds)}`;
    case 'no-store':
    case 'no-cache':
      return stated.source;
    case 'default':
      return `the response does not set it, so the profile's ${duration(stated.lifetimeMs)}`;
  }
}

function fromTo(servedAt: number | undefined, expiresAt: number): string {
  if (servedAt === undefined) return 'without a Date to count from';
  return expiresAt <= servedAt ? 'not after Date' : `${duration(expiresAt - servedAt)} after Date`;
}

function less(ageSeconds: number): string {
  return ageSeconds === 0 ? '' : ` less Age ${ageSeconds}`;
}

function clamped({ clampedBy, lifetimeMs }: Freshness): string {
  if (clampedBy === undefined) return '';
  return clampedBy === 'min'
    ? ` raised to the floor of ${duration(lifetimeMs)}`
    : ` cut to the ceiling of ${duration(lifetimeMs)}`;
}

/** Explains when the next attempt is made, and why. */
export function nextAttemptReason(next: PolicyNextAttempt, now: number): string {
  const when = ahead(next.at, now);
  switch (next.why) {
    case 'refresh-ahead':
      return `${when}, before it is stale, at the next question`;
    case 'backoff':
      return `${when}, our own backoff after ${count(next.failures, 'failure')} in a row`;
    case 'retry-after':
      return `${when}, as Retry-After asks: ${duration(next.pauseMs)}`;
  }
}
