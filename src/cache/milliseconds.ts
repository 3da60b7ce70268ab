import { quote, RobotsInvalidOptionsError } from '../base/errors.ts';

/**
 * `value`, if it is a time a store can keep: a NaN in a timetable would stay there.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function milliseconds(name: 'ttlMs' | 'delayMs', value: number): number {
  const holds = Number.isFinite(value) && (name === 'ttlMs' ? value > 0 : value >= 0);
  if (holds) return value;
  throw new RobotsInvalidOptionsError(
    `Expected \`${name}\` to be milliseconds ${name === 'ttlMs' ? 'above 0' : 'from 0 on'}, got ${quote(value)}`,
  );
}

/**
 * How long a booked slot is remembered beyond its time. Whoever books next with a longer delay than the last one still
 * finds it; delays longer than this keep it for as long as themselves.
 */
export const SLOT_REMEMBERED_MS: number = 5 * 60 * 1000;
