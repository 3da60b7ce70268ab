import {
  func,
  builtin,
  invokeListener,
  type Check,
  omitUndefined,
  emitWarning,
  predicate,
  invalid,
  isFunction,
  optionTable,
  RobotsInvalidOptionsError,
  wholeNumber,
} from '../../core/base/index.ts';
import type {
  Decision,
  DecisionMessage,
  IgnoredMessage,
  PauseMessage,
  RequestMessage,
  UsageRefusalMessage,
} from '../../core/decision/index.ts';
import { detachedString } from '../../core/url/index.ts';
import type { RobotsClient } from '../../core/client/robots-client.ts';
import {
  type CrawlTotals,
  type ReportedOrigin,
  type ReportedPause,
  type ReportedRefusal,
  type ReportedResponses,
  type ReportedSuspect,
  reportLines,
  reportRates,
  reportText,
  whyRefused,
} from './report-text.ts';
import { truncatedCopy, refusalOf, ReportedRefusals, type RefusalCount } from './reported-refusals.ts';

export type {
  CrawlTotals,
  ReportedOrigin,
  ReportedPause,
  ReportedRefusal,
  ReportedResponses,
  ReportedSuspect,
} from './report-text.ts';

export interface CrawlReportOptions {
  /**
   * Called once, when the first URL that the client decides on is refused: the crawl may find nothing at all. `false`: the
   * first URL is like any other, as in a list of sites. If it throws or rejects, the process is warned once
   * (`CANFETCH_LISTENER_FAILED`).
   * @default a warning of the process (`process.emitWarning`) with the code `CANFETCH_FIRST_URL_REFUSED`
   */
  readonly onFirstRefused?: false | ((refused: ReportedRefusal) => void);
  /**
   * How often the totals are written, in one line with rates a minute: in milliseconds, at least 1,000. The timer keeps no
   * process alive.
   * @default never
   */
  readonly every?: number;
  /**
   * Writes that line. If it throws, the process is warned once (`CANFETCH_LISTENER_FAILED`).
   * @default console.error
   */
  readonly write?: (line: string) => void;
}

/** The requests that a crawl sent, and its refusals. Made by {@link crawlReport}. */
export interface CrawlReport extends Disposable {
  totals(): CrawlTotals;
  /** Refusals, by origin and rule: the most frequent first. At most 1,000. */
  refusals(): readonly ReportedOrigin[];
  /** Responses, by origin: the most requests first. At most 1,000. */
  responses(): readonly ReportedResponses[];
  /** Origins whose robots.txt looks like something else, such as a login page. At most 1,000. */
  suspects(): readonly ReportedSuspect[];
  /** Pauses, by origin: the longest first. At most 1,000. */
  pauses(): readonly ReportedPause[];
  /** Text: the totals, the 20 most frequent refusals, pauses, and sites that refuse what robots.txt allows. Safe for terminals. */
  toString(): string;
  /** Lines of NDJSON: the totals, then each entry of the lists. */
  toNDJSON(): IterableIterator<string>;
  /** Stops counting. What was counted stays. */
  close(): void;
}

/** Origins that are listed for their responses, pauses, and looks. */
const MAX_LISTED = 1_000;
/** The most refused URLs that are distinguished. */
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
 * When the very first URL is refused the process is warned, because a crawl then often finds nothing.
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
  if (typeof client !== 'object' || client === null) throw invalid('the client', 'a RobotsClient', client);
  checkOptions(options, '');
  return new ChannelReport(client, options);
}

const checkOptions: Check = optionTable({
  onFirstRefused: predicate('false or a function', (value) => value === false || isFunction(value)),
  every: wholeNumber(1_000, MAX_EVERY_MS, 'a whole number of milliseconds, at least 1,000'),
  write: func(),
} satisfies Readonly<Record<keyof CrawlReportOptions, Check>>);

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] };

interface ResponsesRow extends Mutable<ReportedResponses> {
  readonly statuses: Record<string, number>;
}

class ChannelReport implements CrawlReport {
  readonly #close: () => void;
  readonly #onFirstRefused: NonNullable<CrawlReportOptions['onFirstRefused']>;
  readonly #refusals = new ReportedRefusals();
  readonly #responses = new Map<string, ResponsesRow>();
  readonly #suspects = new Map<string, ReportedSuspect>();
  readonly #pauses = new Map<string, ReportedPause>();
  readonly #refusedUrls = new Set<string>();
  readonly #statuses: Record<string, number> = {};
  readonly #counts = {
    sent: 0,
    failed: 0,
    challenged: 0,
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

  constructor(client: object, { onFirstRefused = warn, every, write = console.error }: CrawlReportOptions) {
    this.#onFirstRefused = onFirstRefused;
    const stopWriting = every === undefined ? undefined : this.#writeEvery(every, write);
    const stopListening = listen(client, {
      'canfetch:decision': (message: DecisionMessage) => this.#decided(message),
      'canfetch:usage': (message: UsageRefusalMessage) => this.#refused(message, 'usage', 'refused'),
      'canfetch:request': (message: RequestMessage) => this.#requested(message),
      'canfetch:deferred': () => void this.#counts.deferred++,
      'canfetch:pause': (message: PauseMessage) => this.#paused(message),
      'canfetch:ignored': (message: IgnoredMessage) => this.#ignored(message),
    });
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
      unlisted: this.#refusals.unlisted,
      ignoredBecause: Object.fromEntries(this.#ignoredBecause),
      ...omitUndefined({ firstRefused: this.#firstRefused }),
    };
  }

  refusals(): readonly ReportedOrigin[] {
    return this.#refusals.mostFrequentFirst();
  }

  responses(): readonly ReportedResponses[] {
    return Array.from(this.#responses.values(), (row) => ({ ...row, statuses: { ...row.statuses } }))
      .filter(({ sent }) => sent > 0)
      .sort((one, other) => other.sent - one.sent);
  }

  suspects(): readonly ReportedSuspect[] {
    return [...this.#suspects.values()];
  }

  pauses(): readonly ReportedPause[] {
    return [...this.#pauses.values()].sort((one, other) => other.pausedMs - one.pausedMs);
  }

  toString(): string {
    return reportText(this);
  }

  toNDJSON(): IterableIterator<string> {
    return reportLines(this);
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
      const [totals, now] = [this.totals(), performance.now()];
      const line = reportRates(totals, before, now - at);
      [before, at] = [totals, now];
      invokeListener('write', write, line);
    }, every);
    timer.unref();
    return () => clearInterval(timer);
  }

  #requested({ origin, status, refused, gatekeeper, price }: RequestMessage): void {
    const row = this.#responsesOf(origin);
    for (const counts of row === undefined ? [this.#counts] : [this.#counts, row]) {
      counts.sent++;
      if (status === undefined) counts.failed++;
      if (gatekeeper !== undefined) counts.challenged++;
    }
    if (status !== undefined) {
      for (const statuses of row === undefined ? [this.#statuses] : [this.#statuses, row.statuses]) {
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
    if (status === 402) this.#counts.paymentRequired++;
    if (price !== undefined && row !== undefined) row.price = truncatedCopy(price);
    if (refused !== undefined) this.#counts.refusedByHeader++;
  }

  #responsesOf(origin: string): ResponsesRow | undefined {
    let row = this.#responses.get(origin);
    if (row === undefined && this.#responses.size < MAX_LISTED) {
      row = { origin: detachedString(origin), sent: 0, failed: 0, statuses: {}, challenged: 0 };
      this.#responses.set(row.origin, row);
    }
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
    const { allowed, origin, state } = decision;
    if (decision.reason !== 'robots-txt') this.#pages++;
    if (state === 'last-good') this.#counts.lastGood++;
    this.#suspect(decision);
    if (lookup === true) this.#counts.linksLookedUp++;
    else if (request === true) {
      // A refusal for the purpose is published on its own channel.
      if (allowed && usage === undefined) this.#counts.allowed++;
      const row = this.#responsesOf(origin);
      if (row !== undefined) row.robots = state;
    } else this.#counts.questions++;
    if (allowed) return;
    const count = lookup === true ? 'linksRefused' : request === true ? 'refused' : 'questionsRefused';
    this.#refused(message, decision.reason, count);
  }

  #suspect({ origin, robots: { suspect } }: Decision): void {
    if (suspect === undefined || this.#suspects.size >= MAX_LISTED || this.#suspects.has(origin)) return;
    const copy = detachedString(origin);
    this.#suspects.set(copy, { origin: copy, suspect });
  }

  #paused({ origin, status, from, until, delayFrom }: PauseMessage): void {
    this.#counts.pauses++;
    const before = this.#pauses.get(origin);
    if (before === undefined && this.#pauses.size >= MAX_LISTED) return;
    const row = {
      origin: detachedString(origin),
      ...omitUndefined({ status }),
      pauses: (before?.pauses ?? 0) + 1,
      asked: (before?.asked ?? 0) + (delayFrom === 'retry-after' ? 1 : 0),
      pausedMs: (before?.pausedMs ?? 0) + until - from,
    };
    this.#pauses.set(row.origin, row);
  }

  #refused(
    message: DecisionMessage | UsageRefusalMessage,
    reason: ReportedRefusal['reason'],
    count: RefusalCount,
  ): void {
    this.#counts[count]++;
    if (count === 'refused' && this.#refusedUrls.size < MAX_URLS)
      this.#refusedUrls.add(detachedString(message.decision.url));
    this.#refusals.add(message, reason, count);
    if (this.#onFirstRefused === false || this.#pages > 1 || this.#firstRefused !== undefined) return;
    this.#firstRefused = refusalOf(message, reason);
    invokeListener('onFirstRefused', this.#onFirstRefused, this.#firstRefused);
  }
}

/** Calls the listeners with the messages about `client`. Returns a function that ends it. */
function listen(client: object, listeners: Readonly<Record<string, (message: never) => void>>): () => void {
  const channels = builtin('node:diagnostics_channel');
  if (channels === undefined) {
    throw new RobotsInvalidOptionsError(
      'Expected a platform with `node:diagnostics_channel`, which a report listens to, got one without; ' +
        'count the decisions of `check` instead',
    );
  }
  const all = Object.entries(listeners).map(([name, listener]) => {
    const ours = (message: unknown): void => {
      if (Reflect.get(Object(message), 'client') === client) listener(message as never);
    };
    channels.subscribe(name, ours);
    return () => channels.unsubscribe(name, ours);
  });
  return () => {
    for (const end of all) end();
  };
}

/** The default of `onFirstRefused`. */
function warn(refused: ReportedRefusal): void {
  emitWarning(`The first URL of the crawl is refused: ${whyRefused(refused)}`, 'CANFETCH_FIRST_URL_REFUSED');
}
