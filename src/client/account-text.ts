import { jsonLine } from '../report/text/json.ts';
import { printable } from '../report/text/printable.ts';
import type { Decision } from '../decision/index.ts';

/** The rule of a refusal. The pattern is cut at 200 characters. */
type AccountedRule = NonNullable<Decision['rule']>;

/** A URL that was refused, and why. */
export interface AccountedRefusal {
  readonly origin: string;
  /** The reason of the decision; `usage` when a guard refused the page for its purpose. */
  readonly reason: Decision['reason'] | 'usage';
  /** Cut at 2,000 characters. */
  readonly url: string;
  /** The rule that disallows it. */
  readonly rule?: AccountedRule;
  /** The line or header field that disallows the purpose. The value is cut at 200 characters. */
  readonly statement?: { readonly directive: string; readonly value: string; readonly line?: number };
  /** The status of robots.txt, or the error code of its last attempt, when no rule refused. */
  readonly robots?: string;
}

/** The refusals of one origin for one reason: their number, and the first such URL. */
export interface AccountedOrigin {
  readonly origin: string;
  readonly reason: AccountedRefusal['reason'];
  readonly refused: number;
  readonly example: AccountedRefusal;
}

/** The counts of an account. */
export interface AccountTotals {
  /** Questions answered. A redirect is a question of its own, and so is a link that a crawler looks up before it queues it. */
  readonly asked: number;
  /** Those of them that were refused, for lack of permission or because of the purpose. */
  readonly refused: number;
  /** Requests that were allowed, but not sent because their slot was further away than `maxDelayMs`. */
  readonly deferred: number;
  /** Questions answered by the last good copy, because robots.txt was unreachable. */
  readonly lastGood: number;
  /** Requests that guards sent without a question (`robots: { ignore: true, because }`). */
  readonly ignored: number;
  /** The first question, if it was refused. */
  readonly firstRefused?: AccountedRefusal;
  /** Refusals of origins beyond the first 1,000 pairs of origin and reason. They are counted only. */
  readonly unlisted: number;
}

/** The part of an account that is shown. */
interface Shown {
  totals(): AccountTotals;
  refusals(): readonly AccountedOrigin[];
}

const MAX_ROWS = 20;

/** Renders an account for people. A refused first URL comes first. */
export function accountText(account: Shown): string {
  const totals = account.totals();
  const { firstRefused } = totals;
  const refusals = account.refusals();
  const listed = refusals.slice(0, MAX_ROWS);
  const rows = listed.map(({ refused, example }) => [String(refused), whyRefused(example)] as const);
  const width = Math.max(0, ...rows.map(([refused]) => refused.length));
  const left = totals.refused - listed.reduce((sum, { refused }) => sum + refused, 0);
  return [
    ...(firstRefused === undefined ? [] : [`THE FIRST URL WAS REFUSED: ${whyRefused(firstRefused)}`]),
    totalsLine(totals),
    ...rows.map(([refused, why]) => `  ${refused.padStart(width)}  ${why}`),
    ...(left === 0 ? [] : [`  ${String(left).padStart(width)}  at other origins, or for other reasons`]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function totalsLine({ asked, refused, deferred, lastGood, ignored }: AccountTotals): string {
  const some = (count: number, what: string): string[] => (count === 0 ? [] : [`${number(count)} ${what}`]);
  return [
    `${number(asked)} asked about`,
    `${number(refused)} refused`,
    ...some(deferred, 'deferred'),
    ...some(lastGood, 'decided by a last good copy'),
    ...some(ignored, 'sent unchecked'),
  ].join(', ');
}

const number = (count: number): string => count.toLocaleString('en');

/** Says which URL was refused, and why. */
export function whyRefused(refused: AccountedRefusal): string {
  return `${printable(refused.url)}  ${refused.reason}${detail(refused)}`;
}

function detail({ rule, statement, robots }: AccountedRefusal): string {
  if (rule !== undefined) return ` at line ${rule.line} (${rule.directive}: ${printable(rule.pattern)})`;
  if (statement !== undefined) {
    const place = statement.line === undefined ? 'in a header field' : `at line ${statement.line}`;
    return ` ${place} (${statement.directive}: ${printable(statement.value)})`;
  }
  return robots === undefined ? '' : ` (${printable(robots)})`;
}

/** Renders an account as lines of NDJSON. */
export function* accountLines(account: Shown): IterableIterator<string> {
  yield jsonLine(account.totals());
  for (const refusal of account.refusals()) yield jsonLine(refusal);
}
