import type {
  OriginState,
  Outcome,
  Profile,
  RobotsResponseHeaders,
  Suspect,
  UnavailableReason,
} from '../../lifecycle/index.ts';
import type { Decision, DecisionUsage, OwnDelays, Pause } from '../../decision/index.ts';

interface EntryBase {
  /** When it happened, in epoch ms by the client's clock. */
  readonly at: number;
  /** Id of the run: one client, from its construction on. */
  readonly run: string;
  /** Number of the entry within its run, from 0. */
  readonly n: number;
}

interface OriginEntryBase extends EntryBase {
  readonly origin: string;
}

/** The first entry of a client. */
export interface RunEntry extends EntryBase {
  readonly type: 'run';
  /** Version of canfetch. */
  readonly version: string;
  /** Name of the client's profile. */
  readonly profile: string;
  /** Profiles that are not built in, or that single origins have: by name, or by origin. */
  readonly profiles?: Readonly<Record<string, Profile>>;
  readonly agent: string | readonly string[];
  /** In a file that continues a run: the number of the run's next entry. The entries before it are in other files. */
  readonly from?: number;
}

/** A request of an attempt, and its response. Absent: no response arrived. */
export interface RobotsRequest {
  readonly url: string;
  readonly status?: number;
  /** The `Location` of a redirect that was followed. */
  readonly location?: string;
}

/** What a response for a robots.txt, or a failure, says. Decisions rest on it from then on. Times in epoch ms. */
interface OutcomeEntryBase extends OriginEntryBase {
  readonly outcome: Outcome['kind'];
  /** Status of the last response. */
  readonly status?: number;
  /** Why robots.txt is unreachable: an error code. */
  readonly error?: string;
  /** Why robots.txt is unavailable, if the status does not say so. */
  readonly reason?: UnavailableReason;
  /** Set when the response does not look like a robots.txt. */
  readonly suspect?: Suspect;
  /** Header fields of the last response, from which the lifetime or the pause comes. */
  readonly headers?: RobotsResponseHeaders;
  /** SHA-256, in hex, of the decoded bytes in force, or of the last good copy. */
  readonly sha256?: string;
  /** Those bytes. A file has them once for each digest. */
  readonly body?: Uint8Array;
  readonly profile: string;
  /** Until when the response may decide. Absent for a failure. */
  readonly staleAt?: number;
  /** Of a failure: since when each attempt has failed. */
  readonly since?: number;
  /** Of a failure: when the next attempt may start. */
  readonly retryAt?: number;
  /** Until when the last good copy serves beside a robots.txt that is unavailable. */
  readonly copyUntil?: number;
}

/** An attempt to fetch a robots.txt has ended. */
export interface AttemptEntry extends OutcomeEntryBase {
  readonly type: 'robots';
  /** The request, and those of its redirects. */
  readonly requests: readonly RobotsRequest[];
}

/** The value of the option `overrides` for an origin. */
export interface OverrideEntry extends OriginEntryBase {
  readonly type: 'robots';
  readonly override: 'text' | 'allow' | 'disallow';
  readonly because?: string;
  readonly sha256?: string;
  readonly body?: Uint8Array;
  readonly profile: string;
}

/** What a store knew of an origin, which is in force now: the outcome of an attempt of another process, or of an earlier run. */
export interface StoredEntry extends OutcomeEntryBase {
  readonly type: 'stored';
  /** URL of the last request. */
  readonly finalUrl: string;
  /** Number of redirects followed. */
  readonly hops: number;
  /** When the response arrived, or the attempt failed. */
  readonly fetchedAt: number;
}

/** The caller, or a guard, reported whether the site is reachable. */
export interface SignalEntry extends OriginEntryBase {
  readonly type: 'signal';
  readonly reachable: boolean;
}

/** The origin is no longer in memory. */
export interface ForgottenEntry extends OriginEntryBase {
  readonly type: 'forgotten';
  readonly reason: 'invalidated' | 'evicted';
}

/** A decision. Each request has one, even if it waited. */
export interface DecisionEntry extends OriginEntryBase {
  readonly type: 'decision';
  readonly url: string;
  readonly agent: string;
  readonly profile: string;
  readonly allowed: boolean;
  readonly state: OriginState;
  readonly reason: Decision['reason'];
  readonly rule?: {
    readonly directive: 'allow' | 'disallow';
    readonly pattern: string;
    readonly line: number;
  };
  readonly sha256?: string;
  /** The URL that the caller asked for, if redirects led to `url`. */
  readonly requested?: string;
  readonly usage?: DecisionUsage;
  readonly because?: string;
  /** The client was asked, and no guard: whether a request follows is up to the caller. */
  readonly question?: true;
  /** A guard refused the request. Absent in a dry run, where the request is sent. */
  readonly refused?: true;
  /** A crawler looked up a link before it queued the link. No request follows from this decision. */
  readonly lookup?: true;
  /** The origin paused, so that a robots.txt past its lifetime served. */
  readonly paused?: true;
  /** Number of the `robots` or `stored` entry that it rests on. Absent: it rests on none. */
  readonly by?: number;
  /** robots.txt fails, and the site is reachable otherwise. */
  readonly siteReachable?: true;
}

/** A guard sent a request without a check, because its caller said so. */
export interface IgnoredEntry extends OriginEntryBase {
  readonly type: 'ignored';
  readonly url: string;
  readonly because: string;
}

/**
 * A guard sent a request: the header of its response has come, or it failed. Redirects are requests of their own. For a
 * booking of `reserve`: `done` was called the first time.
 */
export interface RequestEntry extends OriginEntryBase {
  readonly type: 'request';
  readonly url: string;
  /** When it was sent, in epoch ms. For a booking: its time, or that of `done` if it is earlier. */
  readonly startedAt: number;
  readonly status?: number;
  /** Code of the error, if there was no response. */
  readonly error?: string;
  /** The response's header fields forbid the purpose of the guard, so the caller got this error instead. */
  readonly refused?: 'ERR_ROBOTS_USAGE';
  /** The field `Retry-After` of a 429 or 503. */
  readonly retryAfter?: string;
  /** The price that a 402 names. */
  readonly price?: string;
  /** The crawler's own delays, if the request was paced. */
  readonly pacing?: OwnDelays;
}

/** The body of a response was cut after its header had come, which the entry of the request has. */
export interface CutEntry extends OriginEntryBase {
  readonly type: 'cut';
  readonly url: string;
  readonly status: number;
  /** Code of the error. */
  readonly error: string;
}

/** A request was allowed, and not sent: it would have waited longer than `maxDelayMs`. */
export interface DeferredEntry extends OriginEntryBase {
  readonly type: 'deferred';
  readonly url: string;
  readonly retryAt: number;
  readonly delayFrom: string;
}

/** An origin pauses, or pauses longer. Times in epoch ms. In a fleet, another process may have learnt of the pause. */
export interface PauseEntry extends OriginEntryBase {
  readonly type: 'pause';
  /** What pauses: a host, an origin, or the text of the caller's function. */
  readonly scope: string;
  readonly from: number;
  readonly until: number;
  /** Whether the site named the time, or it is a guess. */
  readonly delayFrom: Pause['delayFrom'];
  /** Absent: `report` named a `Retry-After`, or another process of the fleet paused the origin. */
  readonly status?: number;
}

/** What a client gives to the function that it has as `evidence`. */
export type EvidenceEntry =
  | RunEntry
  | AttemptEntry
  | OverrideEntry
  | StoredEntry
  | SignalEntry
  | ForgottenEntry
  | DecisionEntry
  | IgnoredEntry
  | RequestEntry
  | CutEntry
  | DeferredEntry
  | PauseEntry;

/** The last line of a run in a file. `evidenceFile` writes it when it is closed, and before it starts a new file. */
export interface EndEntry {
  readonly type: 'end';
  readonly at: number;
  readonly run: string;
  /** The number that the next entry of the run has, or would have had. */
  readonly n: number;
  /** How many lines of the run are in the file before this one. */
  readonly entries: number;
  /** SHA-256, in hex, of these lines, their ends included. */
  readonly sha256: string;
}

/** A line of a file. */
export type EvidenceLine = EvidenceEntry | EndEntry;
