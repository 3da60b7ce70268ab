import { jsonLine, printable } from '../../core/base/index.ts';
import type { Decision } from '../../core/decision/index.ts';

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
export interface ReportedOrigin {
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

/** How an origin responded to the requests that were sent. */
export interface ReportedResponses {
  readonly origin: string;
  readonly sent: number;
  /** Requests without a response. */
  readonly failed: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses by a CDN in place of the site, such as a challenge (header field `cf-mitigated`). */
  readonly challenged: number;
  /** The latest price that a 402 named (`crawler-price`, x402). Truncated to 200 characters. */
  readonly price?: string;
  /** What robots.txt says: the state of the origin at its latest decision. */
  readonly robots?: Decision['state'];
}

/** An origin whose robots.txt looks like something else. */
export interface ReportedSuspect {
  readonly origin: string;
  readonly suspect: NonNullable<Decision['robots']['suspect']>;
}

/** The pauses of an origin. */
export interface ReportedPause {
  readonly origin: string;
  /** The latest status that led to a pause; absent when `report` named a `Retry-After`. */
  readonly status?: number;
  readonly pauses: number;
  /** The pauses whose length the site stated in `Retry-After`. */
  readonly asked: number;
  /** The planned length of all these pauses together, in milliseconds. */
  readonly pausedMs: number;
}

/** The counts of a report. */
export interface CrawlTotals {
  /**
   * Requests of guards that were sent, and have a response or a failure: what the servers saw. Each redirect counts. Requests for robots.txt are not counted.
   */
  readonly sent: number;
  /** Requests of `sent` without a response. The server may have seen them. */
  readonly failed: number;
  /** Responses to `sent`, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests of `sent` to which a CDN responded in place of the site, such as with a challenge (`cf-mitigated`). */
  readonly challenged: number;
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
  /** The first URL, if it was refused. */
  readonly firstRefused?: ReportedRefusal;
  /** Refusals beyond the first 1,000 pairs of origin and rule. They are counted only. */
  readonly unlisted: number;
}

/** The part of a report that is rendered. */
interface Rendered {
  totals(): CrawlTotals;
  refusals(): readonly ReportedOrigin[];
  responses(): readonly ReportedResponses[];
  suspects(): readonly ReportedSuspect[];
  pauses(): readonly ReportedPause[];
}

const MAX_ROWS = 20;
/** Origins named in a line about all of them. */
const MAX_NAMED = 5;

type Refused = Pick<ReportedOrigin, 'refused' | 'linksRefused' | 'questionsRefused'>;

/** The number of refusals in a row of the list, or in all rows. */
export function refusedIn({ refused, linksRefused, questionsRefused }: Refused): number {
  return refused + linksRefused + questionsRefused;
}

/** Renders a report as text. A refused first URL comes first. */
export function reportText(report: Rendered): string {
  const totals = report.totals();
  const { firstRefused } = totals;
  const refusals = report.refusals();
  const listed = refusals.slice(0, MAX_ROWS);
  const rows = listed.map((row) => [String(refusedIn(row)), whyRefused(row.example)] as const);
  const width = Math.max(0, ...rows.map(([refused]) => refused.length));
  const left = refusedIn(totals) - listed.reduce((sum, row) => sum + refusedIn(row), 0);
  return [
    ...(firstRefused === undefined ? [] : [`THE FIRST URL WAS REFUSED: ${whyRefused(firstRefused)}`]),
    totalsLine(totals),
    ...rows.map(([refused, why]) => `  ${refused.padStart(width)}  ${why}`),
    ...(left === 0 ? [] : [`  ${String(left).padStart(width)}  at other origins, or by other rules`]),
    ...pausesLines(report.pauses()),
    ...edgeLine(report.responses()),
    ...suspectsLine(report.suspects()),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function suspectsLine(suspects: readonly ReportedSuspect[]): string[] {
  const named = suspects.map(({ origin, suspect }) => `${origin} (${suspect})`);
  return named.length === 0 ? [] : [`NOT A ROBOTS.TXT, by its looks, at ${someOf(named)}`];
}

function pausesLines(pauses: readonly ReportedPause[]): string[] {
  const named = (rows: readonly ReportedPause[]): string =>
    someOf(
      rows.map(
        ({ origin, status, pauses: times, pausedMs }) =>
          `${origin} (${status ?? 'Retry-After'}, ${number(times)} ${times === 1 ? 'time' : 'times'}, ${number(Math.round(pausedMs / 1_000))} s)`,
      ),
    );
  const asked = pauses.filter((row) => row.asked === row.pauses);
  const guessed = pauses.filter((row) => row.asked < row.pauses);
  return [
    ...(asked.length === 0 ? [] : [`PAUSED, as the site asked: ${named(asked)}`]),
    ...(guessed.length === 0 ? [] : [`PAUSED, for a time that the site did not name: ${named(guessed)}`]),
  ];
}

/** Statuses by which sites refuse crawlers that their robots.txt allows. 999 is LinkedIn's. */
const EDGE_STATUSES = ['401', '402', '403', '429', '451', '999'];

/** Origins that allow pages in robots.txt, and refuse them when they are requested. */
function edgeLine(responses: readonly ReportedResponses[]): string[] {
  const named = responses.flatMap(({ origin, statuses, challenged, price }) => {
    const refused = EDGE_STATUSES.filter((status) => (statuses[status] ?? 0) > 0).map(
      (status) => `${number(statuses[status] ?? 0)} × ${status}`,
    );
    if (challenged > 0) refused.push(`${number(challenged)} by its CDN`);
    if (price !== undefined) refused.push(`price ${printable(price)}`);
    return refused.length === 0 ? [] : [`${origin} (${refused.join(', ')})`];
  });
  return named.length === 0
    ? []
    : [`REFUSED BY THE SITE, although robots.txt did not refuse: ${someOf(named)}`];
}

function someOf(named: readonly string[]): string {
  const more = named.length - MAX_NAMED;
  return `${named.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`;
}

/** The counts in the line of totals, in its order: counts of requests, and others above 0. */
const COUNTS = [
  ['sent', 'requests sent'],
  ['refused', 'refused'],
  ['failed', 'failed'],
  ['deferred', 'deferred'],
  ['pauses', 'pauses'],
  ['challenged', 'answered by a CDN'],
  ['paymentRequired', 'answered by 402 (payment required)'],
  ['ignored', 'sent unchecked'],
  ['linksLookedUp', 'links looked up'],
  ['linksRefused', 'links not queued'],
  ['questions', 'questions'],
  ['questionsRefused', 'of them refused'],
  ['lastGood', 'decided by a last good copy'],
] as const;

type Count = (typeof COUNTS)[number][0];

const ONE: Partial<Readonly<Record<Count, string>>> = {
  sent: 'request sent',
  pauses: 'pause',
  questions: 'question',
  linksLookedUp: 'link looked up',
  linksRefused: 'link not queued',
};

function totalsLine(totals: CrawlTotals, rateOf: (count: Count) => string = () => ''): string {
  const hasRequests = totals.sent + totals.refused > 0 || totals.questions === 0;
  return COUNTS.filter(([name], at) => totals[name] > 0 || (at < 2 && hasRequests))
    .map(([name, words]) => {
      const what = (totals[name] === 1 ? ONE[name] : undefined) ?? words;
      return `${number(totals[name])} ${what}${detailsOf(name, totals)}${rateOf(name)}`;
    })
    .join(', ');
}

function detailsOf(name: Count, totals: CrawlTotals): string {
  const { refused, refusedUrls, ignoredBecause } = totals;
  if (name === 'refused' && refusedUrls < refused)
    return ` (${number(refusedUrls)} ${refusedUrls === 1 ? 'URL' : 'URLs'})`;
  if (name !== 'ignored') return '';
  const named = Object.entries(ignoredBecause).map(
    ([because, times]) => `${printable(because)}: ${number(times)}`,
  );
  return named.length === 0 ? '' : ` (${someOf(named)})`;
}

/** The totals in one line, with the rate a minute since `before`. */
export function reportRates(totals: CrawlTotals, before: CrawlTotals, elapsedMs: number): string {
  return totalsLine(totals, (name) => {
    const perMinute = ((totals[name] - before[name]) * 60_000) / Math.max(elapsedMs, 1);
    return ` (${number(Math.round(perMinute * 10) / 10)} a minute)`;
  });
}

const number = (count: number): string => count.toLocaleString('en');

/** Says which URL was refused, and why. */
export function whyRefused(refused: ReportedRefusal): string {
  const { requested, url, reason } = refused;
  const redirected = requested === undefined ? '' : `${printable(requested)} redirects to `;
  return `${redirected}${printable(url)}  ${reason}${detail(refused)}`;
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

/** Renders a report as lines of NDJSON. */
export function* reportLines(report: Rendered): IterableIterator<string> {
  yield jsonLine<Line<CrawlTotals>>(report.totals());
  for (const refusal of report.refusals()) yield jsonLine<Line<ReportedOrigin>>(refusal);
  for (const responses of report.responses()) yield jsonLine<Line<ReportedResponses>>(responses);
  for (const pause of report.pauses()) yield jsonLine<Line<ReportedPause>>(pause);
  for (const suspect of report.suspects()) yield jsonLine<Line<ReportedSuspect>>(suspect);
}
