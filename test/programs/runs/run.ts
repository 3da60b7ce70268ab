import type { Clock, RobotsClient } from '../../../src/index.ts';

/** What a program is given: URLs of sites that are well, slow, busy, closed and dead. */
export interface Run {
  readonly robots: RobotsClient;
  /** Time passes by this clock: a minute takes none. */
  readonly clock: Required<Clock>;
  readonly urls: readonly string[];
  /** A URL has ended: with a page, or with this error. */
  ended(url: string, error?: unknown): void;
}
