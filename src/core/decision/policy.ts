import type {
  RobotsResponseHeaders,
  Failure,
  Freshness,
  OriginState,
  Outcome,
  Suspect,
  UnavailableReason,
} from '../lifecycle/index.ts';
import type { RobotsSource } from './robots-source.ts';
import type { Group, MatchedGroup, RobotsFile, Sitemap } from '../rules/index.ts';

/** A `Sitemap` line. */
export interface PolicySitemap extends Sitemap {
  /** A relative URL is resolved against the final URL of robots.txt. */
  readonly url: string;
  /** The line's value as written, if `url` is another. */
  readonly written?: string;
}

/** Everything known of an origin: the result of `client.policy()`. Times are epoch milliseconds. */
export interface OriginPolicy {
  readonly origin: string;
  /** Name of the profile that was applied. */
  readonly profile: string;
  readonly state: OriginState;
  /** The reason why no rules are in force. Absent while rules are. */
  readonly reason?:
    | 'unavailable'
    | 'restricted'
    | 'unreachable'
    | 'unreachable-expired'
    | 'unreachable-allowed'
    | 'override';
  /** The caller's reason for an override of this origin. */
  readonly because?: string;
  readonly robots: RobotsSource;
  /** SHA-256 of the bytes in force, in hex. Absent when no file is. */
  readonly sha256?: string;
  /**
   * The addresses that the client's `addressPolicy` is checked against. `'connections'`: the address of every
   * connection. `'literals'`: only addresses in URLs, and `localhost`; a host name counts as public. This applies with
   * `transport` or `dispatcher`, with a global dispatcher, and on platforms whose `fetch` is the transport (Bun,
   * Workers, browsers).
   */
  readonly addressChecks: 'connections' | 'literals';
  /** The last attempt to fetch robots.txt. Absent when there was none. */
  readonly attempt?: PolicyAttempt;
  /** The lifetime of the last conclusive response, and where it comes from. */
  readonly lifetime?: PolicyLifetime;
  /** The time from which a question starts the next attempt, and the reason for that time. */
  readonly nextAttempt?: PolicyNextAttempt;
  /**
   * The kind of page that came instead of a robots.txt: a challenge, a block page, a login form, or some other page.
   * A guess; no decision depends on it unless the profile's `challenge` says so.
   */
  readonly suspect?: Suspect;
  /** The consecutive failures, while there are any. */
  readonly failure?: Failure;
  /** Epoch ms from which a question starts the next attempt. */
  readonly retryAt?: number;
  /** The queue of page requests, and their pause. Absent when `pacing` knows nothing of the origin. */
  readonly pacing?: OriginPacing;
  /** The last signal about the rest of the site. */
  readonly site?: { readonly reachable: boolean; readonly at: number };
  /** The file in force, or the last good copy of it. */
  readonly file?: PolicyFile;
  /** The parsed file; absent when there is none. */
  readonly rules?: RobotsFile;
  /** All groups, as written in the file. */
  readonly groups: readonly Group[];
  /** The `Sitemap` lines of the file. */
  readonly sitemaps: readonly PolicySitemap[];
  /**
   * The product token that `group` and the delays are for: the client's own; or, of the agents asked for, the first
   * that some group names.
   */
  readonly agent: string;
  /** The group that applies to {@link agent}. Absent when neither it nor `*` has one. */
  readonly group?: MatchedGroup;
  /** `Crawl-delay` for {@link agent}, in milliseconds. */
  readonly crawlDelayMs?: number;
  /** `Request-rate` for {@link agent}, as milliseconds between two requests. */
  readonly requestRateMs?: number;
}

/** What decides when a request may start: the gap between starts, the number in flight, or a pause. */
export type DelayFrom =
  | 'crawl-delay'
  | 'request-rate'
  | 'default-delay'
  | 'min-delay'
  | 'latency'
  | 'concurrency'
  | Pause['delayFrom'];

/** The page requests of this process to one host, or what else `scope` says. Times are epoch milliseconds. */
export interface OriginPacing {
  /** What shares the queue: a host, an origin, or the text of the caller's function. */
  readonly scope: string;
  /** The number of requests that wait. */
  readonly waiting: number;
  /** Requests that have started and not ended. */
  readonly inFlight: readonly { readonly url: string; readonly startedAt: number }[];
  /** The earliest start of a request made now. */
  readonly nextAt: number;
  /** About when the last request that waits now may start; now when none waits. */
  readonly drainsAt: number;
  /** The gap between two starts. */
  readonly gapMs: number;
  /** What decides {@link nextAt}. */
  readonly delayFrom: DelayFrom;
  /** The pause in force, from a response to this process or to another one of the fleet. */
  readonly pause?: Pause;
}

/** A time in which no page, and no robots.txt that is known, is requested. Epoch milliseconds. */
export interface Pause {
  readonly from: number;
  readonly until: number;
  /** Counts the incidents without 30 quiet minutes between them, from 1. */
  readonly incident: number;
  /** The status that asked for it; absent when it came by `report` or from another process of the fleet. */
  readonly status?: number;
  /** Whether the site named the time, or it was guessed. */
  readonly delayFrom: 'retry-after' | 'back-off';
}

/** One request for robots.txt, and its response. */
export interface PolicyHop {
  /** The URL requested. Truncated when very long, like {@link location}. */
  readonly url: string;
  /** Absent when no response arrived. */
  readonly status?: number;
  /** The `Location` field as received. */
  readonly location?: string;
}

/** One attempt: a request, and the redirects that followed. */
export interface PolicyAttempt {
  readonly kind: Outcome['kind'];
  /** The time at which it ended. */
  readonly at: number;
  /** Its requests, in order; at least one. For some records of other versions only the last is known. */
  readonly hops: readonly PolicyHop[];
  /** The stored header fields of the last response. */
  readonly headers: RobotsResponseHeaders;
  /** The reason why the response counts as unavailable, when that is not its status. */
  readonly unavailable?: UnavailableReason;
  /** The error code of a failed attempt. */
  readonly error?: string;
}

export interface PolicyLifetime {
  readonly fetchedAt: number;
  /** The time from which a question waits for a new response. */
  readonly staleAt: number;
  /** Milliseconds taken off by jitter, so that origins fetched together do not expire together. */
  readonly jitterMs?: number;
  /**
   * The freshness information of the response, and the bound of the profile that changed it. Absent when the header
   * fields are not known.
   */
  readonly why?: Freshness;
}

export type PolicyNextAttempt =
  /** The last tenth of the lifetime begins: a question is decided at once, and starts a refresh. */
  | { readonly at: number; readonly why: 'refresh-ahead' }
  /** The backoff after consecutive failures. `failures`: their number. */
  | { readonly at: number; readonly why: 'backoff'; readonly failures: number }
  /** The pause that the server asked for. `pauseMs`: within the bounds of the profile. */
  | { readonly at: number; readonly why: 'retry-after'; readonly pauseMs: number };

export interface PolicyFile {
  /** The bytes that were read. Do not change them. */
  readonly body: Uint8Array;
  readonly sizeBytes: number;
  /** `maxBodyBytes`, the limit for reading a file. */
  readonly limitBytes: number;
  /** Whether bytes past the limit were not read. */
  readonly truncated: boolean;
  readonly contentType?: string;
  /** The URL of the last request, after redirects. */
  readonly finalUrl: string;
  /** The time at which it arrived, or was last confirmed by a 304. */
  readonly fetchedAt: number;
}
