import {
  aFunction,
  builtin,
  invokeListener,
  type Check,
  omitUndefined,
  emitWarning,
  expecting,
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
  UsageRefusalMessage,
} from '../../core/decision/index.ts';
import { detachedString } from '../../core/url/index.ts';
import {
  type ReportedOrigin,
  type AccountedPause,
  type ReportedRefusal,
  type AccountedSuspect,
  accountLines,
  accountRates,
  accountText,
  type AccountTotals,
  whyRefused,
} from './report-text.ts';
import { ReportedRefusals, cutText, refusalOf } from './reported-refusals.ts';
import type { RobotsClient } from '../../core/client/robots-client.ts';

export type {
  ReportedOrigin,
  AccountedPause,
  ReportedRefusal,
  AccountedSuspect,
  AccountTotals,
} from './report-text.ts';

export interface RobotsAccountOptions {
  /**
   * Called once, when the first URL that the client is asked about is refused: the crawl may find nothing at all.
   * `false`: the first URL is like any other, as in a list of sites. If it throws or rejects, the process is warned
   * once (`CANFETCH_LISTENER_FAILED`).
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

/** An account of a crawl, to see what it lost. Made by {@link crawlReport}. */
export interface RobotsAccount extends Disposable {
  totals(): AccountTotals;
  /** Refusals, by origin and rule: the most frequent first. At most 1,000. */
  refusals(): readonly ReportedOrigin[];
  /** Origins whose robots.txt looks like something else, such as a login page. At most 1,000. */
  suspects(): readonly AccountedSuspect[];
  /** Pauses that sites asked for, by origin: the longest first. At most 1,000. */
  pauses(): readonly AccountedPause[];
  /** For people: the totals, and the 20 most frequent refusals. Safe for terminals. */
  toString(): string;
  /** Lines of NDJSON: the totals, then each entry of {@link refusals}. */
  toNDJSON(): IterableIterator<string>;
  /** Stops counting. What was counted stays. */
  close(): void;
}

/** Pauses and suspects that are kept, by origin. */
const MAX_LISTED = 1_000;
/** Reasons that requests were ignored for. Callers have few; one for each request would fill the memory. */
const MAX_REASONS = 100;
/** The longest delay of a timer. */
const MAX_EVERY_MS = 2_147_483_647;

/**
 * Keeps account of what a client is asked from now on, by the guards over it and by its own methods: what was refused,
 * where and why, what was deferred, and what was not asked. It listens to the diagnostics channels, in bounded memory.
 * While an account is open, each question makes a whole decision, and `permits` answers `undefined`. Without an account
 * this costs nothing.
 *
 * When the very first URL is refused the process is warned, because a crawl then often finds nothing.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also on platforms without
 *   `node:diagnostics_channel`.
 *
 * @example
 * ```ts
 * using account = crawlReport(robots);
 * await crawl();
 * console.log(String(account));
 * ```
 */
export function crawlReport(client: RobotsClient, options: RobotsAccountOptions = {}): RobotsAccount {
  if (typeof client !== 'object' || client === null) throw invalid('the client', 'a RobotsClient', client);
  accountOptions(options, '');
  return new Account(client, options);
}

const accountOptions: Check = optionTable({
  onFirstRefused: expecting('false or a function', (value) => value === false || isFunction(value)),
  every: wholeNumber(1_000, MAX_EVERY_MS, 'a whole number of milliseconds, at least 1,000'),
  write: aFunction(),
} satisfies Readonly<Record<keyof RobotsAccountOptions, Check>>);

class Account implements RobotsAccount {
  readonly #close: () => void;
  readonly #onFirstRefused: NonNullable<RobotsAccountOptions['onFirstRefused']>;
  readonly #refusals = new ReportedRefusals();
  readonly #suspects = new Map<string, AccountedSuspect>();
  readonly #pauses = new Map<string, { readonly row: AccountedPause; readonly last: PauseMessage }>();
  readonly #counts = {
    asked: 0,
    refused: 0,
    linksLookedUp: 0,
    linksRefused: 0,
    deferred: 0,
    pauses: 0,
    lastGood: 0,
    ignored: 0,
    paymentRequired: 0,
  };
  /** Questions about pages. One about `/robots.txt` itself begins no crawl. */
  #pages = 0;
  #firstRefused: ReportedRefusal | undefined;
  readonly #ignoredBecause = new Map<string, number>();

  constructor(client: object, { onFirstRefused = warn, every, write = console.error }: RobotsAccountOptions) {
    this.#onFirstRefused = onFirstRefused;
    const stopWriting = every === undefined ? undefined : this.#writeEvery(every, write);
    const stopListening = listen(client, {
      'canfetch:decision': (message: DecisionMessage) => this.#decided(message),
      'canfetch:usage': (message: UsageRefusalMessage) => this.#refused(message, 'usage', 'refused'),
      'canfetch:deferred': () => void this.#counts.deferred++,
      'canfetch:pause': (message: PauseMessage) => this.#paused(message),
      'canfetch:ignored': (message: IgnoredMessage) => this.#ignored(message),
      'canfetch:payment': () => void this.#counts.paymentRequired++,
    });
    this.#close = () => {
      stopListening();
      stopWriting?.();
    };
  }

  totals(): AccountTotals {
    const first = this.#firstRefused;
    return {
      ...this.#counts,
      unlisted: this.#refusals.unlisted,
      ignoredBecause: Object.fromEntries(this.#ignoredBecause),
      ...omitUndefined({ firstRefused: first }),
    };
  }

  refusals(): readonly ReportedOrigin[] {
    return this.#refusals.mostFrequentFirst();
  }

  suspects(): readonly AccountedSuspect[] {
    return [...this.#suspects.values()];
  }

  pauses(): readonly AccountedPause[] {
    return Array.from(this.#pauses.values(), ({ row }) => row).sort(
      (one, other) => other.pausedMs - one.pausedMs,
    );
  }

  toString(): string {
    return accountText(this);
  }

  toNDJSON(): IterableIterator<string> {
    return accountLines(this);
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
      const line = accountRates(totals, before, now - at);
      [before, at] = [totals, now];
      invokeListener('write', write, line);
    }, every);
    timer.unref();
    return () => clearInterval(timer);
  }

  #ignored({ because }: IgnoredMessage): void {
    this.#counts.ignored++;
    const reason = cutText(because);
    const known = this.#ignoredBecause.get(reason);
    if (known === undefined && this.#ignoredBecause.size >= MAX_REASONS) return;
    this.#ignoredBecause.set(reason, (known ?? 0) + 1);
  }

  #decided(message: DecisionMessage): void {
    const { decision, lookup = false } = message;
    if (lookup) this.#counts.linksLookedUp++;
    else {
      this.#counts.asked++;
      if (decision.state === 'last-good') this.#counts.lastGood++;
    }
    if (decision.reason !== 'robots-txt') this.#pages++;
    this.#suspect(decision);
    if (!decision.allowed) this.#refused(message, decision.reason, lookup ? 'linksRefused' : 'refused');
  }

  #suspect({ origin, robots: { suspect } }: Decision): void {
    if (suspect === undefined || this.#suspects.size >= MAX_LISTED || this.#suspects.has(origin)) return;
    const copy = detachedString(origin);
    this.#suspects.set(copy, { origin: copy, suspect });
  }

  #paused(message: PauseMessage): void {
    const { origin, status, from, until } = message;
    const before = this.#pauses.get(origin);
    // A pause that is lengthened is told again.
    const isLonger = before?.last.from === from;
    if (!isLonger) this.#counts.pauses++;
    if (before === undefined && this.#pauses.size >= MAX_LISTED) return;
    const { pauses, pausedMs } = before?.row ?? { pauses: 0, pausedMs: 0 };
    const row = {
      origin: detachedString(origin),
      ...omitUndefined({ status }),
      pauses: pauses + (isLonger ? 0 : 1),
      pausedMs: pausedMs + until - (isLonger ? before.last.until : from),
    };
    this.#pauses.set(row.origin, { row, last: message });
  }

  #refused(
    message: DecisionMessage | UsageRefusalMessage,
    reason: ReportedRefusal['reason'],
    what: 'refused' | 'linksRefused',
  ): void {
    this.#counts[what]++;
    this.#refusals.add(message, reason, what);
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
      'Expected a platform with `node:diagnostics_channel`, which an account listens to, got one without; ' +
        'count what `check` answers instead',
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
