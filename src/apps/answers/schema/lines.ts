/**
 * The JSON of the command and the service beside decisions and policies.
 */
import type { Decision, DecisionUsage, DelayFrom, RobotsSource } from '../../../core/decision/index.ts';
import type { Copy, Gatekeeper, OriginRecord } from '../../../core/lifecycle/index.ts';
import type {
  Diagnostic,
  MatchedGroup,
  MatchedRule,
  PageDirectives,
  Usage,
  Verdict,
} from '../../../core/rules/index.ts';
import type { FileDecision } from '../verdict.ts';
import type { DiagnosticDescription } from '../../../core/rules/lint/findings.ts';
import type { EarlyStart } from '../../../extras/evidence/conduct.ts';
import type { ReplayDifference, ReplayReport } from '../../../extras/evidence/replay.ts';
import type { Asked, Circumstances, ExplanationResult, PolicyData } from './answers.ts';

interface Line {
  readonly schemaVersion: 1;
}

/** `canfetch explain --json`. */
export type ExplainedUrl = ExplanationResult & { readonly page?: PageFetchResult };
/** The same with `--robots FILE`. */
export type ExplainedByFile = Asked & FileDecision & Circumstances;

/** With `--page`: what the header fields of a page state about its use, or why they were not read. */
export type PageFetchResult =
  | {
      /** After redirects. */
      readonly url: string;
      readonly status: number;
      /** The service that answered in place of the site, such as `cloudflare`. */
      readonly gatekeeper?: Gatekeeper | undefined;
      readonly directives: PageDirectives;
      /** By robots.txt of the page's origin and by its header fields. */
      readonly usage: Usage;
    }
  | { readonly error: PageFailure };
interface PageFailure {
  readonly code?: string;
  readonly message: string;
  /** Of a redirect that was refused: the URL that was asked for. */
  readonly requested?: string;
  /** The URLs between that and the URL of the decision. */
  readonly redirects?: readonly string[];
  /** The decision about the URL that was refused. */
  readonly decision?: Decision;
}

/** `canfetch policy --json`. */
export type PolicyLine = Line & PolicyData;

export type DiagnosticRecord = Diagnostic & DiagnosticDescription;

/** `canfetch lint --json`: one finding. */
export type LintLine = Line & Omit<DiagnosticRecord, 'explanation'> & { readonly file: string };

/** `canfetch test --json`: one expectation. */
export interface TestLine extends Line {
  /** The file of expectations. */
  readonly file: string;
  readonly line: number;
  readonly expected: 'allow' | 'disallow';
  readonly agent: string;
  readonly input: string;
  readonly met: boolean;
  /** The robots.txt under test. */
  readonly robots: string;
  readonly allowed: boolean;
  readonly reason?: Verdict['reason'];
  readonly rule?: MatchedRule;
  readonly group?: MatchedGroup;
  /** Why there is no file to decide by. */
  readonly because?: string;
}

/** `canfetch prefetch --json`: the state of one origin. */
export interface PrefetchLine
  extends
    Line,
    Pick<Decision, 'origin' | 'state' | 'retryAt'>,
    Pick<RobotsSource, 'status' | 'error' | 'fetchedAt' | 'staleAt' | 'source' | 'suspect'> {
  /** Absent when rules are in force. */
  readonly reason?: Decision['reason'];
  /** With `finalUrl`: absent without redirects. */
  readonly hops?: number;
  readonly finalUrl?: string;
}

/** `canfetch cache ls` and `show`: one record of a store. `text` is the file, of `show` alone. */
export interface StoredLine extends Line, Partial<Pick<OriginRecord, 'answer' | 'failure' | 'site'>> {
  readonly origin: string;
  readonly agent: string;
  readonly addressPolicy: string;
  readonly expiresAt: number;
  /** Why a client would reject the record. */
  readonly rejected?: string;
  readonly copy?: Omit<Copy, 'body'> & { readonly bytes: number; readonly text?: string };
}

/** `canfetch replay --json`: a decision that differs, or an entry that does not fit. */
export type ReplayLine = Line & ReplayDifference & { readonly file: string };

/** The last line of `canfetch replay --json`. */
export type ReplayReportLine = Line & ReplayReport & { readonly kind: 'report' };

/** `canfetch replay --list --json`: a decision, or a request without a check, and what became of it. */
export interface ListedDecisionLine extends Line {
  readonly kind: 'listed';
  readonly file: string;
  readonly line: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly url: string;
  /** The URL that the caller asked for, if redirects led to `url`. */
  readonly requested?: string;
  readonly agent?: string;
  readonly profile?: string;
  /** By robots.txt. Absent: the request was not checked. */
  readonly allowed?: boolean;
  /** In words, as `why` and `outcome`. */
  readonly decision: string;
  readonly reason?: Decision['reason'];
  readonly why: string;
  readonly rule?: MatchedRule;
  readonly usage?: DecisionUsage;
  readonly sha256?: string;
  readonly outcome: string;
  /** The entry of the request, or of its deferral. */
  readonly request?: object;
  /** The code of the error that cut the body of its response. */
  readonly cut?: string;
}

/** `canfetch replay --summary --json`: decisions and requests of an agent at an origin. Links that were looked up do not count. */
export interface SummaryLine extends Line {
  readonly kind: 'summary';
  readonly agent: string;
  readonly origin: string;
  readonly allowed: number;
  /** By robots.txt. */
  readonly refused: number;
  /** Allowed, but not wanted for its purpose. */
  readonly notWanted: number;
  readonly deferred: number;
  readonly requested: number;
  readonly requestedAlthoughRefused: number;
}

/** `canfetch replay --versions --json`: a version of an origin's robots.txt. */
export interface FileVersionLine extends Line {
  readonly kind: 'version';
  readonly origin: string;
  /** When it was fetched. */
  readonly from: number;
  /** When it was last in force, by the log. */
  readonly until: number;
  readonly sha256?: string;
  /** Why there was no file. */
  readonly outcome?: 'unavailable' | 'restricted';
  readonly status?: number;
}

/** `canfetch replay --conduct --json`: a request that was sent too early. */
export type EarlyStartLine = Line & EarlyStart & { readonly kind: 'early' };

/** `canfetch replay --conduct --json`: a request that was sent although it was refused. */
export interface AlthoughRefusedLine extends Line {
  readonly kind: 'although-refused';
  readonly file: string;
  /** Of the request. */
  readonly line: number;
  /** Where the decision is, or the reason for no check. */
  readonly decisionFile: string;
  readonly decisionLine: number;
  readonly url: string;
  readonly startedAt: number;
  readonly refusal: 'disallowed' | 'not-wanted';
  readonly why: string;
}

/** The last line of `canfetch replay --conduct --json`. */
export interface ConductReportLine extends Line {
  readonly kind: 'conduct';
  readonly requests: number;
  readonly early: number;
  /** Sent although they were refused. */
  readonly refused: number;
  /** Requests whose site's own delay is not in the log. */
  readonly unknown: number;
}

/** The response of `POST /v1/reserve`. */
export interface ReservationResult extends Line {
  readonly input: string;
  readonly status: 'booked' | 'deferred' | 'refused';
  readonly id?: string;
  readonly at?: number;
  readonly waitMs?: number;
  readonly delayMs?: number;
  readonly delayFrom?: DelayFrom;
  readonly retryAt?: number;
  readonly decision: Decision;
}

/** The response of `POST /v1/done`. */
export interface DoneResult extends Line {
  readonly id: string;
}

/** A line of `--log` of `canfetch serve`. */
export interface AccessLine extends Line {
  readonly time: string;
  readonly method?: string;
  readonly path: string;
  readonly url?: string;
  readonly origin?: string;
  /** Of the decision, if the response has one. */
  readonly agent?: string;
  readonly allowed?: boolean;
  readonly reason?: Decision['reason'];
  readonly status: number;
  readonly durationMs: number;
  readonly address?: string;
  readonly aborted?: true;
}
