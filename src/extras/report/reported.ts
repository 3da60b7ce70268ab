import type { Decision, DelayFrom } from '../../core/decision/index.ts';

/** A URL that was refused, and why. */
export interface ReportedRefusal {
  readonly origin: string;
  /** The reason of the decision; `usage` when a guard refused the page for its purpose. */
  readonly reason: Decision['reason'] | 'usage';
  /** Without user name and password. Truncated to 2,000 characters. */
  readonly url: string;
  /** The URL that was requested, if redirects led from there to `url`. Without user name and password. Truncated to 2,000 characters. */
  readonly requested?: string;
  /** The rule that disallows it. The pattern is truncated to 200 characters. */
  readonly rule?: NonNullable<Decision['rule']>;
  /** The line or header field that disallows the purpose. The value is truncated to 200 characters. */
  readonly statement?: { readonly directive: string; readonly value: string; readonly line?: number };
  /** The status of robots.txt, or the error code of its last attempt, when no rule refused. */
  readonly robots?: string;
}

/** The refusals of one origin by one rule, statement or state: their number, and the first such URL. */
export interface ReportedRefusals {
  readonly origin: string;
  readonly reason: ReportedRefusal['reason'];
  /** Requests that were refused. */
  readonly refused: number;
  /** Links that a crawler did not queue. */
  readonly linksRefused: number;
  /** Questions to the client itself whose decision is no. */
  readonly questionsRefused: number;
  readonly example: ReportedRefusal;
}

/** One origin of a crawl. */
export interface ReportedOrigin {
  readonly origin: string;
  /** What is known of its robots.txt, at the latest decision. */
  readonly robots: {
    readonly state: Decision['state'];
    /** Absent when no response arrived, or it was not requested. */
    readonly status?: number;
    /** The code of its last attempt, if that failed. */
    readonly error?: string;
    /** While it is unreachable: when it may be requested again, in epoch milliseconds. */
    readonly retryAt?: number;
    /** It looks like something else, such as a login page. */
    readonly suspect?: NonNullable<Decision['robots']['suspect']>;
  };
  /** Requests that were sent over a connection, each redirect included. */
  readonly sent: number;
  /** Requests that robots.txt allowed. */
  readonly allowed: number;
  /** Requests that were refused. */
  readonly refused: number;
  /** Requests that would have waited longer than `maxDelayMs`. */
  readonly deferred: number;
  /** Pauses that its responses led to. */
  readonly paused: number;
  /** The planned length of these pauses together, in milliseconds. */
  readonly pausedMs: number;
  /** Of these pauses, those whose length the site stated in `Retry-After`. */
  readonly pausesAsked: number;
  /** What became of its pages. A redirect is no page. */
  readonly pages: {
    /** A response of the site with 2xx or 304, and its whole body as far as the guard sees. */
    readonly success: number;
    /** Refused by robots.txt, or for the purpose. */
    readonly robots_disallowed: number;
    /** No response, or no whole body, in time. */
    readonly timeout: number;
    /** Other statuses, challenges, other failures, and bodies that were cut. */
    readonly page_error: number;
  };
  /** Pages whose last response was a 429 or 503, or another status that pauses. */
  readonly busy: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses by a service in place of the site, such as a challenge: by its name (`cloudflare`). */
  readonly refusedAtEdge: Readonly<Record<string, number>>;
  /** The latest price that a 402 named (`crawler-price`, x402). Truncated to 200 characters. */
  readonly price?: string;
}

/** What slows the crawl now: requests that wait, or a pause. */
export interface ReportedSlowness {
  /** A host, or what `pacing.scope` says. */
  readonly scope: string;
  /** What they wait for, and how long the gap or the pause is, in milliseconds. */
  readonly delayFrom: DelayFrom;
  readonly delayMs: number;
  readonly waiting: number;
  /** About when the last of them may start, in epoch milliseconds. */
  readonly drainsAt: number;
}

/** The counts of a report. */
export interface CrawlTotals {
  /**
   * Requests of guards that were sent, and have a response or a failure: what the servers saw. Each redirect counts. Requests for robots.txt, and those without a connection, are not counted.
   */
  readonly sent: number;
  /** Requests without a response. Without a connection they are not in `sent`; the server may have seen the others. */
  readonly failed: number;
  /** Responses to `sent`, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests of `sent` to which a service responded in place of the site, such as with a challenge. */
  readonly challenged: number;
  /** Requests of `sent` whose body was cut after the header had come. */
  readonly cut: number;
  /** Paced responses whose bodies nobody began to read. Each held up its site. */
  readonly unread: number;
  /** Pages whose last response was a 429 or 503, or another status that pauses. */
  readonly busy: number;
  /** Requests that were not sent, and decisions that are no, because the address policy refused the address. */
  readonly addressesRefused: number;
  /** Requests of `sent` whose response was a 402 (Payment Required). */
  readonly paymentRequired: number;
  /** Requests of guards that were allowed, however often each waited. */
  readonly allowed: number;
  /** Requests of guards that were refused: not sent, but for `refusedByHeader`, and in a dry run. */
  readonly refused: number;
  /** Different URLs of `refused`: up to 100,000 are distinguished. */
  readonly refusedUrls: number;
  /** Requests of `refused` that were sent: header fields of the response forbid the purpose. They count as `allowed`, too. */
  readonly refusedByHeader: number;
  /** Requests that were allowed, but not sent because they would have waited longer than `maxDelayMs`. */
  readonly deferred: number;
  /** Requests that guards sent without a check (`robots: { ignore: true, because }`). */
  readonly ignored: number;
  /** The same by the caller's reason, truncated to 200 characters: the first 100 reasons. */
  readonly ignoredBecause: Readonly<Record<string, number>>;
  /** Pauses of origins (see `pacing`). */
  readonly pauses: number;
  /** Links that a crawler looked up in memory before it queued them. Those that are queued are requests later. */
  readonly linksLookedUp: number;
  /** The links that were refused, and so not queued. */
  readonly linksRefused: number;
  /** Questions to the client itself: `check`, `canFetch`, `peek`, `reserve`. */
  readonly questions: number;
  /** The questions whose decision is no. */
  readonly questionsRefused: number;
  /** Decisions by the last good copy, because robots.txt was unreachable. */
  readonly lastGood: number;
  /** The URL of the first decision, if that is a refusal. */
  readonly firstRefused?: ReportedRefusal;
  /** Refusals beyond the first 1,000 pairs of origin and rule. They are counted only. */
  readonly unlisted: number;
}

/** What `JSON.stringify(report)` has. */
export interface CrawlReportData {
  readonly totals: CrawlTotals;
  readonly refusals: readonly ReportedRefusals[];
  readonly origins: readonly ReportedOrigin[];
  readonly slowed: readonly ReportedSlowness[];
}

/** The requests that a crawl sent, and its refusals. Made by `crawlReport`. */
export interface CrawlReport extends Disposable {
  totals(): CrawlTotals;
  /** Refusals, by origin and rule: the most frequent first. At most 1,000. */
  refusals(): readonly ReportedRefusals[];
  /** The first 1,000 origins: those with the most requests first. */
  origins(): readonly ReportedOrigin[];
  /** What slows the crawl now: the longest queues first. */
  slowed(): readonly ReportedSlowness[];
  /** Text: the totals, the 20 most frequent refusals, what slows the crawl, and what is to be known of sites. Safe for terminals. */
  toString(): string;
  /** Lines of NDJSON: the totals, then each entry of the lists. */
  toNDJSON(): IterableIterator<string>;
  /** The totals and the lists, for `JSON.stringify`. */
  toJSON(): CrawlReportData;
  /** Stops counting. What was counted stays. */
  close(): void;
}
