import { count, jsonLine, printable, someOf } from '../../core/base/index.ts';
import { REFUSAL_STATUSES } from '../../core/lifecycle/index.ts';
import { delayName } from '../../core/pacing/index.ts';
import type {
  CrawlReport,
  CrawlTotals,
  ReportedOrigin,
  ReportedRefusal,
  ReportedRefusals,
  ReportedSlowness,
} from './reported.ts';

const MAX_ROWS = 20;
/** Origins named in a line about all of them. */
const MAX_NAMED = 5;

type Refused = Pick<ReportedRefusals, 'refused' | 'linksRefused' | 'questionsRefused'>;

/** The number of refusals in a row of the list, or in all rows. */
export function refusedIn({ refused, linksRefused, questionsRefused }: Refused): number {
  return refused + linksRefused + questionsRefused;
}

/** Renders a report as text. A refusal by the first decision comes first. */
export function reportText(report: CrawlReport): string {
  const totals = report.totals();
  const { firstRefused } = totals;
  const listed = report.refusals().slice(0, MAX_ROWS);
  const rows = listed.map((row) => [String(refusedIn(row)), refusalsText(row)] as const);
  const width = Math.max(0, ...rows.map(([refused]) => refused.length));
  const left = refusedIn(totals) - listed.reduce((sum, row) => sum + refusedIn(row), 0);
  return [
    ...(firstRefused === undefined ? [] : [`THE FIRST DECISION WAS A REFUSAL: ${whyRefused(firstRefused)}`]),
    totalsLine(totals),
    ...rows.map(([refused, why]) => `  ${refused.padStart(width)}  ${why}`),
    ...(left === 0 ? [] : [`  ${String(left).padStart(width)}  at other origins, or by other rules`]),
    ...waitLines(report),
    ...originLines(report, ORIGIN_LINES),
    ...(totals.unread === 0
      ? []
      : [
          `NOT READ, so that the next request waited: ${count(totals.unread, 'body', 'bodies')}; read or cancel each body`,
        ]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Several URLs of one row are not one URL that was refused several times. */
function refusalsText(row: ReportedRefusals): string {
  const { origin, example } = row;
  if (refusedIn(row) === 1) return whyRefused(example);
  return `${printable(origin)}  ${example.reason}${detail(example)}, such as ${urlsText(example)}`;
}

function slowedLine({ scope, delayFrom, delayMs, waiting, drainsAt }: ReportedSlowness): string {
  const length = delayFrom === 'concurrency' ? '' : ` ${seconds(delayMs)}`;
  return `SLOWED by ${delayName(delayFrom)}${length}: ${printable(scope)}, ${number(waiting)} waiting, until about ${minute(drainsAt)}`;
}

/** What requests wait for, and until when. */
function waitLines(report: CrawlReport): string[] {
  return [
    ...report
      .slowed()
      .filter(({ waiting }) => waiting > 0)
      .slice(0, MAX_NAMED)
      .map(slowedLine),
    ...originLines(report, [['ROBOTS.TXT UNREACHABLE:', unreachableText]]),
  ];
}

function unreachableText({ robots: { status, error, retryAt } }: ReportedOrigin): string {
  if (retryAt === undefined) return '';
  const cause = status ?? error;
  return `${cause === undefined ? '' : `${cause}, `}no try before ${minute(retryAt)}`;
}

type OriginLines = readonly (readonly [heading: string, facts: (row: ReportedOrigin) => string])[];

/** What is to be said of origins, and of which. A line for each that is true of some. */
const ORIGIN_LINES: OriginLines = [
  [
    'PAUSED, as the site asked:',
    (row) => (row.paused > 0 && row.pausesAsked === row.paused ? pausesText(row) : ''),
  ],
  [
    'PAUSED, for a time that the site did not name:',
    (row) => (row.pausesAsked < row.paused ? pausesText(row) : ''),
  ],
  ['STAYED BUSY at the last try:', ({ busy }) => (busy === 0 ? '' : count(busy, 'page'))],
  ['WITHOUT RULES, because robots.txt itself is forbidden:', forbiddenText],
  ['REFUSED BY THE SITE, although robots.txt did not refuse:', edgeText],
  ['NOT A ROBOTS.TXT, by its looks, at', ({ robots }) => robots.suspect ?? ''],
];

function originLines(report: CrawlReport, lines: OriginLines): string[] {
  const origins = report.origins();
  return lines.flatMap(([heading, factsOf]) => {
    const named = origins.flatMap((row) => {
      const facts = factsOf(row);
      return facts === '' ? [] : [`${row.origin} (${facts})`];
    });
    return named.length === 0 ? [] : [`${heading} ${someOf(named, MAX_NAMED)}`];
  });
}

function pausesText({ paused, pausedMs }: ReportedOrigin): string {
  return `${count(paused, 'time')}, ${seconds(pausedMs)}`;
}

/** 404 and 410 are no news. */
const FORBIDDEN: ReadonlySet<number | undefined> = new Set([401, 403, 451]);

function forbiddenText({ robots: { state, status } }: ReportedOrigin): string {
  return state === 'allow-all' && FORBIDDEN.has(status) ? String(status) : '';
}

/** What an origin refuses at request that its robots.txt allows. A 429 that led to a pause is in the line of pauses. */
function edgeText({ statuses, refusedAtEdge, price, paused }: ReportedOrigin): string {
  const refused = REFUSAL_STATUSES.filter(
    (status) => (statuses[status] ?? 0) > 0 && !(status === 429 && paused > 0),
  ).map((status) => `${number(statuses[status] ?? 0)} × ${status}`);
  for (const [name, times] of Object.entries(refusedAtEdge)) refused.push(`${number(times)} by ${name}`);
  if (price !== undefined) refused.push(`price ${printable(price)}`);
  return refused.join(', ');
}

/** The counts in the line of totals, in its order: counts of requests, and others above 0. */
const COUNTS = [
  ['sent', 'requests sent'],
  ['refused', 'refused'],
  ['failed', 'failed'],
  ['deferred', 'deferred'],
  ['pauses', 'pauses'],
  ['cut', 'cut in the body'],
  ['challenged', 'answered by a gatekeeper'],
  ['addressesRefused', 'refused for their address'],
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
  if (name === 'refused' && refusedUrls < refused) return ` (${count(refusedUrls, 'URL')})`;
  if (name !== 'ignored') return '';
  const named = Object.entries(ignoredBecause).map(
    ([because, times]) => `${printable(because)}: ${number(times)}`,
  );
  return named.length === 0 ? '' : ` (${someOf(named, MAX_NAMED)})`;
}

/** The totals in one line, with the rate a minute since `before`, and what requests wait for. */
export function reportRates(report: CrawlReport, before: CrawlTotals, elapsedMs: number): string {
  const totals = report.totals();
  const rates = totalsLine(totals, (name) => {
    const perMinute = ((totals[name] - before[name]) * 60_000) / Math.max(elapsedMs, 1);
    return ` (${number(Math.round(perMinute * 10) / 10)} a minute)`;
  });
  return [rates, ...waitLines(report)].join('; ');
}

const number = (count: number): string => count.toLocaleString('en');

/** `2026-11-28 14:05Z`. */
const minute = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z`;

const seconds = (ms: number): string => `${number(Math.round(ms / 100) / 10)} s`;

/** Says which URL was refused, and why. */
export function whyRefused(refused: ReportedRefusal): string {
  return `${urlsText(refused)}  ${refused.reason}${detail(refused)}`;
}

function urlsText({ requested, url }: ReportedRefusal): string {
  const redirected = requested === undefined ? '' : `${printable(requested)} redirects to `;
  return `${redirected}${printable(url)}`;
}

function detail({ rule, statement, robots }: ReportedRefusal): string {
  if (rule !== undefined) return ` at line ${rule.line} (${rule.directive}: ${printable(rule.pattern)})`;
  if (statement !== undefined) {
    const place = statement.line === undefined ? 'in a header field' : `at line ${statement.line}`;
    return ` ${place} (${statement.directive}: ${printable(statement.value)})`;
  }
  return robots === undefined ? '' : ` (${printable(robots)})`;
}

/** Renders a report as lines of NDJSON. */
export function* reportLines(report: CrawlReport): IterableIterator<string> {
  yield jsonLine(report.totals());
  for (const refusals of report.refusals()) yield jsonLine(refusals);
  for (const origin of report.origins()) yield jsonLine(origin);
  for (const slowed of report.slowed()) yield jsonLine(slowed);
}
