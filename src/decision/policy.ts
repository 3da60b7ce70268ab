import type {
  AnswerHeaders,
  Failure,
  Freshness,
  OriginState,
  Outcome,
  StateUnderProfile,
  ProfileName,
  RobotsSource,
  Suspect,
  UnavailableReason,
} from '../lifecycle/index.ts';
import type { Group, MatchedGroup, RobotsFile, Sitemap } from '../rules/index.ts';

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
  /** How the last attempt to fetch robots.txt went. Absent when there was none. */
  readonly attempt?: PolicyAttempt;
  /** How long the last conclusive answer holds, and why. */
  readonly lifetime?: PolicyLifetime;
  /** When the next attempt is due, and why then. It is made when somebody asks. */
  readonly nextAttempt?: PolicyNextAttempt;
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
  readonly file?: PolicyFile;
  /** The parsed file; absent when none is held. */
  readonly rules?: RobotsFile;
  /** All groups, as they stand in the file. */
  readonly groups: readonly Group[];
  readonly sitemaps: readonly Sitemap[];
  /** The token that the rest is about: the client's, or of those asked about the first that some group names. */
  readonly agent: string;
  /** The group whose rules hold for {@link agent}; absent when there is none for it, nor for `*`. */
  readonly group?: MatchedGroup;
  /** `Crawl-delay` for {@link agent}. */
  readonly crawlDelayMs?: number;
  /** `Request-rate` for {@link agent}, as milliseconds from one request to the next. */
  readonly requestRateMs?: number;
  /** What each preset would make of the same answers and failures, without asking again. */
  readonly underProfiles: readonly ProfileState[];
}

/** One request for robots.txt, and what came. */
export interface PolicyHop {
  /** What was requested; cut when very long, like {@link location}. */
  readonly url: string;
  /** Absent when no response arrived. */
  readonly status?: number;
  /** The field as it came. */
  readonly location?: string;
}

/** One attempt: a request, and its redirects. */
export interface PolicyAttempt {
  readonly kind: Outcome['kind'];
  /** When it ended. */
  readonly at: number;
  /** Every request of it, in order; at least one. Of some stored by other versions only the last is known. */
  readonly hops: readonly PolicyHop[];
  /** Of the last response, as far as they are kept. */
  readonly headers: AnswerHeaders;
  /** Why an answer that broke nothing counts as unavailable, when its status is not the reason. */
  readonly unavailable?: UnavailableReason;
  /** Why it failed: a literal code. */
  readonly error?: string;
}

export interface PolicyLifetime {
  readonly fetchedAt: number;
  /** From here on a question waits for a new answer. */
  readonly staleAt: number;
  /** What was taken off at random, in milliseconds, so that origins met together do not come due together. */
  readonly jitterMs?: number;
  /** What the answer said, and which bound of the profile changed it. Absent when the answer's fields are not known. */
  readonly why?: Freshness;
}

export type PolicyNextAttempt =
  /** The last tenth of the lifetime begins: a question is answered at once, and starts a refresh. */
  | { readonly at: number; readonly why: 'refresh-ahead' }
  /** The pause after a failure, which doubles with each in a row. `failures`: how many there were. */
  | { readonly at: number; readonly why: 'backoff'; readonly failures: number }
  /** The server asked for it. `pauseMs`: within the bounds of the profile. */
  | { readonly at: number; readonly why: 'retry-after'; readonly pauseMs: number };

export interface PolicyFile {
  /** The octets that were read. Not to be changed. */
  readonly body: Uint8Array;
  readonly sizeBytes: number;
  /** `maxBodyBytes`: how much of a file is read. */
  readonly limitBytes: number;
  /** Whether it went on past the limit. */
  readonly truncated: boolean;
  readonly contentType?: string;
  /** Where it was found. */
  readonly finalUrl: string;
  /** When it arrived, or was last confirmed by a 304. */
  readonly fetchedAt: number;
}

export type ProfileState = { readonly profile: ProfileName } & StateUnderProfile;
