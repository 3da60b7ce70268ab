const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration with one unit: `45 s`, `3 min`, `23 h`, `12 d`. */
export function duration(ms: number): string {
  if (ms < 90 * SECOND_MS) return `${Math.max(0, Math.round(ms / SECOND_MS))} s`;
  if (ms < 90 * MINUTE_MS && ms !== HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < 48 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} h`;
  return `${Math.round(ms / DAY_MS)} d`;
}

/** Formats the time since `at`: `just now`, or `3 min ago`. */
export function ago(at: number, now: number): string {
  return now - at < SECOND_MS ? 'just now' : `${duration(now - at)} ago`;
}

/** Formats a future time: `in 2 min (2026-01-02 12:31:04Z)`. The time stamp can be compared with logs. */
export function ahead(at: number, now: number): string {
  return at <= now ? `now (since ${instant(at)})` : `in ${duration(at - now)} (${instant(at)})`;
}

/** Formats a time stamp: `2026-01-02 12:31:04Z`. A number outside the range of `Date` is shown as it is. */
export function instant(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}

/** Formats a number with its noun: `1 redirect`, `2 redirects`. */
export function count(many: number, one: string): string {
  return `${many.toLocaleString('en')} ${one}${many === 1 ? '' : 's'}`;
}
