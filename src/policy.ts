import type { Failure, Suspect } from './access/index.ts';
import type { RobotsSource } from './cache/index.ts';
import type { OriginState } from './decision.ts';
import type { Group, RobotsFile, Sitemap } from './rules/index.ts';

/** Everything known of an origin: what `client.policy()` answers. Times are epoch milliseconds. */
export interface OriginPolicy {
  readonly origin: string;
  /** Name of the profile that was applied. */
  readonly profile: string;
  readonly state: OriginState;
  /** Why no rules are in force. */
  readonly reason?: 'unavailable' | 'restricted' | 'unreachable' | 'unreachable-expired' | 'override';
  /** Why the caller overrode this origin. */
  readonly because?: string;
  readonly robots: RobotsSource;
  /**
   * What the last answer looks like, if not like a robots.txt: a challenge, the block page of a firewall, a login form,
   * or some other page. A guess, by which nothing is decided unless the profile's `challenge` says so.
   */
  readonly suspect?: Suspect;
  /** Failures in a row, as long as there are any. */
  readonly failure?: Failure;
  /** From here on a question starts the next attempt. */
  readonly retryAt?: number;
  /** The last signal about the rest of the site. */
  readonly site?: { readonly reachable: boolean; readonly at: number };
  /** The file in force, or the last good copy of it. */
  readonly file?: {
    readonly sizeBytes: number;
    /** Whether it went on past the limit. */
    readonly truncated: boolean;
    readonly contentType?: string;
    readonly fetchedAt: number;
  };
  /** The parsed file; absent when none is held. */
  readonly rules?: RobotsFile;
  readonly groups: readonly Group[];
  readonly sitemaps: readonly Sitemap[];
  /** `Crawl-delay` for the client's own agent. */
  readonly crawlDelayMs?: number;
}
