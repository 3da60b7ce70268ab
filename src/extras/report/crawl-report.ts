import {
  func,
  invokeListener,
  listenTo,
  type Check,
  omitUndefined,
  emitWarning,
  predicate,
  isFunction,
  optionTable,
  RobotsInvalidOptionsError,
  wholeNumber,
} from '../../core/base/index.ts';
import {
  BODY_UNREAD,
  type BodyMessage,
  type DecisionMessage,
  type DeferralMessage,
  type IgnoredMessage,
  type PauseMessage,
  type RequestMessage,
  type UsageRefusalMessage,
} from '../../core/decision/index.ts';
import { BUSY_STATUSES, isUnconnected } from '../../core/lifecycle/index.ts';
import { detachedString } from '../../core/url/index.ts';
import { type ClientEngine, engineOf } from '../../core/client/client-engine.ts';
import type { RobotsClient } from '../../core/client/robots-client.ts';
import { type RefusalCount, RefusalCounts, refusalOf, truncatedCopy } from './refusal-counts.ts';
import type {
  CrawlReport,
  CrawlReportData,
  CrawlTotals,
  ReportedOrigin,
  ReportedRefusal,
  ReportedRefusals,
  ReportedSlowness,
} from './reported.ts';
import { reportLines, reportRates, reportText, whyRefused } from './report-text.ts';

export type * from './reported.ts';

export interface CrawlReportOptions {
  /**
   * Called once, when the first URL that the client decides on is refused: the crawl may find nothing at all. `false`: the
   * first URL is like any other, as in a list of sites. If it throws or rejects, the process is warned once
   * (`CANFETCH_LISTENER_FAILED`).
   * @default a warning of the process (`process.emitWarning`) with the code `CANFETCH_FIRST_REFUSED`
   */
  readonly onFirstRefused?: false | ((refused: ReportedRefusal) => void);
  /**
   * How often the totals are written, in one line with rates a minute, and with what requests wait for, and until when: in
   * milliseconds, at least 1,000. The timer keeps no process alive.
   * @default never
   */
  readonly every?: number;
  /**
   * Writes that line. If it throws, the process is warned once (`CANFETCH_LISTENER_FAILED`).
   * @default console.error
   */
  readonly write?: (line: string) => void;
}

/** Origins that are listed. */
const MAX_LISTED = 1_000;
/** The most refused, and the most busy, URLs that are distinguished. */
const MAX_URLS = 100_000;
/** The most reasons for unchecked requests. Callers have few; one for each request would fill the memory. */
const MAX_REASONS = 100;
/** The longest delay of a timer. */
const MAX_EVERY_MS = 2_147_483_647;

/**
 * Counts, from now on, the requests of a client's guards, their responses, and refusals by origin and rule. Questions to
 * the client itself are counted separately. It listens to the diagnostics channels, in bounded memory. While a report is
 * open, each question makes a whole decision, and `permits` is `undefined`. Without a report this costs nothing.
 *
 * When the first decision is a refusal the process is warned, because a crawl then often finds nothing.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also on platforms without
 *   `node:diagnostics_channel`.
 *
 * @example
 * ```ts
 * using report = crawlReport(robots);
 * await crawl();
 * console.log(String(report));
 * ```
 */
export function crawlReport(client: RobotsClient, options: CrawlReportOptions = {}): CrawlReport {
  checkOptions(options, '');
  return new ChannelReport(engineOf(client), options);
}

const checkOptions: Check = optionTable<keyof CrawlReportOptions>({
  onFirstRefused: predicate('false or a function', (value) => value === false || isFunction(value)),
  every: wholeNumber(1_000, MAX_EVERY_MS, 'a whole number of milliseconds, at least 1,000'),
  write: func(),
});

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] };

/** The counts of an origin. */
interface OriginRow extends Mutable<Omit<ReportedOrigin, 'pages' | 'busy'>> {
  readonly pages: Mutable<ReportedOrigin['pages']>;
  readonly statuses: Record<string, number>;
  readonly refusedAtEdge: Record<string, number>;
}

const ADDRESS_REFUSED = 'ERR_ROBOTS_ADDRESS_REFUSED';
const TIMED_OUT = /TIME(?:D_?)?OUT|ECONNABORTED|DEADLINE/;

class ChannelReport implements CrawlReport {
  readonly #engine: ClientEngine;
  readonly #close: () => void;
  readonly #onFirstRefused: NonNullable<CrawlReportOptions['onFirstRefused']>;
  readonly #refusals = new RefusalCounts();
  readonly #origins = new Map<string, OriginRow>();
  readonly #refusedUrls = new Set<string>();
  /** Pages whose latest response was one of {@link #busyStatuses}, with their origins. */
  readonly #busyUrls = new Map<string, string>();
  readonly #busyStatuses = new Set(BUSY_STATUSES);
  readonly #statuses: Record<string, number> = {};
  readonly #counts = {
    sent: 0,
    failed: 0,
    challenged: 0,
    cut: 0,
    unread: 0,
    addressesRefused: 0,
    paymentRequired: 0,
    allowed: 0,
    refused: 0,
    refusedByHeader: 0,
    deferred: 0,
    ignored: 0,
    pauses: 0,
    linksLookedUp: 0,
    linksRefused: 0,
    questions: 0,
    questionsRefused: 0,
    lastGood: 0,
  };
  /** Decisions about pages. One about `/robots.txt` itself begins no crawl. */
  #pages = 0;
  #firstRefused: ReportedRefusal | undefined;
  readonly #ignoredBecause = new Map<string, number>();

  constructor(
    engine: ClientEngine,
    { onFirstRefused = warn, every, write = console.error }: CrawlReportOptions,
  ) {
    this.#engine = engine;
    this.#onFirstRefused = onFirstRefused;
    const stopListening = listenTo(engine.client, {
      'canfetch:decision': (message: DecisionMessage) => this.#decided(message),
      'canfetch:usage': (message: UsageRefusalMessage) => this.#refused(message, 'usage', 'refused'),
      'canfetch:request': (message: RequestMessage) => this.#requested(message),
      'canfetch:body': (message: BodyMessage) => this.#body(message),
      'canfetch:deferred': (message: DeferralMessage) => this.#deferred(message),
      'canfetch:pause': (message: PauseMessage) => this.#paused(message),
      'canfetch:ignored': (message: IgnoredMessage) => this.#ignored(message),
    });
    if (stopListening === undefined) {
      throw new RobotsInvalidOptionsError(
        'Expected a platform with `node:diagnostics_channel`, which a report listens to, got one without; ' +
          'count the decisions of `check` instead',
      );
    }
    const stopWriting = every === undefined ? undefined : this.#writeEvery(every, write);
    this.#close = () => {
      stopListening();
      stopWriting?.();
    };
  }

  totals(): CrawlTotals {
    return {
      ...this.#counts,
      statuses: { ...this.#statuses },
      refusedUrls: this.#refusedUrls.size,
      busy: this.#busyUrls.size,
      unlisted: this.#refusals.unlisted,
      ignoredBecause: Object.fromEntries(this.#ignoredBecause),
      ...omitUndefined({ firstRefused: this.#firstRefused }),
    };
  }

  refusals(): readonly ReportedRefusals[] {
    return this.#refusals.mostFrequentFirst();
  }

  origins(): readonly ReportedOrigin[] {
    const busy = new Map<string, number>();
    for (const origin of this.#busyUrls.values()) busy.set(origin, (busy.get(origin) ?? 0) + 1);
    return Array.from(this.#origins.values(), (row) => ({
      ...structuredClone(row),
      busy: busy.get(row.origin) ?? 0,
    })).sort((one, other) => other.sent - one.sent);
  }

  slowed(): readonly ReportedSlowness[] {
    return this.#engine.pacing.slowed().map(({ scope, waiting, drainsAt, gapMs, delayFrom, pause }) => ({
      scope,
      delayFrom,
      delayMs: pause === undefined ? gapMs : pause.until - pause.from,
      waiting,
      drainsAt: Math.max(drainsAt, pause?.until ?? 0),
    }));
  }

  toString(): string {
    return reportText(this);
  }

  toNDJSON(): IterableIterator<string> {
    return reportLines(this);
  }

  toJSON(): CrawlReportData {
    return {
      totals: this.totals(),
      refusals: this.refusals(),
      origins: this.origins(),
      slowed: this.slowed(),
    };
  }

  close(): void {
    this.#close();
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  /** Starts a timer that writes the totals. Returns a function that ends it. */
  #writeEvery(every: number, write: (line: string) => void): () => void {
    let before = this.totals();
    let at = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      const line = reportRates(this, before, now - at);
      [before, at] = [this.totals(), now];
      invokeListener('write', write, line);
    }, every);
    timer.unref();
    return () => clearInterval(timer);
  }

  #requested({ url, origin, status, error, refused, gatekeeper, price }: RequestMessage): void {
    // It was refused before a connection was opened.
    if (error === ADDRESS_REFUSED) return void this.#counts.addressesRefused++;
    const row = this.#rowOf(origin);
    if (error === undefined || !isUnconnected(error)) {
      this.#counts.sent++;
      row.sent++;
    }
    if (gatekeeper !== undefined) {
      this.#counts.challenged++;
      increment(row.refusedAtEdge, gatekeeper);
    }
    if (status === 402) this.#counts.paymentRequired++;
    if (price !== undefined) row.price = truncatedCopy(price);
    // The refusal counts on its own channel.
    if (refused !== undefined) this.#counts.refusedByHeader++;
    if (status === undefined) {
      this.#counts.failed++;
      row.pages[failureOf(error)]++;
      return;
    }
    increment(this.#statuses, String(status));
    increment(row.statuses, String(status));
    this.#noteBusy(url, row.origin, status);
    if (refused !== undefined || (status >= 300 && status < 400 && status !== 304)) return;
    row.pages[status < 400 && gatekeeper === undefined ? 'success' : 'page_error']++;
  }

  #noteBusy(url: string, origin: string, status: number): void {
    if (!this.#busyStatuses.has(status)) this.#busyUrls.delete(url);
    else if (this.#busyUrls.size < MAX_URLS) this.#busyUrls.set(detachedString(url), origin);
  }

  /** The request has counted as a success when its header came. */
  #body({ origin, status, error }: BodyMessage): void {
    if (error === BODY_UNREAD) return void this.#counts.unread++;
    this.#counts.cut++;
    if (status >= 400) return;
    const { pages } = this.#rowOf(origin);
    pages.success--;
    pages[failureOf(error)]++;
  }

  #deferred({ decision: { origin } }: DeferralMessage): void {
    this.#counts.deferred++;
    this.#rowOf(origin).deferred++;
  }

  /** The row of an origin. Beyond the first ones it is not kept. */
  #rowOf(origin: string): OriginRow {
    const known = this.#origins.get(origin);
    if (known !== undefined) return known;
    const row: OriginRow = {
      origin: detachedString(origin),
      robots: { state: 'unknown' },
      sent: 0,
      allowed: 0,
      refused: 0,
      deferred: 0,
      paused: 0,
      pausedMs: 0,
      pausesAsked: 0,
      pages: { success: 0, robots_disallowed: 0, timeout: 0, page_error: 0 },
      statuses: {},
      refusedAtEdge: {},
    };
    if (this.#origins.size < MAX_LISTED) this.#origins.set(row.origin, row);
    return row;
  }

  #ignored({ because }: IgnoredMessage): void {
    this.#counts.ignored++;
    const reason = truncatedCopy(because);
    const known = this.#ignoredBecause.get(reason);
    if (known === undefined && this.#ignoredBecause.size >= MAX_REASONS) return;
    this.#ignoredBecause.set(reason, (known ?? 0) + 1);
  }

  #decided(message: DecisionMessage): void {
    const { decision, request, lookup, usage } = message;
    const { allowed, origin, state, robots } = decision;
    if (decision.reason !== 'robots-txt') this.#pages++;
    if (state === 'last-good') this.#counts.lastGood++;
    const row = this.#rowOf(origin);
    const { status, error, suspect } = robots;
    const retryAt = decision.reason === 'unreachable' ? decision.retryAt : undefined;
    row.robots = { state, ...omitUndefined({ status, error, retryAt, suspect }) };
    if (lookup === true) this.#counts.linksLookedUp++;
    else if (request === true) {
      // A refusal for the purpose is published on its own channel.
      if (allowed && usage === undefined) {
        this.#counts.allowed++;
        row.allowed++;
      }
    } else this.#counts.questions++;
    if (allowed) return;
    if (error === ADDRESS_REFUSED) this.#counts.addressesRefused++;
    const count = lookup === true ? 'linksRefused' : request === true ? 'refused' : 'questionsRefused';
    this.#refused(message, decision.reason, count);
  }

  #paused({ origin, status, from, until, delayFrom }: PauseMessage): void {
    this.#counts.pauses++;
    if (status !== undefined) this.#busyStatuses.add(status);
    const row = this.#rowOf(origin);
    row.paused++;
    row.pausedMs += until - from;
    if (delayFrom === 'retry-after') row.pausesAsked++;
  }

  #refused(
    message: DecisionMessage | UsageRefusalMessage,
    reason: ReportedRefusal['reason'],
    count: RefusalCount,
  ): void {
    const { url, origin } = message.decision;
    this.#counts[count]++;
    if (count === 'refused') {
      if (this.#refusedUrls.size < MAX_URLS) this.#refusedUrls.add(detachedString(url));
      const row = this.#rowOf(origin);
      row.refused++;
      row.pages.robots_disallowed++;
    }
    this.#refusals.add(message, reason, count);
    if (this.#onFirstRefused === false || this.#pages > 1 || this.#firstRefused !== undefined) return;
    this.#firstRefused = refusalOf(message, reason);
    invokeListener('onFirstRefused', this.#onFirstRefused, this.#firstRefused);
  }
}

function increment(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function failureOf(error: string | undefined): 'timeout' | 'page_error' {
  return TIMED_OUT.test(error ?? '') ? 'timeout' : 'page_error';
}

/** The default of `onFirstRefused`. */
function warn(refused: ReportedRefusal): void {
  emitWarning(
    `The first decision of the crawl is a refusal: ${whyRefused(refused)}`,
    'CANFETCH_FIRST_REFUSED',
  );
}
