import { jsonLine } from '../../core/base/json-line.ts';
import { printable } from '../../core/base/printable.ts';
import type { Decision } from '../../core/decision/index.ts';

/** The rule of a refusal. The pattern is cut at 200 characters. */
type AccountedRule = NonNullable<Decision['rule']>;

/** A URL that was refused, and why. */
export interface ReportedRefusal {
  readonly origin: string;
  /** The reason of the decision; `usage` when a guard refused the page for its purpose. */
  readonly reason: Decision['reason'] | 'usage';
  /** Cut at 2,000 characters. */
  readonly url: string;
  /** The URL that was asked for, if redirects led from there to `url`. Cut at 2,000 characters. */
  readonly requested?: string;
  /** The rule that disallows it. */
  readonly rule?: AccountedRule;
  /** The line or header field that disallows the purpose. The value is cut at 200 characters. */
  readonly statement?: { readonly directive: string; readonly value: string; readonly line?: number };
  /** The status of robots.txt, or the error code of its last attempt, when no rule refused. */
  readonly robots?: string;
}

/** The refusals of one origin by one rule, statement or state: their number, and the first such URL. */
export interface ReportedOrigin {
  readonly origin: string;
  readonly reason: ReportedRefusal['reason'];
  /** Requests that were refused. */
  readonly refused: number;
  /** Links that a crawler did not queue. */
  readonly linksRefused: number;
  readonly example: ReportedRefusal;
}

/** An origin whose robots.txt looks like something else. */
export interface AccountedSuspect {
  readonly origin: string;
  readonly suspect: NonNullable<Decision['robots']['suspect']>;
}

/** The pauses of an origin. */
export interface AccountedPause {
  readonly origin: string;
  /** The status that asked last, 429 or 503; absent when `report` told of a `Retry-After`. */
  readonly status?: number;
  readonly pauses: number;
  /** The time of all these pauses, in milliseconds. */
  readonly pausedMs: number;
}

/** The counts of an account. */
export interface AccountTotals {
  /**
   * Requests of guards, however often each waited and was decided again, and questions to the client itself. A redirect
   * is a request of its own.
   */
  readonly asked: number;
  /** Those of them that were refused, for lack of permission or because of the purpose. */
  readonly refused: number;
  /** Links that a crawler looked up in memory before it queued them. Those that are queued are requests later. */
  readonly linksLookedUp: number;
  /** Those of them that were refused, and so not queued. */
  readonly linksRefused: number;
  /** Requests that were allowed, but not sent because their slot was further away than `maxDelayMs`. */
  readonly deferred: number;
  /** Pauses that sites asked for with 429 or 503 (see `pacing`). */
  readonly pauses: number;
  /** Those of `asked` that were answered by the last good copy, because robots.txt was unreachable. */
  readonly lastGood: number;
  /** Requests that guards sent without a question (`robots: { ignore: true, because }`). */
  readonly ignored: number;
  /** Those of them by the caller's reason, cut at 200 characters: the first 100 reasons. */
  readonly ignoredBecause: Readonly<Record<string, number>>;
  /** Requests of guards that a site answered with 402 (Payment Required). */
  readonly paymentRequired: number;
  /** The first question, if it was refused. */
  readonly firstRefused?: ReportedRefusal;
  /** Refusals beyond the first 1,000 pairs of origin and rule. They are counted only. */
  readonly unlisted: number;
}

/** The part of an account that is shown. */
interface Shown {
  totals(): AccountTotals;
  refusals(): readonly ReportedOrigin[];
  suspects(): readonly AccountedSuspect[];
  pauses(): readonly AccountedPause[];
}

const MAX_ROWS = 20;
/** Origins named in a line about all of them. */
const MAX_NAMED = 5;

/** The number of refusals in a row, or in all. */
export function refusedIn({
  refused,
  linksRefused,
}: Pick<ReportedOrigin, 'refused' | 'linksRefused'>): number {
  return refused + linksRefused;
}

/** Renders an account for people. A refused first URL comes first. */
export function accountText(account: Shown): string {
  const totals = account.totals();
  const { firstRefused } = totals;
  const refusals = account.refusals();
  const listed = refusals.slice(0, MAX_ROWS);
  const rows = listed.map((row) => [String(refusedIn(row)), whyRefused(row.example)] as const);
  const width = Math.max(0, ...rows.map(([refused]) => refused.length));
  const left = refusedIn(totals) - listed.reduce((sum, row) => sum + refusedIn(row), 0);
  return [
    ...(firstRefused === undefined ? [] : [`THE FIRST URL WAS REFUSED: ${whyRefused(firstRefused)}`]),
    totalsLine(totals),
    ...rows.map(([refused, why]) => `  ${refused.padStart(width)}  ${why}`),
    ...(left === 0 ? [] : [`  ${String(left).padStart(width)}  at other origins, or by other rules`]),
    ...pausesLine(account.pauses()),
    ...suspectsLine(account.suspects()),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function suspectsLine(suspects: readonly AccountedSuspect[]): string[] {
  const named = suspects.map(({ origin, suspect }) => `${origin} (${suspect})`);
  return named.length === 0 ? [] : [`NOT A ROBOTS.TXT, by its looks: that of ${someOf(named)}`];
}

function pausesLine(pauses: readonly AccountedPause[]): string[] {
  const named = pauses.map(
    ({ origin, status, pauses: times, pausedMs }) =>
      `${origin} (${status ?? 'Retry-After'}, ${number(times)} ${times === 1 ? 'time' : 'times'}, ${number(Math.round(pausedMs / 1_000))} s)`,
  );
  return named.length === 0 ? [] : [`PAUSED, as the site asked: ${someOf(named)}`];
}

function someOf(named: readonly string[]): string {
  const more = named.length - MAX_NAMED;
  return `${named.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`;
}

/** The counts that a line of totals has, in its order; all but the first two only if they are above 0. */
const COUNTS = [
  ['asked', 'asked about'],
  ['refused', 'refused'],
  ['linksLookedUp', 'links looked up'],
  ['linksRefused', 'links not queued'],
  ['deferred', 'deferred'],
  ['pauses', 'pauses'],
  ['lastGood', 'decided by a last good copy'],
  ['ignored', 'sent unchecked'],
  ['paymentRequired', 'answered 402 (payment required)'],
] as const;

type Count = (typeof COUNTS)[number][0];

function totalsLine(totals: AccountTotals, rateOf: (count: Count) => string = () => ''): string {
  return COUNTS.filter(([name], at) => at < 2 || totals[name] > 0)
    .map(([name, words]) => {
      const what = name === 'pauses' && totals[name] === 1 ? 'pause' : words;
      const reasons = name === 'ignored' ? reasonsIn(totals) : '';
      return `${number(totals[name])} ${what}${reasons}${rateOf(name)}`;
    })
    .join(', ');
}

function reasonsIn({ ignoredBecause }: AccountTotals): string {
  const named = Object.entries(ignoredBecause).map(
    ([because, times]) => `${printable(because)}: ${number(times)}`,
  );
  return named.length === 0 ? '' : ` (${someOf(named)})`;
}

/** The totals in one line, with how many a minute came since `before`: for a log that tells how a crawl goes. */
export function accountRates(totals: AccountTotals, before: AccountTotals, elapsedMs: number): string {
  return totalsLine(totals, (name) => {
    const perMinute = ((totals[name] - before[name]) * 60_000) / Math.max(elapsedMs, 1);
    return ` (${number(Math.round(perMinute * 10) / 10)} a minute)`;
  });
}

const number = (count: number): string => count.toLocaleString('en');

/** Says which URL was refused, and why. */
export function whyRefused(refused: ReportedRefusal): string {
  const { requested, url, reason } = refused;
  const way = requested === undefined ? '' : `${printable(requested)} led to `;
  return `${way}${printable(url)}  ${reason}${detail(refused)}`;
}

function detail({ rule, statement, robots }: ReportedRefusal): string {
  if (rule !== undefined) return ` at line ${rule.line} (${rule.directive}: ${printable(rule.pattern)})`;
  if (statement !== undefined) {
    const place = statement.line === undefined ? 'in a header field' : `at line ${statement.line}`;
    return ` ${place} (${statement.directive}: ${printable(statement.value)})`;
  }
  return robots === undefined ? '' : ` (${printable(robots)})`;
}

type Line<Data> = Data & { readonly schemaVersion: 1 };

/** Renders an account as lines of NDJSON. */
export function* accountLines(account: Shown): IterableIterator<string> {
  yield jsonLine<Line<AccountTotals>>(account.totals());
  for (const refusal of account.refusals()) yield jsonLine<Line<ReportedOrigin>>(refusal);
  for (const pause of account.pauses()) yield jsonLine<Line<AccountedPause>>(pause);
  for (const suspect of account.suspects()) yield jsonLine<Line<AccountedSuspect>>(suspect);
}
