import type { AnswerHeaders, Redirect, UnavailableReason } from './outcome.ts';
import type { Suspect } from './challenge-pages.ts';

/**
 * Everything remembered of one origin. Plain data: it can be written to a store and read back. All times are
 * epoch milliseconds. What it *means* depends on the profile and the moment: ask `stateOf()`.
 */
export interface OriginRecord {
  /** Scheme, host and port, as `URL.origin` serialises them (`https://example.com`). */
  readonly origin: string;
  /** The last conclusive answer. Absent when the origin has never answered conclusively. */
  readonly answer?: Answer;
  /**
   * The last good copy of the file. While `answer.kind` is `rules` it is the file in force; otherwise it is
   * kept only where the profile can still use it.
   */
  readonly copy?: Copy;
  /** Present from the first failed attempt until the next conclusive answer. */
  readonly failure?: Failure;
  /** The last signal about the rest of the site: `report()` and guarded page requests. */
  readonly site?: { readonly reachable: boolean; readonly at: number };
}

interface Suspicion {
  /** What the answer looks like, if not like what it should be. */
  readonly suspect?: Suspect;
}

/** How an attempt went, for those who want to know. Nothing is decided by it, and a store may leave it out. */
interface Course {
  /** Absent when there were none. */
  readonly redirects?: readonly Redirect[];
  /** Of the last response. Absent when none arrived, or it had none of them. */
  readonly headers?: AnswerHeaders;
}

interface AnswerBase extends Course, Suspicion {
  /** Status of the last hop. */
  readonly status: number;
  readonly finalUrl: string;
  readonly hops: number;
  /** When the answer arrived or was last confirmed by a 304. */
  readonly fetchedAt: number;
  /** From here on a question waits for a new answer. */
  readonly staleAt: number;
}

export type Answer =
  | (AnswerBase & {
      readonly kind: 'rules';
      /** A 304 confirmed the copy, whose status stands above. */
      readonly notModified?: true;
    })
  | (AnswerBase & {
      readonly kind: 'unavailable';
      readonly reason?: UnavailableReason;
      /** When the origin first said so in a row; bounds `keepCopyOnUnavailableMs`. */
      readonly since: number;
    })
  | (AnswerBase & { readonly kind: 'restricted' });

/** A robots.txt body and what is needed to ask whether it changed. */
export interface Copy extends Suspicion {
  readonly body: Uint8Array;
  readonly truncated: boolean;
  readonly status: number;
  readonly finalUrl: string;
  readonly hops: number;
  /** When this body arrived or was last confirmed. */
  readonly fetchedAt: number;
  /** Validators belong to `finalUrl` alone. */
  readonly etag?: string;
  readonly lastModified?: string;
  readonly contentType?: string;
}

export interface Failure extends Course, Suspicion {
  /** First failure in a row: the phases of a profile count from here. */
  readonly since: number;
  /** Latest failure. */
  readonly at: number;
  /** Failures in a row, at least 1. */
  readonly attempts: number;
  /** A question from here on starts the next attempt. */
  readonly retryAt: number;
  /** The pause that `Retry-After` asked for, when it is what `retryAt` comes from. */
  readonly retryAfterMs?: number;
  readonly status?: number;
  readonly error: string;
  readonly finalUrl: string;
  readonly hops: number;
}
