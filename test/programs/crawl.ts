import type { RobotsClient } from '../../src/index.ts';

/** What a program is given: URLs of one site, one that is disallowed, and one that redirects there. */
export interface Crawl {
  readonly robots: RobotsClient;
  /** The pace that the site asks for, as an option of guards. */
  readonly pacing: { readonly defaultDelayMs: number };
  readonly urls: readonly string[];
  /** A URL has ended: it was fetched, or with this error. */
  ended(url: string, error?: unknown): void;
}
