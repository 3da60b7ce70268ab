import type {
  AnswerHeaders,
  OriginState,
  Outcome,
  Profile,
  Suspect,
  UnavailableReason,
} from '../../lifecycle/index.ts';
import type { Decision, DecisionUsage } from '../../decision/index.ts';
import type { RecordWithoutBody } from '../../store/record/stored-body.ts';

interface EntryBase {
  /** When it happened, in epoch ms by the clock of the client. */
  readonly at: number;
}

interface OriginEntryBase extends EntryBase {
  readonly origin: string;
}

/** The first entry of each client. What follows it, up to the next one, is of this client. */
export interface RunEntry extends EntryBase {
  readonly type: 'run';
  readonly id: string;
  /** Version of canfetch. */
  readonly version: string;
  /** Name of the client's profile. */
  readonly profile: string;
  /** Profiles that are not built in, or that single origins have: by name, or by origin. */
  readonly profiles?: Readonly<Record<string, Profile>>;
  readonly agent: string | readonly string[];
}

/** A request of an attempt, and its answer. Absent: no answer arrived. */
export interface EvidenceHop {
  readonly url: string;
  readonly status?: number;
  /** The `Location` of a redirect that was followed. */
  readonly location?: string;
}

/** The end of an attempt to get a robots.txt. */
export interface AttemptEntry extends OriginEntryBase {
  readonly type: 'robots';
  /** Number of the attempt within the run. */
  readonly id: number;
  readonly outcome: Outcome['kind'];
  readonly hops: readonly EvidenceHop[];
  /** Status of the last hop. */
  readonly status?: number;
  /** Why robots.txt is unreachable: a literal code. */
  readonly error?: string;
  /** Why an answer counts as unavailable whose status does not. */
  readonly because?: UnavailableReason;
  /** The fields of the last answer that mattered. */
  readonly headers?: AnswerHeaders;
  /** The pause that `Retry-After` asked for, within the bounds of the profile. */
  readonly retryAfterMs?: number;
  /** Digest of the decoded bytes in force after this answer, in hex. */
  readonly sha256?: string;
  /** Those bytes, when this answer brought them. */
  readonly body?: Uint8Array;
  readonly truncated?: true;
  readonly suspect?: Suspect;
  readonly profile: string;
  /** The end of the lifetime, jitter included. */
  readonly staleAt?: number;
  /** The end of the pause after a failure, jitter included. */
  readonly retryAt?: number;
  /** The result was used for those who waited for it, and not kept: the origin was forgotten meanwhile. */
  readonly detached?: true;
  /** Number, within the run, of the entry that brought the record before this attempt. Absent: the latest of the origin. */
  readonly previous?: number;
}

/** What the caller said of an origin by the option `overrides`. */
export interface OverrideEntry extends OriginEntryBase {
  readonly type: 'robots';
  readonly override: 'text' | 'allow' | 'disallow';
  readonly because?: string;
  readonly sha256?: string;
  readonly body?: Uint8Array;
  readonly profile: string;
}

/** A record that came from a store or a snapshot and is in force now. The body of its copy is by digest. */
export interface StoredEntry extends OriginEntryBase {
  readonly type: 'stored';
  readonly record: RecordWithoutBody;
  readonly sha256?: string;
  readonly body?: Uint8Array;
  readonly profile: string;
  /** It was used once, and not kept: the origin was forgotten meanwhile. */
  readonly detached?: true;
}

/** What the caller or a guard said of the site beside its robots.txt. */
export interface SignalEntry extends OriginEntryBase {
  readonly type: 'signal';
  readonly reachable: boolean;
}

/** The origin is no longer in memory. */
export interface ForgottenEntry extends OriginEntryBase {
  readonly type: 'forgotten';
  readonly because: 'invalidated' | 'evicted';
}

/** An answered question. Of a request, however often it waited, there is one. */
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
  /** The URL that the caller asked for, when redirects led to `url`. */
  readonly requested?: string;
  readonly usage?: DecisionUsage;
  readonly because?: string;
  /** A crawler has looked up a link, before it queued it. */
  readonly lookup?: true;
  /** Number, within the run, of the entry that brought the record that decides. Absent: the latest of the origin. */
  readonly by?: number;
}

/** A request that was sent without a question, by the caller's wish. */
export interface IgnoredEntry extends OriginEntryBase {
  readonly type: 'ignored';
  readonly url: string;
  readonly because: string;
}

/** An entry of the evidence of a client: what was in force when, and what was decided by it. */
export type EvidenceEntry =
  | RunEntry
  | AttemptEntry
  | OverrideEntry
  | StoredEntry
  | SignalEntry
  | ForgottenEntry
  | DecisionEntry
  | IgnoredEntry;
